import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fail, ok, type Result } from "../src/lib/result.ts";
import { comparisonLines } from "./support/figures/compare.ts";
import { type Results, readResults, saveResults } from "./support/figures/results.ts";
import type { Bench } from "./support/run/bench.ts";
import { type Kept, runBench } from "./support/run/bench-run.ts";
import { loadBenches } from "./support/run/benches.ts";
import { isFolder, parseCommandLine, type RunCommand, resultsFileIn } from "./support/run/command-line.ts";
import { benchHelpText, helpText } from "./support/run/help.ts";
import { machineText, readMachine } from "./support/run/machine.ts";
import { profileBench } from "./support/run/profiling.ts";

const RESULTS = join(import.meta.dir, "results");

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const benches = await loadBenches();
  const parsed = parseCommandLine(args, benches);
  if (!parsed.ok) {
    console.error(parsed.error);
    return 2;
  }
  const command = parsed.value;
  if (command.kind === "help") {
    const texts = command.names.map((name) => benchHelpText(name, benches));
    process.stdout.write(texts.length === 0 ? helpText(benches) : texts.join("\n"));
    return 0;
  }
  const earlier = readEarlier(command);
  if (!earlier.ok) {
    console.error(earlier.error);
    return 2;
  }
  console.log(machineText(readMachine()));
  for (const name of command.names) await answer(name, benches.get(name)!, command, earlier.value);
  return 0;
}

/** Reads the results to compare with, before the run, which may replace them. */
function readEarlier({ against, names }: RunCommand): Result<ReadonlyMap<string, Results>, string> {
  const earlier = new Map<string, Results>();
  if (against === null) return ok(earlier);
  for (const name of names) {
    const path = resultsFileIn(against, name);
    if (isFolder(against) && !existsSync(path)) continue; // The bench is newer than the folder.
    const results = readResults(path);
    if (!results.ok) return results;
    const { bench } = results.value;
    if (bench !== name) return fail(`${path} has results of ${bench}, not of ${name}.`);
    earlier.set(name, results.value);
  }
  if (earlier.size === 0) return fail(`${against} has no results of ${names.join(", ")}.`);
  return ok(earlier);
}

/** Runs one bench, and saves or compares its figures as requested. */
async function answer(
  name: string,
  bench: Bench,
  command: RunCommand,
  earlier: ReadonlyMap<string, Results>,
): Promise<void> {
  const { isSmoke, given, chosen, against, isProfiled } = command;
  const date = new Date().toISOString();
  console.log(`\n${name}: ${bench.question}`);
  const { attachments, ...kept } = await runBench({ bench, isSmoke, given, chosen, print: console.log });
  const machine = readMachine();
  const results: Results = { bench: name, question: bench.question, date, isSmoke, machine, ...kept };
  const path = savePath(name, bench, command, kept.sizes);
  if (path !== null) {
    saveResults(path, results, attachments);
    printAll([`saved as ${relative(process.cwd(), path)}`]);
  }
  const before = earlier.get(name);
  if (before !== undefined) printAll(comparisonLines(before, results));
  else if (against !== null) printAll([`${against} has no results of ${name}`]);
  if (isProfiled) printAll(await profileBench({ name, isSmoke, given: [...given], chosen: [...chosen] }));
}

/** Results of full runs belong to the project; those of other sizes or parts must not replace them. */
function savePath(
  name: string,
  bench: Bench,
  { isSmoke, save, chosen }: RunCommand,
  sizes: Kept["sizes"],
): string | null {
  if (save !== null) return resultsFileIn(save, name);
  if (isSmoke) return null;
  const isWhole = Object.keys(bench.choices ?? {}).every((choice) => !chosen.has(choice));
  const isFull = isWhole && Object.entries(bench.sizes).every(([size, { full }]) => sizes[size] === full);
  return join(RESULTS, ...(isFull ? [] : ["local"]), `${name}.json`);
}

function printAll(lines: readonly string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}
