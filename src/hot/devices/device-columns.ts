import { FloatColumn, NumberColumn } from "../../lib/tables/columns.ts";
import { PackedTexts } from "../../lib/tables/packed-texts.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import { LateFixes } from "../late/late-fixes.ts";
import type { RowPages } from "../records/row-pages.ts";
import { Tracks } from "../records/tracks.ts";
import { Holders } from "./holders.ts";

/** What is known of an app's devices, by number: an object for each of a million, and its parts, took a kilobyte. */
export class DeviceColumns {
  /** The ids of devices, by number. */
  readonly ids = new PackedTexts();
  /** How often each number became free: by that, a `Device` knows that it is gone. */
  readonly removals = new NumberColumn();
  /** The records in memory. */
  readonly tracks: Tracks;
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  readonly currentUsers = new NumberColumn();
  /** Timestamp of the newest record that the archive holds; -Infinity if it holds none. */
  readonly sealedTimes = new FloatColumn();
  /** The fixes of each instant of which several are kept. */
  readonly fixes = new LateFixes();
  /** How many of the records in memory each user made. */
  readonly holders = new Holders();

  constructor(pages: RowPages) {
    this.tracks = new Tracks(pages);
  }

  /** Timestamp of the newest record, wherever it is; -Infinity before the first. */
  newestMs(device: number): number {
    return Math.max(this.tracks.newestMs(device), this.sealedTimes.of(device));
  }
}

/** The time of each device's newest record, in a column for searches that look at thousands, and devices by UTC day. */
export class NewestTimes {
  readonly #times = new FloatColumn();
  /** By day of the newest record. */
  readonly #devices = new Map<UtcDay, number>();

  /** In milliseconds; -Infinity if the device has none. */
  of(device: number): number {
    return this.#times.of(device);
  }

  /** The device's newest record was made then. */
  set(device: number, timestampMs: number): void {
    const before = utcDayOf(this.#times.of(device));
    const day = utcDayOf(timestampMs);
    this.#times.set(device, timestampMs);
    if (day === before) return;
    this.#count(before, -1);
    this.#count(day, 1);
  }

  /** The device is gone. */
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

/** By which entry of the log each device of an app was last touched, and when one was last forgotten. */
export class Touches {
  #sequence = 0;
  #removals = 0;
  #begunAt = 0;
  readonly #byDevice = new FloatColumn();

  /** An entry changed something of the device: a record of it is new or other than before, newest or not. */
  note(device: number, sequence: number): void {
    this.#byDevice.set(device, sequence);
    this.#sequence = sequence;
  }

  /** The device is gone, and its number may become another's. */
  remove(device: number): void {
    this.#byDevice.set(device, Number.NEGATIVE_INFINITY);
    this.#removals++;
  }

  /** The start is over: everything up to this entry is known, whichever entry touched the app. */
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

  /** Another text whenever anything of the app is other than before, as long as the process runs. */
  get version(): string {
    return `${this.#sequence}.${this.#removals}`;
  }
}
