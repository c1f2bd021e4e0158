import { type FlagKinds, parseFlags } from "../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../src/lib/result.ts";
import { countOf } from "../support/run-flags.ts";
import type { SuiteSize } from "./suite.ts";

/** What the words after `npm run fences --` ask for. */
export type FencesCommand =
  | { readonly kind: "help" }
  | {
      readonly kind: "run";
      readonly size: SuiteSize;
      /** The file that gets the journeys; null to score our own events. */
      readonly write: string | null;
      /** The file with another program's events. */
      readonly score: string | null;
    };

const FLAGS = {
  journeys: "value",
  days: "value",
  seed: "value",
  write: "value",
  score: "value",
  help: "switch",
} as const satisfies FlagKinds;

const JOURNEYS_DEFAULT = 100;
const DAYS_DEFAULT = 2;
const SEED_DEFAULT = 1;

export const HELP = `Usage: npm run fences -- [flags]

Journeys with known visits of an area, as a server gets them: with errors, gaps, delays, repetitions, shuffled, poor
fixes and wrong clocks. Prints how many events each rule misses and how many it makes that did not happen: ours, and
what other programs document. Exit code 1 if ours misses one or makes a false one.

  --journeys N   how many (${JOURNEYS_DEFAULT})
  --days N       how long each takes (${DAYS_DEFAULT})
  --seed N       the same seed makes the same journeys (${SEED_DEFAULT})
  --write FILE   write the journeys there, a line of JSON for each, for other programs; test/fences/README.md has the form
  --score FILE   score what another program made of the same journeys
  --help         this text
`;

/** The error is one line. */
export function parseFencesCommand(args: readonly string[]): Result<FencesCommand, string> {
  const parsed = parseFlags(args, FLAGS);
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  if (flags.has("help")) return ok({ kind: "help" });
  if (flags.positionals.length > 0) return fail(`Unexpected argument "${flags.positionals[0]}". See --help.`);
  const journeys = countOf(flags.value("journeys"), JOURNEYS_DEFAULT);
  const days = countOf(flags.value("days"), DAYS_DEFAULT);
  const seed = countOf(flags.value("seed"), SEED_DEFAULT);
  if (journeys === null || days === null || seed === null)
    return fail("--journeys, --days and --seed take a whole number above 0.");
  const [write, score] = [flags.value("write"), flags.value("score")];
  if (write !== null && score !== null) return fail("--write and --score exclude each other.");
  return ok({ kind: "run", size: { journeys, days, seed }, write, score });
}
