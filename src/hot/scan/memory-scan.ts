import type { Steps } from "../../lib/schedule/in-turns.ts";
import type { TimeRange } from "../../time/range.ts";
import type { Device } from "../devices/device.ts";
import type { Dictionary } from "../records/dictionary.ts";
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

/** Which records in memory a question is about. */
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
