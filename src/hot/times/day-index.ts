import { assert } from "../../lib/assert.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_HOUR } from "../../model/time/units.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { DeviceList } from "../devices/device-list.ts";
import { timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { visitRecords } from "../scan/memory-scan.ts";
import { DeviceSet } from "./device-set.ts";
import { deviceOf, LEAF_KEYS, mergeRuns, msOf, TimeKeys, timeKey } from "./time-keys.ts";

/** Keys sorted per run, in half a millisecond. */
const RUN_KEYS = 8192;
/** Leaves filled per step. */
const STEP_LEAVES = 16;
/** Pending keys added per step. */
const STEP_NOTED = 1024;
/** Keys read per step. */
const STEP_LOOKS = 4096;

/** If more records come in between two steps, the query that builds the index is assumed to be gone. */
const NOTED_UNASKED_MAX = 65_536;

/** An hour with this many records has a set of its devices, which takes less memory than its keys. */
const HOUR_KEYS_MIN = 8192;

/**
 * An index by time of all records of an app on one UTC day, and of their devices. The first query builds it, in steps;
 * records that come in are added, also meanwhile. No record leaves before the day is sealed.
 */
export class DayIndex {
  /** When a query last used it, by the process's own clock. */
  askedMs = 0;
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #keys = new TimeKeys();
  readonly #devices = new DeviceSet();
  /** The devices of each hour; only of hours that a query needed. */
  readonly #hours: (HourDevices | undefined)[] = new Array(24);
  /** Keys of records that came in while the index is built. */
  #noted: number[] = [];
  #notedSinceStep = 0;
  #isWhole = false;
  /** Null once the index is built: an engine may retain what the steps used for as long as the generator exists. */
  #making: Steps<void> | null;

  constructor(day: UtcDay, devices: DeviceList, dictionary: Dictionary) {
    this.#startMs = utcDayStartMs(day);
    this.#endMs = utcDayStartMs(nextUtcDay(day));
    this.#making = this.#make(devices, dictionary);
  }

  /** Whether the index has all records of the day. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Takes a step of building the index. */
  proceed(): void {
    this.#notedSinceStep = 0;
    if (this.#making?.next().done !== true) return;
    assert(this.#isWhole, "an index is whole once it is built");
    this.#making = null;
  }

  /** Adds a record that came in. */
  note(timestampMs: number, device: number): void {
    const key = timeKey(timestampMs - this.#startMs, device);
    if (this.#isWhole) {
      this.#add(key);
      return;
    }
    this.#noted.push(key);
    this.#notedSinceStep++;
  }

  /** Whether the query that builds it has gone away before it was whole: pending keys would grow with every record. */
  get isLeft(): boolean {
    return this.#notedSinceStep > NOTED_UNASKED_MAX;
  }

  /** Whether the range includes the whole day. */
  isWithin({ startMs, endMs }: TimeRange): boolean {
    return startMs <= this.#startMs && endMs >= this.#endMs;
  }

  /** How many records of the day are older than this. */
  countBefore(timestampMs: number): number {
    return this.#keys.countBefore(this.#keyAt(timestampMs));
  }

  /** The records from index `from` to before `to` in order of time, then of device numbers. */
  entries(from: number, to: number): DayEntry[] {
    return Array.from(this.#keys.slice(from, to), (key) => {
      return { timestampMs: this.#startMs + msOf(key), device: deviceOf(key) };
    });
  }

  /** Adds the devices with a record in the range. */
  *addDevices(range: TimeRange, devices: DeviceSet): Steps<void> {
    devices.addAll(this.isWithin(range) ? this.#devices : yield* this.#devicesBetween(range));
  }

  get deviceCount(): number {
    return this.#devices.size;
  }

  #keyAt(timestampMs: number): number {
    const ms = Math.min(Math.max(timestampMs, this.#startMs), this.#endMs) - this.#startMs;
    return timeKey(ms, 0);
  }

  #add(key: number): void {
    if (!this.#keys.add(key)) return;
    const device = deviceOf(key);
    this.#devices.add(device);
    this.#hours[Math.floor(msOf(key) / MS_PER_HOUR)]?.devices.add(device);
  }

  /** Reads whole hours first, since they may include all devices of the day. */
  *#devicesBetween({ startMs, endMs }: TimeRange): Steps<DeviceSet> {
    const devices = new DeviceSet();
    const fromMs = Math.max(startMs, this.#startMs);
    const toMs = Math.min(endMs, this.#endMs);
    const firstHour = Math.ceil((fromMs - this.#startMs) / MS_PER_HOUR);
    const endHour = Math.max(firstHour, Math.floor((toMs - this.#startMs) / MS_PER_HOUR));
    for (let hour = firstHour; hour < endHour; hour++) {
      if (devices.size === this.deviceCount) return devices;
      yield* this.#addHour(hour, devices);
    }
    yield* this.#addBetween(fromMs, Math.min(toMs, this.#hourMs(firstHour)), devices);
    yield* this.#addBetween(Math.max(fromMs, this.#hourMs(endHour)), toMs, devices);
    return devices;
  }

  #hourMs(hour: number): number {
    return this.#startMs + hour * MS_PER_HOUR;
  }

  /** Adds the devices of an hour. Records that come in while its set is built may be added twice, which is harmless. */
  *#addHour(hour: number, devices: DeviceSet): Steps<void> {
    const [startMs, endMs] = [this.#hourMs(hour), this.#hourMs(hour + 1)];
    if (this.countBefore(endMs) - this.countBefore(startMs) < HOUR_KEYS_MIN) {
      yield* this.#addBetween(startMs, endMs, devices);
      return;
    }
    this.#hours[hour] ??= { devices: new DeviceSet(), isWhole: false };
    const known = this.#hours[hour];
    if (!known.isWhole) {
      yield* this.#addBetween(startMs, endMs, known.devices);
      known.isWhole = true;
    }
    devices.addAll(known.devices);
    yield; // Adding a set of millions of devices takes a millisecond.
  }

  /** Adds the devices of a range by reading each key. Records that come in between two steps may or may not be seen. */
  *#addBetween(startMs: number, endMs: number, devices: DeviceSet): Steps<void> {
    const endKey = this.#keyAt(endMs);
    for (let nextKey = this.#keyAt(startMs); nextKey < endKey; ) {
      const from = this.#keys.countBefore(nextKey);
      const to = Math.min(this.#keys.countBefore(endKey), from + STEP_LOOKS);
      const keys = this.#keys.slice(from, to);
      for (let index = 0; index < keys.length; index++) devices.add(deviceOf(keys[index]!));
      if (keys.length > 0) yield;
      if (keys.length < STEP_LOOKS) return;
      nextKey = keys[keys.length - 1]! + 1;
    }
  }

  *#make(devices: DeviceList, dictionary: Dictionary): Steps<void> {
    const keys = yield* mergeRuns(yield* this.#readRuns(devices, dictionary));
    for (let start = 0; start < keys.length; start += LEAF_KEYS) {
      const leaf = keys.slice(start, start + LEAF_KEYS);
      this.#keys.append(leaf);
      for (const key of leaf) this.#devices.add(deviceOf(key));
      if ((start / LEAF_KEYS) % STEP_LEAVES === 0) yield;
    }
    // Some of these records were in the tracks already when those were read; `#add()` ignores them.
    while (this.#noted.length > 0) {
      for (const key of this.#noted.splice(-STEP_NOTED)) this.#add(key);
      yield;
    }
    this.#noted = [];
    this.#isWhole = true;
  }

  /** Sorted runs of keys of the day's records in the tracks. */
  *#readRuns(devices: DeviceList, dictionary: Dictionary): Steps<Float64Array[]> {
    const runs = new KeyRuns();
    const range = { startMs: this.#startMs, endMs: this.#endMs };
    const scan = { devices, range, filter: () => EVERY_RECORD, dictionary };
    yield* visitRecords(scan, range, true, (records, to) => {
      const { number } = records.device;
      records.visit(records.from, to, (chunk, row) =>
        runs.add(timeKey(timestampAt(chunk, row) - this.#startMs, number)),
      );
    });
    return runs.all();
  }
}

const EVERY_RECORD = { accuracyMetersMax: null, user: null, originals: false };

/** Sorts keys in runs of `RUN_KEYS`. */
class KeyRuns {
  readonly #runs: Float64Array[] = [];
  #run = new Float64Array(RUN_KEYS);
  #count = 0;

  add(key: number): void {
    this.#run[this.#count++] = key;
    if (this.#count < RUN_KEYS) return;
    this.#runs.push(this.#run.sort());
    this.#run = new Float64Array(RUN_KEYS);
    this.#count = 0;
  }

  all(): Float64Array[] {
    return [...this.#runs, this.#run.slice(0, this.#count).sort()];
  }
}

export interface DayEntry {
  readonly timestampMs: number;
  /** Number of the device. */
  readonly device: number;
}

interface HourDevices {
  readonly devices: DeviceSet;
  /** Whether all records of the hour were read. */
  isWhole: boolean;
}
