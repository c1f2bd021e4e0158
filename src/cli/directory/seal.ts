import { DEFAULT_ARCHIVE_CONFIG } from "../../app/config.ts";
import { openDirectory } from "../../app/open-directory.ts";
import { DirectoryInUseError, takeDirectory } from "../../directory/take-directory.ts";
import { createHotStore } from "../../hot/hot-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import { Scheduler } from "../../lib/schedule/scheduler.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { Terminal } from "../../runtime/process.ts";
import type { SealReport } from "../../service/upkeep/seal/seal.ts";
import type { CommandContext } from "../arguments/command.ts";
import { expectNoNode } from "../cluster/node-directory.ts";
import { damageLine, entryLeftOutLine, sealSummary } from "../screen/directory-report.ts";
import { createProgressBar, type ProgressBar } from "../screen/progress-bar.ts";
import type { SealOptions } from "./command.ts";
import { expectDataDirectory, openSettings, settingsFault } from "./data-directory.ts";

const INTERRUPTED = "Interrupted: nothing is lost, the next seal begins anew.";

/** Seals what is due, once; returns the exit code. The signal breaks it off, which changes nothing. */
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
  const settings = await openSettings("seal", dataDir, platform, clock);
  const fault = settingsFault(settings);
  if (fault !== null) say(fault);
  const bars = { reading: createBar("Reading the log", terminal), sealing: createBar("Archiving", terminal) };
  const scheduler = new Scheduler();
  const directory = await openDirectory({
    dataDir,
    files: platform.files,
    clock,
    retention: settings.retention,
    hot: createHotStore(scheduler),
    scheduler,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: () => {}, // Nobody reports.
      onArchiveNote: (note) => say(`Archive: ${note}`),
      onSealed: () => {}, // Only seals by schedule are told of.
      onSealFailed: () => {},
      onBroken: () => {}, // Nobody reports.
      onEntryLeftOut: (failure) => say(entryLeftOutLine(failure)),
      onDamage: (damage) => {
        for (const each of damage) say(damageLine(each));
      },
    },
    onProgress: (done, total) => bars.reading.show({ done, total, count: null }),
    release,
    signal,
  }).catch((error: unknown) => {
    release();
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
    else say(`The seal failed, and nothing is lost: ${messageOf(error)}`);
    return 1;
  } finally {
    await directory.close();
  }
  bars.sealing.clear();
  terminal.out(json ? `${JSON.stringify(report, null, 2)}\n` : `${sealSummary(report)}\n`);
  return report.blocked.length === 0 && report.unfinished === null ? 0 : 1;
}

function createBar(label: string, terminal: Terminal): ProgressBar {
  return createProgressBar(label, terminal);
}
