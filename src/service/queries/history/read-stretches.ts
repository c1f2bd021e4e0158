import type { Part } from "../../../archive/manifest.ts";
import type { ArchiveScan } from "../../../archive/read/archive-scan.ts";
import type { ArchiveSession } from "../../../archive/read/archive-session.ts";
import type { Device } from "../../../hot/devices/device.ts";
import type { HiddenRows } from "../../../hot/hidden/hidden-rows.ts";
import type { LateScan } from "../../../hot/late/late-rows.ts";
import type { Result } from "../../../lib/result.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId } from "../../../model/ids.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import type { Caller } from "../find-device.ts";
import { daysWithin, type HistoryStretch } from "./plan.ts";
import { type ArchiveDependencies, createReadArchive, memoryOrArchive } from "./read-archive.ts";

/*
 * Reads all records of a range from memory and archive.
 */

/** How many late rows one statement overlays. */
export interface LateWindowSize {
  readonly firstRows: number;
  readonly rowsMax: number;
  /** Whether time without late rows, before those of a window, is part of it. */
  readonly keepsGaps?: boolean;
}

/** The requested records of a stretch, and the parts that have them. */
export interface StretchQuery extends Omit<ArchiveScan, "range" | "parts" | "late" | "hidden"> {
  readonly partsOfDay: (day: UtcDay) => readonly Part[];
  /** What corrections hide of the requested records; null if nothing. */
  readonly hidden: Pick<HiddenRows, "within"> | null;
}

/** The archive's scan for a range of archived days without late rows. */
export function archiveScan(
  { partsOfDay, hidden, ...records }: StretchQuery,
  days: readonly UtcDay[],
  range: TimeRange,
): ArchiveScan {
  const parts = daysWithin(range, days).flatMap(partsOfDay);
  return { ...records, range, parts, late: null, hidden: hidden?.within(range) ?? null };
}

/** The archive's scans for a stretch of archived days: windows of time, so that each has few enough late rows. */
export async function* archiveScans(
  query: StretchQuery,
  { range, days }: Pick<HistoryStretch, "range" | "days">,
  late: LateScan | null,
  order: Order,
  { firstRows, rowsMax, keepsGaps = false }: LateWindowSize,
): AsyncIterable<ArchiveScan> {
  if (late === null) {
    yield archiveScan(query, days, range);
    return;
  }
  let rows = firstRows;
  for (let rest = range; rest.startMs < rest.endMs; ) {
    const window = await late.window(rest, order, rows, keepsGaps);
    yield { ...archiveScan(query, days, window.range), late: window.late };
    const { startMs, endMs } = window.range;
    rest = order === "asc" ? { ...rest, startMs: endMs } : { ...rest, endMs: startMs };
    if (window.late !== null) rows = Math.min(4 * rows, rowsMax);
  }
}

/** Consumes the records of a range, oldest first, and computes a value. */
export interface StretchSink<Rows, Value> {
  /** Adds what memory has of a range. */
  addMemory(range: TimeRange): Steps<void>;
  /** Has the archive read a scan, a few thousand rows at a time. */
  read(session: ArchiveSession, scan: ArchiveScan): AsyncIterable<Rows>;
  addRows(rows: Rows): Steps<void>;
  end(): Steps<Value>;
}

export interface RangeAnswer<Value> {
  readonly value: Value;
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

export interface HistoryDependencies extends ArchiveDependencies {
  readonly lateWindow: LateWindowSize;
}

/** A range of one device, or of the whole app if that is null. */
export interface DeviceRange {
  readonly appId: AppId;
  readonly device: Device | null;
  readonly range: TimeRange;
}

/** Begins again, with another sink, if a seal moved records meanwhile. */
export type ReadStretches = <Rows, Value>(
  whose: DeviceRange,
  caller: Caller,
  begin: () => StretchSink<Rows, Value>,
) => MaybePromise<Result<RangeAnswer<Value>, ServiceError>>;

export function createReadStretches(dependencies: HistoryDependencies): ReadStretches {
  const { hot, archive, scheduler, lateWindow } = dependencies;
  const readArchive = createReadArchive(dependencies);

  return function readStretches<Rows, Value>(
    { appId, device, range }: DeviceRange,
    caller: Caller,
    begin: () => StretchSink<Rows, Value>,
  ) {
    const steps = <Made>(work: Steps<Made>) => scheduler.runAtOnce(appId, caller.signal, work);
    return memoryOrArchive(archive, range, {
      fromMemory: () => steps(readMemory(begin(), range)),
      fromArchive: () =>
        readArchive(appId, range, caller, async ({ session, stretches, partsOfDay, isIncomplete }) => {
          const sink = begin();
          const deviceId = device?.id ?? null;
          const hidden = hot.hiddenRows(appId, deviceId);
          const aliases = hot.aliases(appId, deviceId);
          const ofAll = { userId: null, accuracyMetersMax: null };
          const query = { appId, deviceId, ...ofAll, partsOfDay, hidden, aliases };
          for (const stretch of stretches) {
            if (stretch.kind === "memory") {
              await steps(sink.addMemory(stretch.range));
              continue;
            }
            const app = stretch.kind === "both" ? hot.findApp(appId) : null;
            const late = app === null ? null : hot.lateRows(app, device);
            for await (const scan of archiveScans(query, stretch, late, "asc", lateWindow))
              for await (const rows of sink.read(session, scan)) await steps(sink.addRows(rows));
          }
          return { value: await steps(sink.end()), isIncomplete };
        }),
    });
  };
}

function* readMemory<Value>(
  sink: Pick<StretchSink<unknown, Value>, "addMemory" | "end">,
  range: TimeRange,
): Steps<RangeAnswer<Value>> {
  yield* sink.addMemory(range);
  return { value: yield* sink.end(), isIncomplete: false };
}
