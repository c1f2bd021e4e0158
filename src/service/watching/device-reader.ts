import type { ArchiveSession, WatchedRows } from "../../archive/read/archive-session.ts";
import type { WatchedRecord } from "../../geofences/watch.ts";
import type { Device } from "../../hot/devices/device.ts";
import { addWatched, OneDevice } from "../../hot/scan/memory-scan.ts";
import type { Result } from "../../lib/result.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { touchesSealed } from "../queries/history/plan.ts";
import {
  createReadStretches,
  type HistoryDependencies,
  type RangeAnswer,
  type StretchSink,
} from "../queries/history/read-stretches.ts";

/** Reads the records of a device that answers show. */
export class DeviceReader {
  readonly #dependencies: HistoryDependencies;
  readonly #readStretches: ReturnType<typeof createReadStretches>;

  constructor(dependencies: HistoryDependencies) {
    this.#dependencies = dependencies;
    this.#readStretches = createReadStretches(dependencies);
  }

  /** The time of the newest record; null if the device has none. */
  newestMs(appId: AppId, deviceId: DeviceId): number | null {
    const newestMs = this.#find(appId, deviceId)?.newestMs ?? Number.NEGATIVE_INFINITY;
    return newestMs === Number.NEGATIVE_INFINITY ? null : newestMs;
  }

  /** The records of a range, oldest first; null if the archive has some of them. */
  *fromMemory(appId: AppId, deviceId: DeviceId, range: TimeRange): Steps<WatchedRecord[] | null> {
    const { hot, archive } = this.#dependencies;
    for (;;) {
      const { manifest } = archive();
      if (touchesSealed(manifest, range)) return null;
      const records: WatchedRecord[] = [];
      const device = this.#find(appId, deviceId);
      if (device === null) return records;
      const query = { devices: new OneDevice(device), range, userId: null, accuracyMetersMax: null };
      yield* addWatched(hot.scan(query), records);
      if (archive().manifest === manifest) return records; // Else a seal may have moved some.
    }
  }

  /** Like `fromMemory()`, from both stores. */
  async read(
    appId: AppId,
    deviceId: DeviceId,
    range: TimeRange,
    signal: AbortSignal,
  ): Promise<Result<RangeAnswer<WatchedRecord[]>, ServiceError>> {
    const device = this.#find(appId, deviceId);
    if (device === null) return { ok: true, value: { value: [], isIncomplete: false } };
    return this.#readStretches({ appId, device, range }, { signal }, () => this.#sink(device));
  }

  #find(appId: AppId, deviceId: DeviceId): Device | null {
    return this.#dependencies.hot.findApp(appId)?.find(deviceId) ?? null;
  }

  #sink(device: Device): StretchSink<WatchedRows, WatchedRecord[]> {
    const { hot } = this.#dependencies;
    const records: WatchedRecord[] = [];
    return {
      addMemory: (range) =>
        addWatched(
          hot.scan({ devices: new OneDevice(device), range, userId: null, accuracyMetersMax: null }),
          records,
        ),
      read: (session: ArchiveSession, scan) => session.watched(scan),
      addRows: (rows) =>
        inOneStep(() => {
          for (let row = 0; row < rows.count; row++) records.push(recordAt(rows, row));
        }),
      end: () => inOneStep(() => records),
    };
  }
}

function recordAt(rows: WatchedRows, row: number): WatchedRecord {
  return {
    timestampMs: rows.timestampMs[row]!,
    userId: rows.userIds[row]!,
    latitude: rows.latitude[row]!,
    longitude: rows.longitude[row]!,
    accuracyMeters: orNull(rows.accuracyMeters[row]!),
    metersPerSecond: orNull(rows.metersPerSecond[row]!),
    batteryPercent: orNull(rows.batteryPercent[row]!),
  };
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
