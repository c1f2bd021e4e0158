import type { Steps } from "../../lib/schedule/steps.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import type { TimeRange } from "../../time/range.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RecordKey } from "./first-records.ts";
import { type RecordFilter, Slice } from "./slice.ts";

/** Devices in the order of their ids, a block after the other; as `DeviceList` has them. */
export interface DeviceBlocks {
  blocks(): Iterable<readonly Device[]>;
}

/** One device, as a list has many. */
export class OneDevice implements DeviceBlocks {
  readonly device: Device;

  constructor(device: Device) {
    this.device = device;
  }

  blocks(): Iterable<readonly Device[]> {
    return [[this.device]];
  }
}

/** Which records in memory a query asks for. */
export interface MemoryQuery {
  readonly devices: DeviceBlocks;
  readonly range: TimeRange;
  /** Leaves out the records of others; null keeps all. */
  readonly userId: UserId | null;
  /** Leaves out records whose horizontal accuracy is greater; null keeps all. */
  readonly accuracyMetersMax: number | null;
}

/** The same in the store's own words. */
export interface MemoryScan {
  readonly devices: DeviceBlocks;
  readonly range: TimeRange;
  /** As of now: numbers of texts may be given to others once reports come in. */
  readonly filter: () => RecordFilter;
  readonly dictionary: Dictionary;
}

/** What a step may cost, in rows that lie together; to find those of a device costs as much as 32. */
const STEP_ROWS = 8192;
const LOOK_ROWS = 32;

/**
 * Visits each device's records of a range, up to a position of its track: those of a device with many in parts, oldest
 * first, where each has to be looked at. Reports may come in between two steps, so each part is found anew by time.
 */
export function* visitSlices(
  { devices, filter: filterNow, dictionary }: MemoryScan,
  { startMs, endMs }: TimeRange,
  readsAll: boolean,
  visit: (slice: Slice, to: number) => void,
): Steps<void> {
  let filter = filterNow();
  let work = 0;
  for (const block of devices.blocks()) {
    if (block.length === 0) {
      yield; // The list has taken a step of its own.
      filter = filterNow();
    }
    for (const device of block) {
      for (let fromMs = startMs; fromMs < endMs; ) {
        if (work >= STEP_ROWS) {
          work = 0;
          yield;
          filter = filterNow();
        }
        const slice = new Slice(device, { startMs: fromMs, endMs }, filter, dictionary);
        const isRead = readsAll || slice.isFiltered;
        const to = isRead ? Math.min(slice.to, slice.from + STEP_ROWS) : slice.to;
        if (slice.from < to) visit(slice, to);
        fromMs = to < slice.to ? slice.timeAt(to) : endMs;
        work += LOOK_ROWS + (isRead ? to - slice.from : 0);
      }
    }
  }
}

/** Adds the devices that have a matching record. */
export function* addDevices(scan: MemoryScan, devices: Set<DeviceId>): Steps<void> {
  yield* visitSlices(scan, scan.range, false, (slice, to) => {
    if (slice.count(slice.from, to) > 0) devices.add(slice.device.id);
  });
}

/** Adds the keys of matching records, and no more than one too many. */
export function* addKeys(scan: MemoryScan, keys: RecordKey[], keysMax: number): Steps<void> {
  yield* visitSlices(scan, scan.range, true, (slice, to) => {
    if (keys.length > keysMax) return;
    slice.visit(slice.from, to, (chunk, row) => {
      keys.push({ device: slice.device, timestampMs: timestampAt(chunk, row) });
    });
  });
}

/** Takes positions, those of a device in order of time. */
export interface PositionSink {
  add(deviceId: DeviceId, latitude: number, longitude: number): void;
}

/** Adds all matching positions; returns the bytes of their records. */
export function* addPositions(scan: MemoryScan, sink: PositionSink): Steps<number> {
  let bytes = 0;
  yield* visitSlices(scan, scan.range, true, (slice, to) => {
    const { id } = slice.device;
    slice.visitPositions(slice.from, to, (latitude, longitude) => sink.add(id, latitude, longitude));
    bytes += slice.bytesRead;
  });
  return bytes;
}
