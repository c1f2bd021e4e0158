import { createProgressBar, type ProgressBar } from "../../../src/cli/screen/progress-bar.ts";
import { createTerminal } from "../../../src/runtime/process.ts";
import { runCommandLine } from "../../support/run-flags.ts";
import type { Runtime } from "../../support/server-process.ts";
import { HELP, type MemoryCommand, parseSoakCommand, type RoundsCommand } from "./support/command-line.ts";
import { soak } from "./support/crash-soak.ts";
import { isFlat, memoryText, saveMemory } from "./support/memory-report.ts";
import { runMemory } from "./support/memory-run.ts";
import { hasProcessFigures } from "./support/process-figures.ts";
import { isGood, summaryText } from "./support/summary.ts";

/** `npm run soak`: kills for as many rounds as are asked for, or memory under a steady load. */

process.exitCode = await runCommandLine(parseSoakCommand(process.argv.slice(2), Date.now()), HELP, main);

async function main(command: RoundsCommand | MemoryCommand): Promise<number> {
  console.log(`seed ${command.seed}`);
  let isAllGood = true;
  for (const runtime of command.runtimes) {
    const isRunGood = command.kind === "rounds" ? runRounds(runtime, command) : runHour(runtime, command);
    isAllGood = (await isRunGood) && isAllGood;
  }
  return isAllGood ? 0 : 1;
}

async function runRounds(runtime: Runtime, { rounds, seed }: RoundsCommand): Promise<boolean> {
  const bar = progressBar(`${runtime.name}, rounds`);
  const onRound = (done: number) => bar.show({ done, total: rounds, count: null });
  const summary = await soak({ runtime, rounds, seed, onRound });
  bar.clear();
  console.log(summaryText(runtime.name, summary));
  return isGood(summary);
}

async function runHour(runtime: Runtime, { durationMs, seed, save }: MemoryCommand): Promise<boolean> {
  if (!hasProcessFigures) {
    console.error("This system has no /proc to read the memory of a process from.");
    return false;
  }
  const bar = progressBar(`${runtime.name}, memory`);
  const onSample = (done: number) => bar.show({ done, total: durationMs, count: null });
  const run = await runMemory({ runtime, durationMs, seed, onSample });
  bar.clear();
  console.log(memoryText(runtime.name, run));
  if (save !== null) await saveMemory(save, runtime.name, run, seed);
  return isFlat(run);
}

function progressBar(label: string): ProgressBar {
  const terminal = createTerminal();
  return createProgressBar(label, terminal);
}
