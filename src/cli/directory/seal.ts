import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { messageOf } from "../../lib/message-of.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { SealReport } from "../../service/upkeep/seal/seal.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectNoNode } from "../cluster/node-directory.ts";
import { sealSummary } from "../screen/directory-report.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { SealOptions } from "./command.ts";
import { expectDataDirectory, openSettings, settingsFault } from "./data-directory.ts";
import { openForCommand, releasing } from "./open-for-command.ts";

const INTERRUPTED = "Interrupted. Nothing is lost, and the next seal begins again.";

/** Runs one seal; returns the exit code. A stop aborts it, which changes nothing. */
export async function seal(
  { dataDir, json }: SealOptions,
  { platform, clock, terminal, stopSignal }: CommandContext,
): Promise<number> {
  const signal = stopSignal();
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  await expectDataDirectory(platform.files, dataDir);
  await expectNoNode(platform.files, dataDir, "Its server seals by itself.");
  let release: () => void;
  try {
    release = await takeDirectory(dataDir, "seal", platform, clock);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    say(`${error.message} A running server seals by itself.`);
    return 1;
  }
  const settings = await openSettings("seal", dataDir, platform, clock).catch(releasing(release));
  const fault = settingsFault(settings);
  if (fault !== null) say(fault);
  const bars = {
    reading: createProgressBar("Reading the log", terminal),
    sealing: createProgressBar("Archiving", terminal),
  };
  const directory = await openForCommand({
    dataDir,
    platform,
    clock,
    retention: settings.retention,
    say,
    onProgress: (done, total) => bars.reading.show({ done, total, count: null }),
    release,
    signal,
  }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return null;
  });
  bars.reading.clear();
  if (directory === null) {
    say(INTERRUPTED);
    return 1;
  }
  if (signal.aborted) void directory.schedule.stop();
  else signal.addEventListener("abort", () => void directory.schedule.stop());
  let report: SealReport;
  try {
    await directory.inspect();
    report = await directory.schedule.sealNow(({ records, recordsTotal }) =>
      bars.sealing.show({ done: records, total: recordsTotal, count: records }),
    );
  } catch (error) {
    bars.sealing.clear();
    if (signal.aborted) say(INTERRUPTED);
    else say(`The seal failed, but nothing is lost: ${messageOf(error)}`);
    return 1;
  } finally {
    await directory.close();
  }
  bars.sealing.clear();
  terminal.out(json ? `${JSON.stringify(report, null, 2)}\n` : `${sealSummary(report)}\n`);
  return report.blocked.length === 0 && report.unfinished === null ? 0 : 1;
}
