import type { WatchedRecord } from "../../geofences/watch.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { ACCURACY, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { numberIndex, profileIndex } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { numberAt, profileAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { DeviceRecords, type RecordFilter } from "./device-records.ts";
import type { RecordKey } from "./first-records.ts";

/** Devices in the order of their ids, in blocks. */
export interface DeviceBlocks {
  readonly size: number;
  blocks(): Iterable<readonly Device[]>;
}

export const NO_DEVICES: DeviceBlocks = { size: 0, blocks: () => [] };

export class OneDevice implements DeviceBlocks {
  readonly device: Device;
  readonly size = 1;

  constructor(device: Device) {
    this.device = device;
  }

  blocks(): Iterable<readonly Device[]> {
    return [[this.device]];
  }
}

/** Which records in memory a query reads. */
export interface MemoryQuery {
  readonly devices: DeviceBlocks;
  readonly range: TimeRange;
  /** Only records of this user; null for all. */
  readonly userId: UserId | null;
  /** Excludes records whose horizontal accuracy is greater; null for none. */
  readonly accuracyMetersMax: number | null;
  /** Excludes rows of corrections; false by default. */
  readonly originals?: boolean;
}

/** A `MemoryQuery` in the terms of the store. */
export interface MemoryScan {
  readonly devices: DeviceBlocks;
  readonly range: TimeRange;
  /** A function, because the numbers of texts may change their meaning once reports come in. */
  readonly filter: () => RecordFilter;
  readonly dictionary: Dictionary;
}

const USER = profileIndex("user_id");
const SPEED = numberIndex("speed");
const BATTERY = numberIndex("battery_level");

/** What a step may cost, counted in rows that lie together; finding those of a device costs as much as 32. */
const STEP_ROWS = 8192;
const LOOK_ROWS = 32;

/**
 * Visits each device's records of a range, up to an index of its track. If each record must be read, the records of a
 * device are visited in parts, oldest first. Reports may come in between two steps, so records are located by time
 * again.
 */
export function* visitRecords(
  { devices, filter: filterNow, dictionary }: MemoryScan,
  { startMs, endMs }: TimeRange,
  readsAll: boolean,
  visit: (records: DeviceRecords, to: number) => void,
): Steps<void> {
  let filter = filterNow();
  let work = 0;
  for (const block of devices.blocks()) {
    if (block.length === 0) {
      yield; // The list has just taken a step.
      filter = filterNow();
    }
    for (const device of block) {
      for (let fromMs = startMs; fromMs < endMs; ) {
        if (work >= STEP_ROWS) {
          work = 0;
          yield;
          filter = filterNow();
        }
        const records = new DeviceRecords(device, { startMs: fromMs, endMs }, filter, dictionary);
        const isRead = readsAll || records.isFiltered;
        const to = isRead ? Math.min(records.to, records.from + STEP_ROWS) : records.to;
        if (records.from < to) visit(records, to);
        fromMs = to < records.to ? records.timeAt(to) : endMs;
        work += LOOK_ROWS + (isRead ? to - records.from : 0);
      }
    }
  }
}

/** Adds the devices with a matching record. */
export function* addDevices(scan: MemoryScan, devices: Set<DeviceId>): Steps<void> {
  yield* visitRecords(scan, scan.range, false, (records, to) => {
    if (records.count(records.from, to) > 0) devices.add(records.device.id);
  });
}

/** Adds the keys of matching records, and stops once there are more than `keysMax`. */
export function* addKeys(scan: MemoryScan, keys: RecordKey[], keysMax: number): Steps<void> {
  yield* visitRecords(scan, scan.range, true, (records, to) => {
    if (keys.length > keysMax) return;
    records.visit(records.from, to, (chunk, row) => {
      keys.push({ device: records.device, timestampMs: timestampAt(chunk, row) });
    });
  });
}

/** Receives positions with their times, Unix ms; those of one device come in order of time. */
export interface TimedPositionSink {
  add(deviceId: DeviceId, timestampMs: number, latitude: number, longitude: number): void;
}

/** Adds all matching positions with their times. */
export function* addTimedPositions(scan: MemoryScan, sink: TimedPositionSink): Steps<void> {
  yield* visitRecords(scan, scan.range, true, (records, to) => {
    const { id } = records.device;
    records.visitTimedPositions(records.from, to, (timestampMs, latitude, longitude) =>
      sink.add(id, timestampMs, latitude, longitude),
    );
  });
}

/** Receives fixes with their users; those of one device come in order of time. What one has not is NaN. */
export interface FixSink {
  add(
    deviceId: DeviceId,
    userId: UserId,
    timestampMs: number,
    latitude: number,
    longitude: number,
    accuracyMeters: number,
    metersPerSecond: number,
    batteryPercent: number,
  ): void;
}

/** Adds the fixes of all matching records. */
export function* addFixes(scan: MemoryScan, sink: FixSink): Steps<void> {
  yield* visitRecords(scan, scan.range, true, (records, to) => {
    const { id } = records.device;
    const { edition } = scan.dictionary;
    records.visit(records.from, to, (chunk, row) => {
      const userId = edition.profileText(profileAt(chunk, row), USER) as UserId;
      const [latitude, longitude] = [numberAt(chunk, row, LATITUDE), numberAt(chunk, row, LONGITUDE)];
      const accuracy = numberAt(chunk, row, ACCURACY);
      const [speed, battery] = [numberAt(chunk, row, SPEED), numberAt(chunk, row, BATTERY)];
      sink.add(id, userId, timestampAt(chunk, row), latitude, longitude, accuracy, speed, battery);
    });
  });
}

/** Adds what fences and alerts read of all matching records, oldest first, of a scan of one device. */
export function* addWatched(scan: MemoryScan, sink: WatchedRecord[]): Steps<void> {
  yield* visitRecords(scan, scan.range, true, (records, to) => {
    const { edition } = scan.dictionary;
    records.visit(records.from, to, (chunk, row) => {
      sink.push({
        timestampMs: timestampAt(chunk, row),
        userId: edition.profileText(profileAt(chunk, row), USER) as UserId,
        latitude: numberAt(chunk, row, LATITUDE),
        longitude: numberAt(chunk, row, LONGITUDE),
        accuracyMeters: orNull(numberAt(chunk, row, ACCURACY)),
        metersPerSecond: orNull(numberAt(chunk, row, SPEED)),
        batteryPercent: orNull(numberAt(chunk, row, BATTERY)),
      });
    });
  });
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** Receives positions; those of one device come in order of time. */
export interface PositionSink {
  add(deviceId: DeviceId, latitude: number, longitude: number): void;
}

/** Adds all matching positions. Returns the bytes of their records. */
export function* addPositions(scan: MemoryScan, sink: PositionSink): Steps<number> {
  let bytes = 0;
  yield* visitRecords(scan, scan.range, true, (records, to) => {
    const { id } = records.device;
    records.visitPositions(records.from, to, (latitude, longitude) => sink.add(id, latitude, longitude));
    bytes += records.bytesRead;
  });
  return bytes;
}
