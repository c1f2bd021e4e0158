import { type UtcDay, utcDayOf } from "../../time/utc-day.ts";

/** When the devices of an app reported last. */

const NEVER_MS = Number.NEGATIVE_INFINITY;

/** The time of each device's newest record, in a column for those who look at thousands, and devices by UTC day. */
export class NewestTimes {
  #timesMs = new Float64Array(0);
  /** By day of the newest record. */
  readonly #devices = new Map<UtcDay, number>();

  /** Milliseconds by device number; until another device is added. */
  get byDevice(): Float64Array {
    return this.#timesMs;
  }

  /** The device's newest record was made then. */
  set(device: number, timestampMs: number): void {
    if (device >= this.#timesMs.length) this.#grow(device + 1);
    const before = utcDayOf(this.#timesMs[device]!);
    const day = utcDayOf(timestampMs);
    this.#timesMs[device] = timestampMs;
    if (day === before) return;
    this.#count(before, -1);
    this.#count(day, 1);
  }

  /** The device is gone. */
  remove(device: number): void {
    this.#count(utcDayOf(this.#timesMs[device]!), -1);
    this.#timesMs[device] = NEVER_MS;
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

  #grow(devices: number): void {
    const timesMs = new Float64Array(Math.max(devices, 2 * this.#timesMs.length)).fill(NEVER_MS);
    timesMs.set(this.#timesMs);
    this.#timesMs = timesMs;
  }
}
