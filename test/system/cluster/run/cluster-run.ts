import { join } from "node:path";
import { RUNTIMES, runCommand } from "../../../support/server-process.ts";
import type { Clients } from "../clients/clients.ts";
import { compareDays, type Day } from "./days.ts";
import type { FaultKind } from "./faults.ts";
import { type Lab, openLab } from "./lab.ts";
import { type RoundResult, runRound } from "./round.ts";
import { playScenes } from "./scenes.ts";

/** A whole run: the sample, the rounds, and what the days of all nodes come to. */
export interface ClusterRun {
  readonly seed: number;
  readonly rounds: readonly RoundResult[];
  readonly imported: number;
  readonly days: readonly Day[];
  readonly faults: readonly string[];
  /** Of the nodes' directories, where they were kept. */
  readonly kept: readonly string[];
}

export interface ClusterRunOptions {
  /** What goes wrong in each round. */
  readonly kinds: readonly FaultKind[];
  readonly seed: number;
  /** How long anything is stopped or cut off, at most. */
  readonly stoppedMsMax: number;
  readonly keep: boolean;
  /** Whether a node also returns too late, and the log is made anew. */
  readonly hasScenes: boolean;
  readonly onStep: (step: string) => void;
  readonly onRound: (result: RoundResult) => void;
  /** Ends everything early. */
  readonly signal: AbortSignal;
}

const SAMPLES = join(import.meta.dir, "../../../../data/samples");
/** A node that is wrong stays wrong; what follows would say nothing new. */
const FAULTS_MAX = 20;

export async function runCluster(options: ClusterRunOptions): Promise<ClusterRun> {
  const { keep, onStep, signal } = options;
  const lab = await openLab(onStep);
  let clients: readonly Clients[] = [];
  const onClients = (started: readonly Clients[]) => {
    clients = started;
  };
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const end = () => ended.reject(new Error("It was ended early."));
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  let isKept = keep;
  try {
    const run = await Promise.race([runRounds(options, lab, onClients), ended.promise]);
    isKept ||= run.faults.length > 0;
    return { ...run, kept: isKept ? lab.nodes.map(({ place }) => place.dataDir) : [] };
  } finally {
    signal.removeEventListener("abort", end);
    for (const each of clients) each.signal("SIGKILL");
    await lab.close(isKept);
  }
}

async function runRounds(
  { kinds, seed, stoppedMsMax, hasScenes, onStep, onRound, signal }: ClusterRunOptions,
  lab: Lab,
  onClients: (clients: readonly Clients[]) => void,
): Promise<Omit<ClusterRun, "kept">> {
  const imported = await importSamples(lab, onStep);
  const rounds: RoundResult[] = [];
  const faults: string[] = [];
  const days: Day[] = [];
  try {
    for (const [index, kind] of kinds.entries()) {
      onStep(`round ${index + 1} of ${kinds.length}: clients report and ask`);
      const result = await runRound({ lab, round: index + 1, kind, seed, stoppedMsMax, onClients, onStep });
      rounds.push(result);
      onRound(result);
      faults.push(...result.faults.map((fault) => `round ${index + 1}: ${fault}`));
      if (faults.length >= FAULTS_MAX) break;
    }
    onStep("comparing each day of all nodes by its SHA-256, which takes verify a while");
    const compared = await compareDays(lab);
    days.push(...compared.days);
    faults.push(...compared.faults);
    if (hasScenes) faults.push(...(await playScenes(onStep, signal)));
  } catch (error) {
    if (signal.aborted) throw error;
    faults.push(`after ${rounds.length} rounds: ${error}`); // What was seen until then is told.
  }
  return { seed, rounds, imported, days, faults };
}

/** Through a node, as anybody would. */
async function importSamples({ nodes, key }: Lab, onStep: (step: string) => void): Promise<number> {
  onStep("importing data/samples through node 1");
  const [node] = nodes;
  const words = ["import", SAMPLES, "--url", node!.url, "--key", key, "--shift-to-now", "--json"];
  const { code, out, error } = await runCommand(RUNTIMES[0]!, node!.place, words);
  if (code !== 0) throw new Error(`The import ended with ${code}: ${error}`);
  const { groups } = JSON.parse(out) as { readonly groups: readonly { readonly new: number }[] };
  return groups.reduce((sum, group) => sum + group.new, 0);
}
