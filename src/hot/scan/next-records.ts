import { assert } from "../../lib/assert.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import { DeviceRecords } from "./device-records.ts";
import type { RecordKey } from "./first-records.ts";
import type { MemoryScan } from "./memory-scan.ts";

// Reads on behind a record, for clients that read everything: the cost of a page does not grow with the pages before.
// Each call visits every device once, so it should read many records.

/** What a step may cost, counted in records; finding those of a device costs as much as 32. */
const STEP_RECORDS = 8192;
const LOOK_RECORDS = 32;
/** Records of one device that are added before `endMs` is applied to the rest. */
const ADDED_MAX = 2048;

/** The record that was read last. */
export interface ReadUpTo {
  readonly timestampMs: number;
  readonly deviceId: DeviceId;
}

/** The next `count` records of a range, in order of time, then of devices; fewer only if there are no more. */
export function* findNext(
  { devices, range, filter: filterNow, dictionary }: MemoryScan,
  after: ReadUpTo | null,
  count: number,
): Steps<RecordKey[]> {
  const next = new NextRecords(range, count);
  const afterMs = after?.timestampMs ?? Number.NEGATIVE_INFINITY;
  let isBehind = after === null; // At the time of `after`, only devices behind its device are still to be read.
  let filter = filterNow();
  let work = 0;
  for (const block of devices.blocks()) {
    if (block.length === 0) {
      yield; // The list has just taken a step.
      filter = filterNow();
    }
    for (const device of block) {
      isBehind ||= compareUtf8(device.id, after!.deviceId) > 0;
      for (let fromMs = Math.max(range.startMs, isBehind ? afterMs : afterMs + 1); fromMs < next.endMs; ) {
        if (work >= STEP_RECORDS) {
          work = 0;
          yield;
          filter = filterNow();
        }
        const records = new DeviceRecords(device, { startMs: fromMs, endMs: next.endMs }, filter, dictionary);
        const to = Math.min(records.to, records.from + ADDED_MAX);
        fromMs = to < records.to ? records.timeAt(to) : Number.POSITIVE_INFINITY;
        work += LOOK_RECORDS + Math.max(0, to - records.from);
        if (next.add(records, to)) work = STEP_RECORDS; // It sorted its records.
      }
    }
  }
  return next.inOrder();
}

/** The range of an index in a key, which leaves room in a number for the time within `NEXT_MS_MAX`. */
const INDEXES = 2 ** 19;
/** The longest range, and the most records of a call. */
export const NEXT_MS_MAX = 2 ** 33;
const COUNT_MAX = INDEXES / 4;

/** Collects the first records in order of time, then of devices. Records are added in the order of devices. */
class NextRecords {
  /** A record at or after this time is not among the first: at an equal time, the device that was seen before wins. */
  endMs: number;
  readonly #startMs: number;
  readonly #count: number;
  #devices: Device[] = [];
  #times: number[] = [];

  constructor({ startMs, endMs }: TimeRange, count: number) {
    assert(endMs - startMs <= NEXT_MS_MAX && count <= COUNT_MAX, "keys are exact");
    this.#startMs = startMs;
    this.endMs = endMs;
    this.#count = count;
  }

  /** Returns whether that was much work. */
  add(records: DeviceRecords, to: number): boolean {
    const { device } = records;
    records.visit(records.from, to, (chunk, row) => {
      this.#devices.push(device);
      this.#times.push(timestampAt(chunk, row));
    });
    if (this.#times.length < 2 * this.#count) return false;
    const first = this.inOrder();
    this.#devices = first.map(({ device }) => device);
    this.#times = first.map(({ timestampMs }) => timestampMs);
    this.endMs = this.#times.at(-1)!;
    return true;
  }

  /** Sorts numbers, which is ten times as fast as sorting with a compare function. */
  inOrder(): RecordKey[] {
    const keys = new Float64Array(this.#times.length);
    for (let i = 0; i < keys.length; i++) keys[i] = (this.#times[i]! - this.#startMs) * INDEXES + i;
    return Array.from(keys.sort().subarray(0, this.#count), (key) => {
      const index = key % INDEXES;
      return { device: this.#devices[index]!, timestampMs: this.#times[index]! };
    });
  }
}
