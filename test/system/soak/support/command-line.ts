import { type FlagKinds, type Flags, parseFlags } from "../../../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../../../src/lib/result.ts";
import { parseDuration } from "../../../../src/lib/text/duration.ts";
import { countOf, runtimesOf } from "../../../support/run-flags.ts";
import type { Runtime } from "../../../support/server-process.ts";

/** What the words after `npm run soak --` ask for. */
export type SoakCommand = { readonly kind: "help" } | RoundsCommand | ErasuresCommand | MemoryCommand;

export interface RoundsCommand {
  readonly kind: "rounds";
  readonly rounds: number;
  readonly runtimes: readonly Runtime[];
  readonly seed: number;
}

export interface ErasuresCommand {
  readonly kind: "erasures";
  readonly kills: number;
  readonly runtimes: readonly Runtime[];
  readonly seed: number;
}

export interface MemoryCommand {
  readonly kind: "memory";
  readonly durationMs: number;
  readonly runtimes: readonly Runtime[];
  readonly seed: number;
  /** Without an ending; null writes nothing. */
  readonly save: string | null;
}

const FLAGS = {
  rounds: "value",
  runtime: "value",
  seed: "value",
  erasures: "value",
  memory: "value",
  save: "value",
  help: "switch",
} as const satisfies FlagKinds;

const ROUNDS_DEFAULT = 200;

export const HELP = `Usage: npm run soak -- [flags]

Kills the real server with kill -9 at random moments, again and again over one data directory, while clients post real
tracks and ask, and days are archived; after each kill everything that was acknowledged is asked for. Exit code 1 where
anything is lost, changed or doubled, a start is refused, or verify finds damage.

  --rounds N       kills under load (${ROUNDS_DEFAULT}); many rounds kill once or twice more during the start
  --runtime NAME   bun, deno, or both, one after the other (both)
  --seed N         of what is posted and asked, and when is killed; the system's timing stays its own (the time)
  --erasures N     instead: N kills while devices and users are erased; exit code 1 also where a trace is left
  --memory TIME    no kills: a steady mixed load on a constant amount of data for 1m, 60m or so, and the memory that
                   the server takes; exit code 1 where it grows by more than a tenth after the warm-up
  --save FILE      with --memory: where FILE.json and FILE.svg go, such as bench/results/memory-hour
  --help           this text
`;

/** The error is one line. */
export function parseSoakCommand(args: readonly string[], nowMs: number): Result<SoakCommand, string> {
  const parsed = parseFlags(args, FLAGS);
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  if (flags.has("help")) return ok({ kind: "help" });
  if (flags.positionals.length > 0) return fail(`Unexpected argument "${flags.positionals[0]}". See --help.`);
  const runtimes = runtimesOf(flags.value("runtime") ?? "both");
  if (runtimes.length === 0) return fail("--runtime is bun, deno or both.");
  const seed = countOf(flags.value("seed"), nowMs % 1_000_000);
  const rounds = countOf(flags.value("rounds"), ROUNDS_DEFAULT);
  if (seed === null || rounds === null) return fail("--rounds and --seed take a whole number above 0.");
  if (flags.has("erasures")) return parseErasures(flags, runtimes, seed);
  const memory = flags.value("memory");
  const save = flags.value("save");
  if (memory === null) {
    if (save !== null) return fail("--save goes with --memory.");
    return ok({ kind: "rounds", rounds, runtimes, seed });
  }
  const durationMs = parseDuration(memory);
  if (durationMs === null) return fail(`--memory takes a time such as 60m, and "${memory}" is none.`);
  if (flags.has("rounds")) return fail("--memory kills nothing, so it has no --rounds.");
  if (save !== null && runtimes.length > 1) return fail("--save keeps one run: choose a --runtime.");
  return ok({ kind: "memory", durationMs, runtimes, seed, save });
}

function parseErasures(
  flags: Flags,
  runtimes: readonly Runtime[],
  seed: number,
): Result<ErasuresCommand, string> {
  const other = ["rounds", "memory", "save"].find((name) => flags.has(name));
  if (other !== undefined) return fail(`--erasures does not go with --${other}.`);
  const kills = countOf(flags.value("erasures"), 0);
  return kills === null
    ? fail("--erasures takes a whole number above 0.")
    : ok({ kind: "erasures", kills, runtimes, seed });
}
