import { createProgressBar, type ProgressBar } from "../../../src/cli/screen/progress-bar.ts";
import { createTerminal } from "../../../src/runtime/process.ts";
import { runCommandLine } from "../../support/run-flags.ts";
import type { Runtime } from "../../support/server-process.ts";
import {
  type ErasuresCommand,
  HELP,
  type MemoryCommand,
  parseSoakCommand,
  type RoundsCommand,
} from "./support/command-line.ts";
import { soak } from "./support/crash-soak.ts";
import { soakErasures } from "./support/erase-soak.ts";
import { erasureText, isGoodErasing } from "./support/erase-summary.ts";
import { isFlat, memoryText, saveMemory } from "./support/memory-report.ts";
import { runMemory } from "./support/memory-run.ts";
import { hasProcessFigures } from "./support/process-figures.ts";
import { isGood, summaryText } from "./support/summary.ts";

/** `npm run soak`: kills for as many rounds as are asked for, kills of erasures, or memory under a steady load. */

process.exitCode = await runCommandLine(parseSoakCommand(process.argv.slice(2), Date.now()), HELP, main);

type AnyCommand = RoundsCommand | ErasuresCommand | MemoryCommand;

async function main(command: AnyCommand): Promise<number> {
  console.log(`seed ${command.seed}`);
  let isAllGood = true;
  for (const runtime of command.runtimes) isAllGood = (await runOn(runtime, command)) && isAllGood;
  return isAllGood ? 0 : 1;
}

function runOn(runtime: Runtime, command: AnyCommand): Promise<boolean> {
  switch (command.kind) {
    case "rounds":
      return runRounds(runtime, command);
    case "erasures":
      return runErasures(runtime, command);
    case "memory":
      return runHour(runtime, command);
  }
}

async function runRounds(runtime: Runtime, { rounds, seed }: RoundsCommand): Promise<boolean> {
  const bar = progressBar(`${runtime.name}, rounds`);
  const onRound = (done: number) => bar.show({ done, total: rounds, count: null });
  const summary = await soak({ runtime, rounds, seed, onRound });
  bar.clear();
  console.log(summaryText(runtime.name, summary));
  return isGood(summary);
}

async function runErasures(runtime: Runtime, { kills, seed }: ErasuresCommand): Promise<boolean> {
  const bar = progressBar(`${runtime.name}, kills`);
  const onKill = (done: number) => bar.show({ done, total: kills, count: null });
  const summary = await soakErasures({ runtime, kills, seed, onKill });
  bar.clear();
  console.log(erasureText(runtime.name, summary));
  return isGoodErasing(summary);
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
