import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Caller } from "../queries/find-device.ts";
import { touchesSealed } from "../queries/history/plan.ts";
import { type ArchiveDependencies, createReadArchive } from "../queries/history/read-archive.ts";
import { askArchive, rangesOf } from "./exact-ingest.ts";

/**
 * Counts the reports of a batch whose device has a record of that time already, or an earlier report of the batch.
 * Stores nothing.
 */
export type CountKnown = (
  appId: AppId,
  batch: ReportBatch,
  caller: Caller,
) => Promise<Result<number, ServiceError>>;

const ALL_TIME: TimeRange = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

export function createCountKnown(dependencies: ArchiveDependencies): CountKnown {
  const { hot, archive } = dependencies;
  const readArchive = createReadArchive(dependencies);
  return async (appId, batch, caller) => {
    let known = batch.count - hot.rowsWithoutRecord(appId, batch, ALL_TIME).length;
    for (const range of rangesOf(batch)) {
      if (!touchesSealed(archive().manifest, range)) continue;
      const repeats = await readArchive(appId, range, caller, (reading) =>
        askArchive(appId, batch, hot.rowsWithoutRecord(appId, batch, range), range, reading),
      );
      if (!repeats.ok) return repeats;
      known += repeats.value.size;
    }
    return ok(known);
  };
}
