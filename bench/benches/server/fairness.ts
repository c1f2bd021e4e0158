import type { Outcomes } from "../../support/fairness/attack/attack.ts";
import { type Directory, makeDirectory } from "../../support/fairness/directories.ts";
import type { DirectoryName } from "../../support/fairness/shape.ts";
import { CONTROL, findShape, SHAPES } from "../../support/fairness/shapes.ts";
import { confine } from "../../support/fairness/small-machine.ts";
import { RESIDENT_TIMES_MAX, runTrial, type Trial } from "../../support/fairness/trial.ts";
import { RUNTIME_NAMES, type RuntimeName, startWatched } from "../../support/fairness/watched-server.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

const MIB = 2 ** 20;
/** Processor time, since other processes distort the wall clock. */
const TURN_MS_MAX = 50;
const P99_TIMES_MAX = 5;
const P99_MS_MAX = 50;
/** The bound for a server with a part of a core. */
const P99_SMALL_MS_MAX = 1000;

export const bench: Bench = {
  question:
    "what one hostile client does to a well-behaved app of the same server, for each of many ways to be hostile",
  sizes: {
    attackSeconds: { help: "of attack", smoke: 0.2, full: 5 },
    quietSeconds: { help: "alone, before and after it", smoke: 0.1, full: 2.5 },
    warmSeconds: { help: "of ordinary questions before anything counts", smoke: 0.1, full: 2 },
    settleSeconds: { help: "that memory may take to come back", smoke: 0, full: 15 },
    requestsPerSecond: { help: "of the well-behaved app", smoke: 100, full: 60 },
    bodyBytes: { help: "that hostile bodies unpack to", smoke: 65_536, full: 16 * MIB - 1024 },
    devices: { help: "of the attacker, all at one place and of one user", smoke: 2000, full: 1_000_000 },
    lateRows: { help: "that came for a sealed day of the attacker", smoke: 2000, full: 1_000_000 },
    archivedRows: { help: "of each of 20 archived days of the attacker", smoke: 500, full: 20_000 },
  },
  choices: {
    shape: {
      help: "alone, instead of all (smoke: seven of them); may be given several times",
      values: SHAPES.map(({ name }) => name),
      smoke: [
        CONTROL,
        "gzip-brackets",
        "silent-bodies",
        "app-wide-current",
        "late-rows",
        "preflights",
        "left-export-parquet",
      ],
    },
    runtime: { help: "bun or deno, instead of both (smoke: bun)", values: RUNTIME_NAMES, smoke: ["bun"] },
  },
  async run(run) {
    const directories = new Map<DirectoryName, Directory>();
    for (const runtime of run.chosen("runtime") as readonly RuntimeName[]) {
      for (const name of run.chosen("shape")) {
        const { directory: kind, cores = 1 } = findShape(name);
        const isSmall = cores < 1;
        const directory =
          directories.get(kind) ?? (await makeDirectory({ name: kind, ...directorySizes(run) }));
        directories.set(kind, directory);
        report(run, `${name}, ${runtime}`, await tryShape(run, name, runtime, directory), isSmall);
      }
    }
  },
};

function directorySizes(run: BenchRun) {
  return {
    devices: run.size("devices"),
    lateRows: run.size("lateRows"),
    archivedRowsADay: run.size("archivedRows"),
  };
}

/** Each shape has a server of its own, without remains of others. */
async function tryShape(
  run: BenchRun,
  shape: string,
  runtime: RuntimeName,
  directory: Directory,
): Promise<Trial> {
  const { dataDir, remove } = directory.copy();
  const { attackTimes = 1, cores = 1 } = findShape(shape);
  const server = await startWatched(runtime, dataDir, directory.keys.operator);
  const release = cores === 1 ? () => {} : confine(server.pid, cores);
  try {
    return await runTrial({
      shape,
      server,
      keys: directory.keys,
      bodyBytes: run.size("bodyBytes"),
      devices: run.size("devices"),
      requestsPerSecond: run.size("requestsPerSecond"),
      warmSeconds: run.size("warmSeconds"),
      quietSeconds: run.size("quietSeconds"),
      attackSeconds: run.size("attackSeconds") * attackTimes,
      recoverySeconds: run.size("settleSeconds") / cores,
    });
  } finally {
    release();
    await server.stop();
    remove();
  }
}

/** Uses the names that the table expects. */
function report(run: BenchRun, name: string, trial: Trial, isSmall: boolean): void {
  const { before, during, after, quietLoop, loop, residentBytes, waitPercent } = trial;
  const figure = (what: string, unit: string, value: number) => ({
    name: `${name}: ${what}`,
    unit,
    runs: [value],
  });
  run.note(`${name}: the attacker counts ${outcomesText(trial.outcomes)}`);
  run.figures([
    ...Object.entries({ before, during, after }).flatMap(([when, { p50Ms, p99Ms, maxMs }]) => [
      figure(`p50 ${when}`, "ms", p50Ms),
      figure(`p99 ${when}`, "ms", p99Ms),
      figure(`longest wait ${when}`, "ms", maxMs),
    ]),
    figure("longest hold before", "ms", quietLoop.longestHoldMs),
    figure("longest hold", "ms", loop.longestHoldMs),
    figure("longest turn before", "ms", quietLoop.longestTurnMs),
    figure("longest turn", "ms", loop.longestTurnMs),
    figure("resident before", "MiB", residentBytes.before / MIB),
    figure("resident at most", "MiB", residentBytes.peak / MIB),
    figure("resident after", "MiB", residentBytes.after / MIB),
    figure("until memory was back", "s", trial.recoveryMs / 1000),
    ...(waitPercent === null ? [] : [figure("of the time the server waited for a core", "%", waitPercent)]),
  ]);
  const failed = [before, during, after]
    .map(({ failures }) => outcomesText(failures))
    .filter((text) => text !== "nothing");
  if (failed.length > 0) run.note(`${name}: the well-behaved app got ${failed.join("; ")}`);
  const failures = [during, after]
    .flatMap(({ failures }) => Object.values(failures))
    .reduce((sum, count) => sum + count, 0);
  const p99MsMax = isSmall
    ? Math.max(P99_SMALL_MS_MAX, before.p99Ms)
    : Math.max(P99_MS_MAX, P99_TIMES_MAX * before.p99Ms);
  const judged = (atMost: number) => (run.isSmoke ? undefined : { atMost });
  run.verdict(`${name}: failures`, failures, "", judged(0));
  run.verdict(`${name}: turn`, loop.longestTurnMs, "ms", judged(TURN_MS_MAX));
  run.verdict(`${name}: p99`, during.p99Ms, "ms", judged(p99MsMax));
  run.verdict(
    `${name}: memory kept`,
    residentBytes.after / residentBytes.before,
    "",
    judged(RESIDENT_TIMES_MAX),
  );
}

function outcomesText(outcomes: Outcomes): string {
  const texts = Object.entries(outcomes).map(
    ([outcome, count]) => `${outcome} ${count.toLocaleString("en")} times`,
  );
  return texts.length === 0 ? "nothing" : texts.join(", ");
}
