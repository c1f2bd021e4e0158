import { ok, type Result } from "../../lib/result.ts";
import type { DeviceId } from "../../model/ids.ts";
import { APP_FLAGS, type AppChoice, parseAppChoice } from "../arguments/app-choice.ts";
import { type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { DEVICE, oneOf } from "../arguments/value-kinds.ts";

/* The commands that list and undo corrections, in a data directory or through a running server. */

export const CORRECTION_STATES = ["active", "undone"] as const;
export type CorrectionState = (typeof CORRECTION_STATES)[number];

const LIST_FLAGS = {
  ...APP_FLAGS,
  deviceId: { name: "device", takes: DEVICE, otherwise: "all", does: "only corrections of this device" },
  state: {
    name: "state",
    takes: oneOf("STATE", CORRECTION_STATES),
    otherwise: "both",
    does: "only corrections in this state",
  },
  json: { name: "json", does: "print JSON, with times in Unix milliseconds" },
} as const satisfies FlagRows;

export const CORRECTIONS_LIST = defineCommand({
  name: "corrections list",
  takes: "",
  summary: "list the corrections of an app",
  flags: LIST_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: "Lists corrections, newest first. The key needs the permission edit.",
    example: (program) => `${program} corrections list --app shop --state active`,
  },
  parse: parseList,
});

export interface CorrectionsListOptions {
  readonly choice: AppChoice;
  readonly deviceId: DeviceId | null;
  readonly state: CorrectionState | null;
  readonly json: boolean;
}

function parseList({
  values,
  dataDir,
}: CommandInput<typeof LIST_FLAGS>): Result<CorrectionsListOptions, string> {
  const { deviceId, state, json, ...where } = values;
  const choice = parseAppChoice("corrections list", where, dataDir);
  return choice.ok ? ok({ choice: choice.value, deviceId, state, json }) : choice;
}

const UNDO_FLAGS = APP_FLAGS;

export const CORRECTIONS_UNDO = defineCommand({
  name: "corrections undo",
  takes: "ID",
  summary: "undo a correction",
  flags: UNDO_FLAGS,
  help: {
    ways: ["--app APP", "--url URL --key KEY"],
    before: `Answers are as before the correction, with all reports that came in between. corrections list shows the ids. The
key needs the permission edit.`,
    example: (program) => `${program} corrections undo 01KDTV3GZ8Q3M5T7V9X1Z3B5D7 --app shop`,
  },
  parse: parseUndo,
});

export interface CorrectionsUndoOptions {
  readonly choice: AppChoice;
  readonly id: string;
}

function parseUndo({
  values,
  dataDir,
  positionals,
}: CommandInput<typeof UNDO_FLAGS>): Result<CorrectionsUndoOptions, string> {
  const id = oneArgument(positionals, "corrections undo", {
    needs: "the id of a correction",
    takes: "one id",
  });
  if (!id.ok) return id;
  const choice = parseAppChoice("corrections undo", values, dataDir);
  return choice.ok ? ok({ choice: choice.value, id: id.value }) : choice;
}
