import { fail, ok, type Result } from "../../lib/result.ts";
import { type NewErasure, parseNewErasure } from "../../service/erasures/new-erasure.ts";
import { APP_FLAGS, type AppChoice, parseAppChoice } from "../arguments/app-choice.ts";
import { type CommandInput, defineCommand } from "../arguments/command.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { DEVICE, FILE, USER } from "../arguments/value-kinds.ts";
import { TIME } from "../corrections/make-command.ts";

/* The command that destroys what is stored about a device or a user. */

const ERASE_FLAGS = {
  ...APP_FLAGS,
  deviceId: { name: "device", takes: DEVICE, otherwise: "a user", does: "the device" },
  userId: { name: "user", takes: USER, otherwise: "a device", does: "the user" },
  start: { name: "start", takes: TIME, otherwise: "all before the end", does: "the first time" },
  end: { name: "end", takes: TIME, otherwise: "all since the start", does: "the time after the last" },
  block: { name: "block", does: "refuse reports of it from now on" },
  dropsDamaged: { name: "drop-damaged", does: "also delete all files in damaged/ (not with --url)" },
  isDryRun: { name: "dry-run", does: "change nothing, and say what it would destroy" },
  yes: { name: "yes", does: "erase without a question" },
  isNow: { name: "now", does: "with --url: wait until the server's files have nothing of it" },
  report: { name: "report", takes: FILE, otherwise: "none", does: "write the report to this file, as JSON" },
} as const satisfies FlagRows;

export interface EraseOptions {
  readonly choice: AppChoice;
  /** The body of the request, and what it says. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly wanted: NewErasure;
  readonly dropsDamaged: boolean;
  readonly isDryRun: boolean;
  readonly yes: boolean;
  readonly isNow: boolean;
  readonly report: string | null;
}

export const ERASE = defineCommand({
  name: "erase",
  takes: "",
  summary: "destroy what is stored about a device or a user",
  flags: ERASE_FLAGS,
  help: {
    ways: ["--device ID --app APP", "--user ID --app APP", "--device ID --url URL --key KEY"],
    before: `Destroys records, corrections, the profile, unusable messages and keys of a device, or what was reported with a
user: in answers at once, and in the files of log and archive. It can't be undone. Backups keep what they have until
they are made again in the same place. A phone may send old points again; --block refuses them. The key needs the
permission erase.`,
    example: (program) => `${program} erase --device phone-2025 --app shop --dry-run`,
  },
  parse: parseErase,
});

function parseErase({ values, dataDir }: CommandInput<typeof ERASE_FLAGS>): Result<EraseOptions, string> {
  const { deviceId, userId, start, end, block, dropsDamaged, isDryRun, yes, isNow, report, ...where } =
    values;
  const choice = parseAppChoice("erase", where, dataDir);
  if (!choice.ok) return choice;
  if ((deviceId === null) === (userId === null)) return fail("erase needs either --device or --user");
  if (dropsDamaged && choice.value.kind === "server")
    return fail("--drop-damaged is for a data directory: run it where the files are");
  if (report !== null && choice.value.kind === "server" && !isNow)
    return fail("--report with --url needs --now");
  const members = {
    ...(deviceId === null ? { user_id: userId } : { device_id: deviceId }),
    ...(start === null ? {} : { start }),
    ...(end === null ? {} : { end }),
    ...(block ? { block } : {}),
  };
  const wanted = parseNewErasure(members);
  if (!wanted.ok) return wanted;
  const options = { choice: choice.value, members, wanted: wanted.value };
  return ok({ ...options, dropsDamaged, isDryRun, yes, isNow, report });
}
