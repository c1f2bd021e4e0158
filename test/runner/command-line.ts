import { parseArgs } from "node:util";
import { fail, ok, type Result } from "../../src/lib/result.ts";

export const TIERS = ["unit", "system", "long"] as const;
export type Tier = (typeof TIERS)[number];

/** What the words after `npm test --` or `npm run test:system --` ask for. */
export type TestCommand = { readonly kind: "help" } | RunCommand;

export interface RunCommand {
  readonly kind: "run";
  readonly tier: Tier;
  /** Files and folders as they were written; none for the whole tier. */
  readonly paths: readonly string[];
  /** Only tests whose title matches; null for all. */
  readonly title: string | null;
  /** Only files that import what has changed since this commit; null for all. */
  readonly changedSince: string | null;
  /** The factor on the number of random cases; null for the tier's own. */
  readonly runs: number | null;
  /** Of random cases; null for the tier's own. */
  readonly seed: number | null;
  readonly savesDurations: boolean;
  readonly retriesFailed: boolean;
  /** Where the counts go, for `.ci/run`; null for nowhere. */
  readonly countsFile: string | null;
}

export const HELP = `Usage: npm test -- [FILE or FOLDER ...] [flags]
       npm run test:system -- [FOLDER of test/system ...] [flags]
       npm run test:long -- [FOLDER of test/long ...] [flags]

npm test runs the unit tests and one story for each runtime. test:system runs what starts servers, brokers and browsers,
and random tests with new seeds. test:long runs what takes hours. A file or folder may be of any tier: npm test --
./test/system/mqtt

  -t WORDS          only tests whose title matches this regular expression
  --changed         only files that import something that differs from the last commit
  --since COMMIT    only files that import something that has changed since this commit
  --runs FACTOR     this many times the random cases that a test names (0.2 in unit tests, 0.6 in system, 10 in long)
  --seed N          of random cases (fixed in unit tests, else new each time; the run prints it)
  --save-durations  writes how long each file took into test/durations.json, from which the order of files follows
  --retry-failed    runs each file that failed once more, alone; more than two that then pass fail the run
  --counts FILE     writes the numbers of passed and failed tests into FILE
  --help            this text
`;

/** The error is one line. */
export function parseTestCommand(args: readonly string[]): Result<TestCommand, string> {
  let parsed: ReturnType<typeof parseWords>;
  try {
    parsed = parseWords(args);
  } catch (error) {
    return fail(`${(error as Error).message.split("\n")[0]} See --help.`);
  }
  const { values, positionals } = parsed;
  if (values.help) return ok({ kind: "help" });
  const [tierName, ...paths] = positionals;
  const tier = TIERS.find((name) => name === tierName);
  if (tier === undefined) return fail(`The tier is one of ${TIERS.join(", ")}.`);
  const runs = numberOf(values.runs, /^\d{1,4}(\.\d{1,3})?$/);
  const seed = numberOf(values.seed, /^\d{1,9}$/);
  if (runs === undefined || runs === 0) return fail("--runs takes a number above 0.");
  if (seed === undefined) return fail("--seed takes a whole number.");
  return ok({
    kind: "run",
    tier,
    paths,
    title: values.title ?? null,
    changedSince: values.since ?? (values.changed ? "HEAD" : null),
    runs,
    seed,
    savesDurations: values["save-durations"],
    retriesFailed: values["retry-failed"],
    countsFile: values.counts ?? null,
  });
}

function parseWords(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      title: { type: "string", short: "t" },
      changed: { type: "boolean", default: false },
      since: { type: "string" },
      runs: { type: "string" },
      seed: { type: "string" },
      "save-durations": { type: "boolean", default: false },
      "retry-failed": { type: "boolean", default: false },
      counts: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
}

/** Null if there is no text, undefined if it is not such a number. */
function numberOf(text: string | undefined, shape: RegExp): number | null | undefined {
  if (text === undefined) return null;
  return shape.test(text) ? Number(text) : undefined;
}
