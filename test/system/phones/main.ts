import { createProgressBar } from "../../../src/cli/screen/progress-bar.ts";
import { createTerminal } from "../../../src/runtime/process.ts";
import { runCommandLine } from "../../support/run-flags.ts";
import type { Runtime } from "../../support/server-process.ts";
import { HELP, parsePhonesCommand, type RunCommand, TIMES } from "./run/command-line.ts";
import { FLEET } from "./run/fleet.ts";
import { runPhones } from "./run/phones-run.ts";
import { isGood, summaryText } from "./run/summary.ts";

/** `npm run phones`: phones of every client for as long as is asked for, everything going wrong meanwhile. */

process.exitCode = await runCommandLine(parsePhonesCommand(process.argv.slice(2), Date.now()), HELP, main);

async function main(command: RunCommand): Promise<number> {
  console.log(`seed ${command.seed}`);
  let isAllGood = true;
  for (const runtime of command.runtimes) isAllGood = (await run(runtime, command)) && isAllGood;
  return isAllGood ? 0 : 1;
}

async function run(runtime: Runtime, { minutes, seed }: RunCommand): Promise<boolean> {
  const durationMs = minutes * 60_000;
  const terminal = createTerminal();
  const bar = createProgressBar(`${runtime.name}, phones`, terminal);
  const onProgress = (done: number) => bar.show({ done, total: durationMs, count: null });
  const options = { runtime, seed, durationMs, times: TIMES, fleet: FLEET, keepsPlace: true, onProgress };
  const result = await runPhones(options);
  bar.clear();
  console.log(summaryText(runtime.name, result));
  return isGood(result);
}
