import { runCommandLine } from "../../support/run-flags.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { createPicker } from "../support/random.ts";
import { runCluster } from "./run/cluster-run.ts";
import { HELP, parseClusterCommand, type RunCommand } from "./run/command-line.ts";
import { drawKinds } from "./run/faults.ts";
import { ensureNatsServer } from "./run/install.ts";
import { saveRun } from "./run/save.ts";
import { isGood, roundText, summaryText } from "./run/summary.ts";

/** `npm run cluster`: three nodes over three nats-servers, of which some die, and what is left of it. */

const STOPPED_MS_MAX = 15_000;

process.exit(await runCommandLine(parseClusterCommand(process.argv.slice(2), Date.now()), HELP, main));

async function main({ rounds, seed, keep, save }: RunCommand): Promise<number> {
  const startMs = performance.now();
  const onStep = (step: string) =>
    console.error(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${step}`);
  const missing = await ensureNatsServer(onStep);
  if (missing !== null) {
    console.error(missing);
    return 1;
  }
  onStep(`seed ${seed}`);
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopped.abort());
  try {
    const onRound = (result: Parameters<typeof roundText>[0]) => onStep(roundText(result));
    const kinds = drawKinds(rounds, createPicker(seededRandom(seed)));
    const options = { kinds, seed, keep, stoppedMsMax: STOPPED_MS_MAX, hasScenes: rounds > 1 };
    const run = await runCluster({ ...options, onStep, onRound, signal: stopped.signal });
    process.stdout.write(summaryText(run));
    if (save !== null) saveRun(save, run);
    return isGood(run) ? 0 : 1;
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    console.error("Ended early: all processes are ended.");
    return 130;
  }
}
