import { FloatColumn } from "../../lib/tables/columns.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";

/** When the devices of an app reported last. */

/** The time of each device's newest record, in a column for those who look at thousands, and devices by UTC day. */
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
