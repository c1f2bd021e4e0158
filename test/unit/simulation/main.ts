/*
 * `npm run simulate`: runs of the service on a simulated disk, each from its seed alone. Says what happened in them,
 * or which promise was broken first and how to see it happen again.
 */
import { constants } from "node:os";
import { simulateCluster } from "./cluster/cluster-run.ts";
import { openSimulationEngine } from "./run/engine.ts";
import { RunFailure, type RunTotals } from "./run/outcome.ts";
import { simulate, simulateOne } from "./run/simulate.ts";

const HELP = `Usage: npm run simulate -- [--count N] [--from SEED]
       npm run simulate -- --seed SEED
       npm run simulate -- --cluster [--count N] [--from SEED]

Runs of the real log, hot store, seals, backups and recovery on a simulated disk: power failures, failed and short
writes, failed reads, renames and syncs, full disks, no descriptors, unreadable files and flipped bytes, clocks turned
over midnight and over the retention, retentions set anew, reports at any moment of a seal, and clients that put frames
of the log into their reports, all drawn from a seed. After each restart every app has everything of its own that was acknowledged and
nothing else, what was deleted stays so, and damage is named. Stops at the first run that breaks a promise, with
exit code 1.

  --count N     so many runs (1000)
  --from SEED   the first one's seed (1); the others follow
  --seed SEED   this one alone, step by step
  --cluster     runs of three nodes, each on a disk of its own, over one simulated stream (20 of them)
  --help        this text
`;

const PROGRESS_MS = 2000;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // What lies in memory is removed on the way.
  process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(HELP);
    return 0;
  }
  const options = parseOptions(args.filter((arg) => arg !== "--cluster"));
  if (options === null) {
    process.stderr.write(HELP);
    return 2;
  }
  const isCluster = args.includes("--cluster");
  const { seed, from = 1, count = isCluster ? 20 : 1000 } = options;
  try {
    if (isCluster) await runClusters(seed ?? from, seed === undefined ? count : 1);
    else if (seed !== undefined) await tellOne(seed);
    else await runMany(from, count);
    return 0;
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    if (seed !== undefined) console.log(error.story.join("\n"));
    console.log(error.message);
    if (error.cause instanceof Error) console.log(error.cause.stack);
    const how = isCluster ? "--cluster --seed" : "--seed";
    if (seed === undefined) console.log(`\nSee it again: npm run simulate -- ${how} ${error.seed}`);
    return 1;
  }
}

type Options = Partial<Record<"count" | "from" | "seed", number>>;

/** Null where an argument is none of ours. */
function parseOptions(args: readonly string[]): Options | null {
  const options: Options = {};
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i]?.slice(2);
    const value = Number(args[i + 1] ?? Number.NaN);
    if (!args[i]?.startsWith("--") || !Number.isSafeInteger(value) || value < 1) return null;
    if (name !== "count" && name !== "from" && name !== "seed") return null;
    options[name] = value;
  }
  return options;
}

async function tellOne(seed: number): Promise<void> {
  const { story, digest } = await simulateOne(seed);
  console.log(story.join("\n"));
  console.log(`run ${seed} kept every promise; its operations sum up to ${digest.toString(16)}`);
}

async function runMany(from: number, count: number): Promise<void> {
  const startedMs = performance.now();
  let toldMs = startedMs;
  const totals = await simulate({
    from,
    count,
    onRun(seed, sum) {
      const nowMs = performance.now();
      if (nowMs - toldMs < PROGRESS_MS) return;
      toldMs = nowMs;
      const done = seed - from + 1;
      const leftSeconds = ((nowMs - startedMs) / done / 1000) * (count - done);
      process.stderr.write(
        `${done} of ${count} runs, ${sum.powerFailures} power failures, ${sum.acknowledged} reports acknowledged; ${Math.ceil(leftSeconds)} s left\n`,
      );
    },
  });
  console.log(summary(count, totals, (performance.now() - startedMs) / 1000));
}

/** Tells of each run, which takes a second or two. */
async function runClusters(from: number, count: number): Promise<void> {
  const engines = await Promise.all([1, 2, 3].map(() => openSimulationEngine()));
  try {
    for (let seed = from; seed < from + count; seed++) {
      const { acknowledged, seals, powerFailures, purged } = await simulateCluster({ seed, engines });
      console.log(
        `run ${seed}: ${acknowledged} batches acknowledged, ${seals} seals, ${powerFailures} power failures, ${purged} messages purged; all nodes agree`,
      );
    }
  } finally {
    for (const engine of engines) engine.close();
  }
}

function summary(count: number, totals: RunTotals, seconds: number): string {
  const lines: readonly [string, number][] = [
    ["reports acknowledged", totals.acknowledged],
    ["batches sent", totals.batches],
    ["  refused", totals.refused],
    ["  with a forged frame of the log", totals.forgeries],
    ["starts", totals.starts],
    ["power failures", totals.powerFailures],
    ["processes killed", totals.kills],
    ["faults of the disk", totals.faults],
    ["bytes flipped", totals.flips],
    ["turns of the clock", totals.clockTurns],
    ["seals", totals.seals],
    ["  failed, and made good", totals.failedSeals],
    ["backups", totals.backups],
    ["operations of the disk", totals.operations],
    ["comparisons with the model", totals.checks],
  ];
  const width = Math.max(...lines.map(([, value]) => value.toLocaleString("en").length));
  return [
    `${count.toLocaleString("en")} runs in ${Math.round(seconds)} s: no acknowledged report was lost, none was forged or came back, no start was refused over damage`,
    ...lines.map(([name, value]) => `  ${value.toLocaleString("en").padStart(width)}  ${name}`),
  ].join("\n");
}
