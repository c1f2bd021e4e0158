import { type FlagKinds, parseFlags } from "../../../../src/cli/arguments/flags.ts";
import { fail, ok, type Result } from "../../../../src/lib/result.ts";
import { countOf } from "../../../support/run-flags.ts";

/** What the words after `npm run cluster --` ask for. */
export type ClusterCommand = { readonly kind: "help" } | RunCommand;

export interface RunCommand {
  readonly kind: "run";
  readonly rounds: number;
  readonly seed: number;
  /** Whether the directories stay. */
  readonly keep: boolean;
  /** Where the figures go; null for nowhere. */
  readonly save: string | null;
}

const FLAGS = {
  rounds: "value",
  seed: "value",
  save: "value",
  keep: "switch",
  help: "switch",
} as const satisfies FlagKinds;

export const HELP = `Usage: npm run cluster -- [flags]

Starts three nats-servers and three nodes of Wherehouse over one replicated log on this machine, imports the sample,
and has clients report and ask. Then it kills the log's leader and a node with kill -9, starts both again, and looks on
every node for what was acknowledged. With more rounds servers, nodes and clients are killed, stopped and cut off at
random; then all servers die at once, and all nodes, the log becomes full, a node joins, another one returns too late,
and the log is made anew.
Exit code 1 where anything acknowledged is lost, doubled or answered wrongly.

  --rounds N    rounds (1)
  --seed N      decides what is sent and what fails when; timing still varies (the current time)
  --save FILE   where the figures go, as JSON
  --keep        leaves the nodes' directories where they are, and says where
  --help        this text

Needs nats-server 2.15 or later: the one named in NATS_SERVER, one built here before, one on the PATH, or one that
is built with Go now, which takes some minutes.
`;

/** The error is one line. */
export function parseClusterCommand(args: readonly string[], nowMs: number): Result<ClusterCommand, string> {
  const parsed = parseFlags(args, FLAGS);
  if (!parsed.ok) return fail(`${parsed.error}. See --help.`);
  const flags = parsed.value;
  if (flags.has("help")) return ok({ kind: "help" });
  if (flags.positionals.length > 0) return fail(`Unexpected argument "${flags.positionals[0]}". See --help.`);
  const seed = countOf(flags.value("seed"), 1 + (nowMs % 1_000_000));
  const rounds = countOf(flags.value("rounds"), 1);
  if (seed === null) return fail("--seed takes a whole number above 0.");
  if (rounds === null) return fail("--rounds takes a whole number above 0.");
  return ok({ kind: "run", rounds, seed, keep: flags.has("keep"), save: flags.value("save") });
}
