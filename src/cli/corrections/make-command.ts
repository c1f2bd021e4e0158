import { fail, ok, type Result } from "../../lib/result.ts";
import type { CorrectionAction } from "../../model/correction.ts";
import { deviceIdFault } from "../../model/report.ts";
import { type NewCorrection, parseNewCorrection } from "../../service/corrections/new-correction.ts";
import { APP_FLAGS, type AppChoice, parseAppChoice } from "../arguments/app-choice.ts";
import { type CommandHelp, type CommandInput, defineCommand, oneArgument } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { DEVICE, ruled, USER, type ValueKind } from "../arguments/value-kinds.ts";

/* The commands that make corrections, in a data directory or through a running server. */

export interface CorrectionsMakeOptions {
  readonly choice: AppChoice;
  /** The body of the request, and what it says. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly wanted: NewCorrection;
  readonly isDryRun: boolean;
  readonly json: boolean;
}

const TEXT: ValueKind<string> = { placeholder: "TEXT", parse: (text) => ok(text) };

export const TIME = ruled("TIME", "be Unix milliseconds or a time such as 2026-05-21T10:47:00Z", parseTime);
const BOX = ruled("W,S,E,N", "be four numbers, in degrees", (text) => parseNumbers(text, 4));
const CIRCLE = ruled("LAT,LON,METERS", "be three numbers", (text) => parseNumbers(text, 3));
const METERS = ruled("METERS", "be a number of meters", (text) => parseNumbers(text, 1)?.[0] ?? null);
const PLACE = ruled("LAT,LON", "be two numbers, in degrees", (text) => parseNumbers(text, 2));
const SPAN = ruled("SPAN", "be a length of time such as -1h, 90s, 5m, 1d or 1500ms", parseSpan);

const TIMESTAMPS = {
  name: "at",
  takes: TIME,
  repeats: true,
  otherwise: "a range",
  does: "the time of a record",
} as const;

const MAKING_FLAGS = {
  note: { name: "note", takes: TEXT, does: "why, for other people" },
  isDryRun: { name: "dry-run", does: "change nothing, and say what it would touch" },
  json: { name: "json", does: "print the correction as JSON" },
} as const satisfies FlagRows;

const SELECTION_FLAGS = {
  timestamps: TIMESTAMPS,
  start: { name: "from", takes: TIME, does: "the first time of a range" },
  end: { name: "to", takes: TIME, does: "the time after the last of a range" },
  box: { name: "bbox", takes: BOX, otherwise: "anywhere", does: "of a range, only positions in this box" },
  circle: {
    name: "circle",
    takes: CIRCLE,
    otherwise: "anywhere",
    does: "of a range, only positions in this circle",
  },
  accuracyAbove: {
    name: "accuracy-above",
    takes: METERS,
    otherwise: "any",
    does: "of a range, only positions that are less accurate",
  },
} as const satisfies FlagRows;

const HIDE_FLAGS = { ...APP_FLAGS, ...SELECTION_FLAGS, ...MAKING_FLAGS } as const satisfies FlagRows;

export const CORRECTIONS_HIDE = defineCommand({
  name: "corrections hide",
  takes: "DEVICE",
  summary: "hide wrong records of a device",
  flags: HIDE_FLAGS,
  help: makingHelp(
    "",
    `Hides records of a device from all answers until the correction is undone; nothing is destroyed. Reports that
arrive later for other times of the range show.`,
    "hide bus-42 --app shop --from 2026-05-21T10:40:00Z --to 2026-05-21T10:50:00Z --note tunnel",
  ),
  parse: (input) => parseMaking("hide", input, selectionOf(input.values)),
});

const MOVE_FLAGS = {
  ...APP_FLAGS,
  timestamp: { name: "at", takes: TIME, required: true, does: "the time of the record" },
  place: { name: "place", takes: PLACE, required: true, does: "its position, in degrees" },
  accuracy: { name: "accuracy", takes: METERS, otherwise: "its own", does: "how accurate that is" },
  ...MAKING_FLAGS,
} as const satisfies FlagRows;

export const CORRECTIONS_MOVE = defineCommand({
  name: "corrections move",
  takes: "DEVICE",
  summary: "give a record of a device another position",
  flags: MOVE_FLAGS,
  help: {
    ...makingHelp(
      "--place LAT,LON ",
      "Gives one record another position, in all answers, until the correction is undone.",
      "move bus-42 --app shop --at 2026-05-21T10:47:00Z --place 53.41,-2.98",
    ),
    ways: ["--at TIME --place LAT,LON --app APP", "--at TIME --place LAT,LON --url URL --key KEY"],
  },
  parse(input) {
    const { timestamp, place, accuracy } = input.values;
    const [latitude, longitude] = place;
    return parseMaking("move", input, {
      ...{ timestamps: [timestamp], latitude, longitude },
      ...(accuracy === null ? {} : { horizontal_accuracy: accuracy }),
    });
  },
});

const SHIFT_FLAGS = {
  ...APP_FLAGS,
  by: { name: "by", takes: SPAN, required: true, does: "what is added to the times" },
  ...SELECTION_FLAGS,
  ...MAKING_FLAGS,
} as const satisfies FlagRows;

export const CORRECTIONS_SHIFT = defineCommand({
  name: "corrections shift",
  takes: "DEVICE",
  summary: "give records of a device other times",
  flags: SHIFT_FLAGS,
  help: makingHelp(
    "--by SPAN ",
    `Adds a length of time to the times of records, in all answers, until the correction is undone: for a clock that was
wrong. It is refused if the device has another record at one of these times.`,
    "shift bus-42 --app shop --by -1h --from 2026-05-21T10:40:00Z --to 2026-05-21T10:50:00Z",
  ),
  parse: (input) =>
    parseMaking("shift_time", input, { ...selectionOf(input.values), by_ms: input.values.by }),
});

const ASSIGN_FLAGS = {
  ...APP_FLAGS,
  toDeviceId: {
    name: "to-device",
    takes: DEVICE,
    otherwise: "the same",
    does: "the device that gets the records",
  },
  toUserId: { name: "to-user", takes: USER, otherwise: "the same", does: "the user who gets the records" },
  ...SELECTION_FLAGS,
  ...MAKING_FLAGS,
} as const satisfies FlagRows;

export const CORRECTIONS_ASSIGN = defineCommand({
  name: "corrections assign",
  takes: "DEVICE",
  summary: "give records of a device to another device or user",
  flags: ASSIGN_FLAGS,
  help: {
    ...makingHelp(
      "",
      `Gives records to another device, another user or both, in all answers, until the correction is undone. Without a
choice of records it is all that the device reported and will report: for a new phone that continues an old one, or one
that belongs to another user. It is refused if the other device has a record at one of their times.`,
      "assign old-phone --app shop --to-device phone",
    ),
    ways: [
      "--to-device ID --app APP",
      "--to-user USER --app APP",
      "--to-device ID --from TIME --to TIME --app APP",
      "--to-device ID --url URL --key KEY",
    ],
  },
  parse(input) {
    const { toDeviceId, toUserId } = input.values;
    return parseMaking("assign", input, {
      ...selectionOf(input.values),
      ...(toDeviceId === null ? {} : { to_device_id: toDeviceId }),
      ...(toUserId === null ? {} : { to_user_id: toUserId }),
    });
  },
});

function makingHelp(more: string, before: string, example: string): CommandHelp {
  return {
    ways: [
      `${more}--at TIME --app APP`,
      `${more}--from TIME --to TIME --app APP`,
      `${more}--at TIME --url URL --key KEY`,
    ],
    before: `${before}\nThe correction's id is printed on standard output. The key needs the permission edit.`,
    example: (program) => `${program} corrections ${example}`,
  };
}

type SelectionValues = CommandInput<typeof SELECTION_FLAGS>["values"];

/** The members that choose records. */
function selectionOf({ timestamps, start, end, box, circle, accuracyAbove }: SelectionValues) {
  const [latitude, longitude, radius_meters] = circle ?? [];
  return {
    ...(timestamps.length === 0 ? {} : { timestamps }),
    ...(start === null ? {} : { start }),
    ...(end === null ? {} : { end }),
    ...(box === null ? {} : { bbox: box }),
    ...(circle === null ? {} : { circle: { latitude, longitude, radius_meters } }),
    ...(accuracyAbove === null ? {} : { accuracy_above: accuracyAbove }),
  };
}

const COMMON_FLAGS = { ...APP_FLAGS, ...MAKING_FLAGS } as const satisfies FlagRows;

/** Parses what all these commands have, beside the members that are their own. */
function parseMaking(
  action: CorrectionAction,
  { values, dataDir, positionals }: CommandInput<typeof COMMON_FLAGS>,
  own: Readonly<Record<string, unknown>>,
): Result<CorrectionsMakeOptions, string> {
  const { note, isDryRun, json } = values;
  const command = `corrections ${action === "shift_time" ? "shift" : action}`;
  const device = oneArgument(positionals, command, { needs: "a device", takes: "one device" });
  if (!device.ok) return device;
  const fault = deviceIdFault(device.value);
  if (fault !== null) return fail(fault);
  const choice = parseAppChoice(command, values, dataDir);
  if (!choice.ok) return choice;
  const { timestamps, start, end, to_device_id, to_user_id } = own;
  const isAssigned = to_device_id !== undefined || to_user_id !== undefined;
  const isOfDevice = isAssigned && start === undefined && end === undefined;
  if (!isOfDevice && timestamps === undefined && (start === undefined || end === undefined))
    return fail(`${command} needs --at, or --from and --to`);
  const members = {
    ...{ action, device_id: device.value },
    ...own,
    ...(note === null ? {} : { note }),
  };
  const wanted = parseNewCorrection(members);
  return wanted.ok ? ok({ choice: choice.value, members, wanted: wanted.value, isDryRun, json }) : wanted;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const timeMs = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

function parseNumbers(text: string, count: number): number[] | null {
  const numbers = text.split(",");
  return numbers.length === count && numbers.every((number) => /^-?\d+(\.\d+)?$/.test(number))
    ? numbers.map(Number)
    : null;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseSpan(text: string): number | null {
  const [, number, unit] = /^([+-]?\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) * UNIT_MS[unit!]!;
}
