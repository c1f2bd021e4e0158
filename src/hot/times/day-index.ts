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

/** Keys that are sorted at once, half a millisecond of work. */
const RUN_KEYS = 8192;
/** Leaves that are filled in a step. */
const STEP_LEAVES = 16;
/** Keys that are put in place one by one in a step. */
const STEP_NOTED = 1024;
/** Keys that are looked at in a step. */
const STEP_LOOKS = 4096;

/** If more records come in between two steps, no query makes the index any more. */
const NOTED_UNASKED_MAX = 65_536;

/** An hour with so many records has a set of its devices, which takes less than its keys. */
const HOUR_KEYS_MIN = 8192;

/**
 * All records of an app's UTC day by time, and which devices they are of. Whoever asks first makes it, in steps; from
 * then on, and also meanwhile, records are noted as they come in. None leaves before the day is sealed.
 */
export class DayIndex {
  /** When it was asked for last. */
  askedMs = 0;
  readonly #startMs: number;
  readonly #endMs: number;
  readonly #keys = new TimeKeys();
  readonly #devices = new DeviceSet();
  /** By hour, its devices; only where somebody asked about a part of the day. */
  readonly #hours: (HourDevices | undefined)[] = new Array(24);
  /** Keys of what came while it was made. */
  #noted: number[] = [];
  #notedSinceStep = 0;
  #isWhole = false;
  /** Null once it is made: an engine may keep what the steps held for as long as somebody holds on to them. */
  #making: Steps<void> | null;

  constructor(day: UtcDay, devices: DeviceList, dictionary: Dictionary) {
    this.#startMs = utcDayStartMs(day);
    this.#endMs = utcDayStartMs(nextUtcDay(day));
    this.#making = this.#make(devices, dictionary);
  }

  /** Whether all records of the day are in it. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Does a step towards that. */
  proceed(): void {
    this.#notedSinceStep = 0;
    if (this.#making?.next().done !== true) return;
    assert(this.#isWhole, "an index is whole once it is made");
    this.#making = null;
  }

  /** A record of the day has come in. */
  note(timestampMs: number, device: number): void {
    const key = timeKey(timestampMs - this.#startMs, device);
    if (this.#isWhole) {
      this.#add(key);
      return;
    }
    this.#noted.push(key);
    this.#notedSinceStep++;
  }

  /** Whether the query that made it ended before it was whole: what is noted would grow with every record. */
  get isLeft(): boolean {
    return this.#notedSinceStep > NOTED_UNASKED_MAX;
  }

  /** Whether all of the day lies in the range. */
  isWithin({ startMs, endMs }: TimeRange): boolean {
    return startMs <= this.#startMs && endMs >= this.#endMs;
  }

  /** How many records of the day are older than this. */
  countBefore(timestampMs: number): number {
    return this.#keys.countBefore(this.#keyAt(timestampMs));
  }

  /** Records `from` to `to` in order of time, those of an instant in order of device numbers. */
  entries(from: number, to: number): DayEntry[] {
    return Array.from(this.#keys.slice(from, to), (key) => {
      return { timestampMs: this.#startMs + msOf(key), device: deviceOf(key) };
    });
  }

  /** Adds the devices with a record in the range. */
  *addDevices(range: TimeRange, devices: DeviceSet): Steps<void> {
    devices.addAll(this.isWithin(range) ? this.#devices : yield* this.#devicesBetween(range));
  }

  /** Devices with a record of the day. */
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

  /** Whole hours first, since all devices of the day may be among theirs. */
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

  /** Adds the devices of an hour. Its set is filled while records come in: to be added twice does no harm. */
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
    yield; // Of millions of devices a set takes a millisecond.
  }

  /** Adds the devices of a range by looking at each key. Those that come in between two steps are seen or not. */
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
    // Of what came meanwhile, some was in the tracks when those were read.
    while (this.#noted.length > 0) {
      for (const key of this.#noted.splice(-STEP_NOTED)) this.#add(key);
      yield;
    }
    this.#noted = [];
    this.#isWhole = true;
  }

  /** Keys of the day's records, as the tracks have them, in sorted runs. */
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

const EVERY_RECORD = { accuracyMetersMax: null, user: null };

/** Sorts keys a run at a time. */
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

/** A record of a day index. */
export interface DayEntry {
  readonly timestampMs: number;
  /** Number of the device. */
  readonly device: number;
}

interface HourDevices {
  readonly devices: DeviceSet;
  /** Whether all records of the hour were looked at. */
  isWhole: boolean;
}
