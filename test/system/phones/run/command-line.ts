import { type FlagKinds, parseFlags } from "../../../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../../../src/lib/result.ts";
import { countOf, runtimesOf } from "../../../support/run-flags.ts";
import type { Runtime } from "../../../support/server-process.ts";

/** What the words after `npm run phones --` ask for. */
export type PhonesCommand = { readonly kind: "help" } | RunCommand;

export interface RunCommand {
  readonly kind: "run";
  readonly minutes: number;
  readonly runtimes: readonly Runtime[];
  readonly seed: number;
}

const FLAGS = {
  minutes: "value",
  runtime: "value",
  seed: "value",
  help: "switch",
} as const satisfies FlagKinds;

/** A phone's minute is a second of a run. */
export const TIMES = 60;
const MINUTES_DEFAULT = 24; // A day.

export const HELP = `Usage: npm run phones -- [flags]

Phones of every client, with its own rule of what it keeps and sends again, report over a bad network to the real server
while it is killed, frozen, stopped and without room on its disk, and while keys are revoked and mistyped. A phone's
minute is a second. Then all is well again, and each point must be stored, in the quarantine, or lost by its client's own
rule. Exit code 1 where one is not, a phone is jammed, anything is another's, a key is told, or verify finds damage.

  --minutes N      of trouble; the queues drain after it (${MINUTES_DEFAULT}, which is a day)
  --runtime NAME   bun, deno, or both, one after the other (both)
  --seed N         of what phones send and what befalls them; the system's timing stays its own (the time)
  --help           this text
`;

/** The error is one line. */
export function parsePhonesCommand(args: readonly string[], nowMs: number): Result<PhonesCommand, string> {
  const parsed = parseFlags(args, FLAGS);
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  if (flags.has("help")) return ok({ kind: "help" });
  if (flags.positionals.length > 0) return fail(`Unexpected argument "${flags.positionals[0]}". See --help.`);
  const runtimes = runtimesOf(flags.value("runtime") ?? "both");
  if (runtimes.length === 0) return fail("--runtime is bun, deno or both.");
  const seed = countOf(flags.value("seed"), nowMs % 1_000_000);
  const minutes = countOf(flags.value("minutes"), MINUTES_DEFAULT);
  if (seed === null || minutes === null) return fail("--minutes and --seed take a whole number above 0.");
  return ok({ kind: "run", minutes, runtimes, seed });
}
