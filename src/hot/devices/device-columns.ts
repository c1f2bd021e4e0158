import { FloatColumn, NumberColumn } from "../../lib/tables/columns.ts";
import { PackedTexts } from "../../lib/tables/packed-texts.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import { DeviceInstants } from "../hidden/device-instants.ts";
import { LateFixes } from "../late/late-fixes.ts";
import type { RowPages } from "../records/row-pages.ts";
import { Tracks } from "../records/tracks.ts";
import { UserCounts } from "./user-counts.ts";

/** Which records in memory are copies of what devices reported that show as others. */
export interface Copies {
  has(device: number, timestampMs: number): boolean;
  /** How many devices show as this one. */
  sourceCount(device: number): number;
  /** Forgets a device that has no records in memory. */
  unwatch(device: number): void;
  /** Forgets what it knows of records of the devices' own in a range. */
  forgetOwn(startMs: number, endMs: number): void;
}

/** Columns of what is known of an app's devices, by device number. As objects, a million devices took 1 KB each. */
export class DeviceColumns {
  readonly ids = new PackedTexts();
  /** How often each number became free. A `Device` compares it to know that it is gone. */
  readonly removals = new NumberColumn();
  readonly tracks: Tracks;
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  readonly currentUsers = new NumberColumn();
  /** Timestamp of the newest archived record; -Infinity if there is none. */
  readonly archivedTimes = new FloatColumn();
  /** The fixes of each instant that has several. */
  readonly fixes = new LateFixes();
  /** The instants whose record in memory is a row of a correction. */
  readonly corrected = new DeviceInstants();
  /** Which records in memory are copies of what devices reported that show as others; null if none ever was. */
  copies: Copies | null = null;
  /** How many of the records in memory belong to each user. */
  readonly userCounts = new UserCounts();

  constructor(pages: RowPages) {
    this.tracks = new Tracks(pages);
  }

  /** Timestamp of the newest record, in memory or archived; -Infinity before the first. */
  newestMs(device: number): number {
    return Math.max(this.tracks.newestMs(device), this.archivedTimes.of(device));
  }
}

/**
 * The time of each device's newest record, in a column for searches that read thousands, and device counts by UTC day.
 */
export class NewestTimes {
  readonly #times = new FloatColumn();
  /** Device counts by day of the newest record. */
  readonly #devices = new Map<UtcDay, number>();

  /** In milliseconds; -Infinity if the device has none. */
  of(device: number): number {
    return this.#times.of(device);
  }

  set(device: number, timestampMs: number): void {
    const before = utcDayOf(this.#times.of(device));
    const day = utcDayOf(timestampMs);
    this.#times.set(device, timestampMs);
    if (day === before) return;
    this.#count(before, -1);
    this.#count(day, 1);
  }

  remove(device: number): void {
    this.#count(utcDayOf(this.#times.of(device)), -1);
    this.#times.set(device, Number.NEGATIVE_INFINITY);
  }

  /** Devices whose newest record is of this day or a later one. */
  countFrom(first: UtcDay): number {
    let count = 0;
    for (const [day, devices] of this.#devices) if (day >= first) count += devices;
    return count;
  }

  #count(day: UtcDay, devices: number): void {
    const others = (this.#devices.get(day) ?? 0) + devices;
    if (others > 0) this.#devices.set(day, others);
    else this.#devices.delete(day);
  }
}

/** The log entry that last touched each device of an app, and the last one that touched any. */
export class Touches {
  #sequence = 0;
  #removals = 0;
  #begunAt = 0;
  readonly #byDevice = new FloatColumn();

  /** Records that an entry added or changed a record of the device, not necessarily the newest one. */
  note(device: number, sequence: number): void {
    this.#byDevice.set(device, sequence);
    this.#sequence = sequence;
  }

  /** Removes a device, whose number another device may get. */
  remove(device: number): void {
    this.#byDevice.set(device, Number.NEGATIVE_INFINITY);
    this.#removals++;
  }

  /** Ends the start: from now on each device counts as touched by this entry at least. */
  begin(sequence: number): void {
    this.#begunAt = sequence;
    this.#sequence = sequence;
  }

  /** No entry after this one has changed anything of the app. */
  get sequence(): number {
    return this.#sequence;
  }

  /** No entry after this one has changed anything of the device. */
  sequenceOf(device: number): number {
    return Math.max(this.#byDevice.of(device), this.#begunAt);
  }

  /** Differs whenever anything of the app has changed, within one run of the process. */
  get version(): string {
    return `${this.#sequence}.${this.#removals}`;
  }
}
