import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { batchesOf } from "../fleets/batches.ts";
import { createFleet } from "../fleets/fleet.ts";
import { createYearFleet } from "../fleets/year-fleet.ts";
import { type RequestInProcess, requestInProcess } from "../http/in-process.ts";
import type { BenchRun } from "../run/bench.ts";
import { dayBatches, makeFirstKey, report, temporaryDataDir } from "../store/archived-directory.ts";
import { openServedDirectory } from "../store/served-directory.ts";
import { Correcting } from "./correcting.ts";

/** A device with a record every second, for the largest corrections. */
export const DENSE = "dense";
const DENSE_STEP_MS = 1000;

/** Reports of an archived day and of yesterday, and of the dense device before them. */
export interface CorrectedDays {
  readonly dataDir: string;
  readonly deviceIds: readonly string[];
  readonly archivedMs: number;
  readonly yesterdayMs: number;
  /** Starts of the dense device's records. */
  readonly denseArchivedMs: number;
  readonly denseMs: number;
}

/** Creates the directory; with a key if servers of their own will ask. */
export async function makeCorrectedDays(run: BenchRun, hasKey = false): Promise<CorrectedDays> {
  const dataDir = temporaryDataDir("corrections");
  if (hasKey) await makeFirstKey(dataDir);
  const todayMs = startOfUtcDayMs(systemClock.nowMs());
  const days = {
    archivedMs: todayMs - 10 * MS_PER_DAY,
    yesterdayMs: todayMs - MS_PER_DAY,
    denseArchivedMs: todayMs - 14 * MS_PER_DAY,
    denseMs: todayMs - 4 * MS_PER_DAY,
  };
  const fleet = createYearFleet({ devices: run.size("devices"), seed: run.size("seed") });
  const { directory } = await openServedDirectory(dataDir);
  try {
    const minutes = run.size("dayMinutes");
    const dense = (startMs: number) => batchesOf(denseReports(startMs, run.size("dense")), BATCH_REPORTS_MAX);
    await report(directory, dayBatches(fleet, days.archivedMs, minutes));
    await report(directory, dense(days.denseArchivedMs));
    await directory.schedule.sealNow();
    await report(directory, dayBatches(fleet, days.yesterdayMs, minutes));
    await report(directory, dense(days.denseMs));
  } finally {
    await directory.close();
  }
  return { ...days, dataDir, deviceIds: fleet.deviceIds };
}

function* denseReports(startMs: number, count: number): Iterable<object> {
  const fleet = createFleet({ devices: 1, seed: 1, startMs, stepMs: DENSE_STEP_MS });
  for (let i = 0; i < count; i++) yield { ...fleet.round(i)[0], device_id: DENSE };
}

/** The range of the dense device's first records. */
export function denseRange(startMs: number, count: number) {
  return { device_id: DENSE, start: startMs, end: startMs + count * DENSE_STEP_MS };
}

/** A server in this process over such a directory. */
export interface CorrectedServer {
  readonly request: RequestInProcess;
  readonly correcting: Correcting;
  readonly directory: Awaited<ReturnType<typeof openServedDirectory>>["directory"];
}

export async function openCorrected(dataDir: string): Promise<CorrectedServer> {
  const served = await openServedDirectory(dataDir);
  const request = await requestInProcess(served);
  return { request, correcting: new Correcting(request), directory: served.directory };
}
