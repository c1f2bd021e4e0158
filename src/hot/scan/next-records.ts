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

/*
 * Goes on behind a record, for those who read all there is: what a page costs does not grow with how many came before.
 * Each device is looked at once a call, so a call should ask for many.
 */

/** What a step may cost, in records; to find those of a device costs as much as 32. */
const STEP_RECORDS = 8192;
const LOOK_RECORDS = 32;
/** Of one device that are added before the others' are looked at again. */
const ADDED_MAX = 2048;

/** A record that was read. */
export interface ReadUpTo {
  readonly timestampMs: number;
  readonly deviceId: DeviceId;
}

/** So many records of a range behind another in order of time, then of devices; fewer only where there are no more. */
export function* findNext(
  { devices, range, filter: filterNow, dictionary }: MemoryScan,
  after: ReadUpTo | null,
  count: number,
): Steps<RecordKey[]> {
  const next = new NextRecords(range, count);
  const afterMs = after?.timestampMs ?? Number.NEGATIVE_INFINITY;
  let isBehind = after === null; // Of an instant, devices behind the one that was read are not read yet.
  let filter = filterNow();
  let work = 0;
  for (const block of devices.blocks()) {
    if (block.length === 0) {
      yield; // The list has taken a step of its own.
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
        if (next.add(records, to)) work = STEP_RECORDS; // It has sorted them.
      }
    }
  }
  return next.inOrder();
}

/** An index of a key, beside which a window of half a year has room in a number. */
const INDEXES = 2 ** 19;
/** How long a range may be that is read, and how many records may be asked for. */
export const NEXT_MS_MAX = 2 ** 33;
const COUNT_MAX = INDEXES / 4;

/** Keeps the first of the records that it is given, those of an instant in the order of devices. */
class NextRecords {
  /** What is not older is not among the first: of an instant, those that were seen before come first. */
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

  /** Numbers are sorted ten times as fast as what needs to be compared by a function. */
  inOrder(): RecordKey[] {
    const keys = new Float64Array(this.#times.length);
    for (let i = 0; i < keys.length; i++) keys[i] = (this.#times[i]! - this.#startMs) * INDEXES + i;
    return Array.from(keys.sort().subarray(0, this.#count), (key) => {
      const index = key % INDEXES;
      return { device: this.#devices[index]!, timestampMs: this.#times[index]! };
    });
  }
}
