import type { Result } from "../lib/result.ts";
import { printableLine } from "../lib/text/printable.ts";
import { systemClock } from "../model/time/clock.ts";
import type { Platform } from "../runtime/platform.ts";
import type { Terminal } from "../runtime/process.ts";
import type { Invocation } from "./arguments/command.ts";
import { explanationOf, isExplained } from "./explained-error.ts";
import { type UsageError, usageErrorText } from "./help.ts";

/** Runs a parsed command line; returns the exit code. `program` holds the words that start this program. */
export async function runCommand(
  parsed: Result<Invocation, UsageError>,
  platform: Platform,
  terminal: Terminal,
  program: string,
): Promise<number> {
  if (!parsed.ok) {
    terminal.error(usageErrorText(parsed.error, program));
    return 2;
  }
  const stopSignal = () => signalOfStop(platform);
  try {
    return await parsed.value.run({ platform, clock: systemClock, terminal, program, stopSignal });
  } catch (error) {
    if (!isExplained(error)) throw error;
    terminal.error(`${printableLine(explanationOf(error))}\n`);
    return 1;
  }
}

function signalOfStop(platform: Platform): AbortSignal {
  const controller = new AbortController();
  platform.stopRequested().then(() => controller.abort());
  return controller.signal;
}
