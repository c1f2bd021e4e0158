import type { Part } from "../../../archive/manifest.ts";
import type { ArchiveScan, LateRows } from "../../../archive/read/archive-scan.ts";
import type { ArchiveSession, RecordKeys } from "../../../archive/read/archive-session.ts";
import type { DeviceId } from "../../../model/ids.ts";
import type { RecordPage } from "../../../model/record-page.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import type { HistoryScan } from "./history-scan.ts";
import type { PathMeter } from "./path-meter.ts";
import { daysWithin } from "./plan.ts";

/** A range of sealed days, and the rows of memory that lie over it. */
export interface ArchiveWindow {
  page(order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(): Promise<number>;
  /** Adds the devices that have a matching record. */
  addDevices(devices: Set<DeviceId>): Promise<void>;
  addPath(meter: PathMeter): Promise<void>;
  /** What tells the matching records from others, in no order. */
  keys(): AsyncIterable<RecordKeys>;
}

export function createArchiveWindow(
  session: ArchiveSession,
  { appId, userId, device, query }: HistoryScan,
  { range, late }: { readonly range: TimeRange; readonly late: LateRows | null },
  days: readonly UtcDay[],
  partsOfDay: (day: UtcDay) => readonly Part[],
): ArchiveWindow {
  const { accuracyMetersMax } = query;
  const parts = partsWithin(range, days, partsOfDay);
  const archiveScan: ArchiveScan = {
    appId,
    deviceId: device?.id ?? null,
    userId,
    range,
    accuracyMetersMax,
    parts,
    late,
    shownIn: device !== null ? "deviceHistory" : userId !== null ? "userHistory" : "appHistory",
  };
  const isEmpty = parts.length === 0 && late === null;
  let counted: Promise<number> | null = null;

  function count(): Promise<number> {
    counted ??= isEmpty ? Promise.resolve(0) : session.count(archiveScan);
    return counted;
  }

  return {
    async page(order, offset, limit) {
      if (isEmpty) return emptyPage();
      // Counting needs less of late rows than a page that turns out to lie behind them.
      if (late !== null && offset > 0 && (await count()) <= offset) return emptyPage();
      return session.page(archiveScan, order, offset, limit);
    },
    count,
    async addDevices(devices) {
      if (isEmpty) return;
      for await (const some of session.devices(archiveScan))
        for (const deviceId of some) devices.add(deviceId);
    },
    async *keys() {
      if (!isEmpty) yield* session.keys(archiveScan);
    },
    async addPath(meter) {
      if (isEmpty) return;
      for await (const { count, deviceIds, latitude, longitude } of session.path(archiveScan))
        for (let row = 0; row < count; row++) meter.add(deviceIds[row]!, latitude[row]!, longitude[row]!);
    },
  };
}

/** Parts of those days that the range touches. */
export function partsWithin(
  range: TimeRange,
  days: readonly UtcDay[],
  partsOfDay: (day: UtcDay) => readonly Part[],
): Part[] {
  return daysWithin(range, days).flatMap(partsOfDay);
}

const NO_TEXTS = { profileText: () => null, stateText: () => null };

function emptyPage(): RecordPage {
  return {
    count: 0,
    deviceIds: [],
    timestampMs: new Float64Array(0),
    numbers: new Float64Array(0),
    profile: new Uint32Array(0),
    state: new Uint32Array(0),
    dictionary: NO_TEXTS,
  };
}
