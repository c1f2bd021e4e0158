import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { runCommandLine } from "../support/run-flags.ts";
import { HELP, parseTestCommand, type RunCommand, type Tier } from "./command-line.ts";
import { findFiles, tierOf } from "./find-files.ts";
import type { FileResult } from "./junit-report.ts";
import { type RunOptions, runFiles } from "./run-files.ts";

/** `npm test`, `npm run test:system` and `npm run test:long`. */

const ROOT = resolve(import.meta.dir, "../..");
const SLOWEST_SHOWN = 10;
const FLAKY_FILES_MAX = 2;

/**
 * A unit test that takes longer than its time hangs. System tests share two cores with the programs that they start;
 * what measures memory for an hour has the machine to itself.
 */
const TIERS: Readonly<
  Record<Tier, { timeoutMs: number; processes: number; runs: number; seed: number | null }>
> = {
  unit: { timeoutMs: 20_000, processes: availableParallelism(), runs: 0.2, seed: 20_261_126 },
  system: { timeoutMs: 120_000, processes: Math.min(2, availableParallelism()), runs: 0.6, seed: null },
  long: { timeoutMs: 2 * 3_600_000, processes: 1, runs: 10, seed: null },
};

process.exitCode = await runCommandLine(parseTestCommand(process.argv.slice(2)), HELP, main);

async function main(command: RunCommand): Promise<number> {
  const found = findFiles(ROOT, command.tier, command.paths);
  if (!found.ok) {
    console.error(`${found.error} See --help.`);
    return 2;
  }
  const files = found.value;
  const options = optionsOf(command, files);
  const startedMs = performance.now();
  let results = await runFiles(files, options);
  const flaky: string[] = [];
  if (command.retriesFailed) {
    for (const { path } of results.filter(({ failed }) => failed > 0)) {
      const [again] = files.includes(path) ? await runFiles([path], options) : [];
      if (again === undefined) continue;
      results = results.map((result) => (result.path === path ? again : result));
      if (again.failed === 0) flaky.push(path);
    }
  }
  const [passed, failed] = [sumOf(results, "passed"), sumOf(results, "failed")];
  const isTooFlaky = flaky.length > FLAKY_FILES_MAX;
  console.log(summaryOf(results, flaky, performance.now() - startedMs));
  if (isTooFlaky) console.log(`More than ${FLAKY_FILES_MAX} files failed by chance, which fails the run.`);
  if (command.countsFile !== null)
    writeFileSync(command.countsFile, `${passed} ${failed + Number(isTooFlaky)}\n`);
  return failed > 0 || isTooFlaky ? 1 : 0;
}

/** Files that are named may be of another tier than the command. */
function optionsOf(command: RunCommand, files: readonly string[]): RunOptions {
  const tiers = [TIERS[command.tier], ...files.map((file) => TIERS[tierOf(file)])];
  const isNamed = command.paths.length > 0;
  const tier = isNamed
    ? tiers.reduce((most, one) => (one.timeoutMs > most.timeoutMs ? one : most))
    : tiers[0]!;
  const seed = command.seed ?? tier.seed ?? Math.floor(Math.random() * 1e9);
  if (tier.seed === null) console.log(`Random cases: --seed ${seed} --runs ${command.runs ?? tier.runs}`);
  return {
    root: ROOT,
    processes: tier.processes,
    timeoutMs: tier.timeoutMs,
    title: command.title,
    changedSince: command.changedSince,
    savesDurations: command.savesDurations,
    output: "inherit",
    env: {
      WHEREHOUSE_TEST_RUNS: `${command.runs ?? tier.runs}`,
      WHEREHOUSE_TEST_SEED: `${seed}`,
    },
  };
}

function sumOf(results: readonly FileResult[], count: "passed" | "failed" | "skipped"): number {
  return results.reduce((sum, result) => sum + result[count], 0);
}

function summaryOf(results: readonly FileResult[], flaky: readonly string[], ms: number): string {
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  const failed = results.filter((result) => result.failed > 0);
  const [passed, failures, skipped] = [
    sumOf(results, "passed"),
    sumOf(results, "failed"),
    sumOf(results, "skipped"),
  ].map((count) => count.toLocaleString("en"));
  return [
    "",
    ...(results.length > 1 ? ["The slowest files:", ...slowest.map(lineOf)] : []),
    ...(failed.length > 0 ? ["Failed:", ...failed.map(({ path, failed }) => `  ${path} (${failed})`)] : []),
    ...flaky.map((path) => `flaky: ${path}`),
    `${passed} passed, ${failures} failed, ${skipped} left out, in ${results.length} files and ${Math.round(ms / 1000)} s`,
  ].join("\n");
}

function lineOf({ seconds, path }: FileResult): string {
  return `${seconds.toFixed(1).padStart(7)} s  ${path}`;
}
