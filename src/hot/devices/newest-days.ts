import { type UtcDay, utcDayOf } from "../../time/utc-day.ts";

const NO_DAY = -1;

/** The UTC day of each device's newest record, and how many devices there are of each day: 4 bytes a device. */
export class NewestDays {
  #dayOf = new Int32Array(0);
  readonly #devices = new Map<number, number>();

  /** The device's newest record was made then. */
  set(device: number, timestampMs: number): void {
    const day = utcDayOf(timestampMs);
    if (device < this.#dayOf.length && this.#dayOf[device] === day) return;
    if (device >= this.#dayOf.length) this.#grow(device + 1);
    this.remove(device);
    this.#dayOf[device] = day;
    this.#devices.set(day, (this.#devices.get(day) ?? 0) + 1);
  }

  /** The device is gone. */
  remove(device: number): void {
    const day = this.#dayOf[device]!;
    this.#dayOf[device] = NO_DAY;
    const others = (this.#devices.get(day) ?? 0) - 1;
    if (others > 0) this.#devices.set(day, others);
    else this.#devices.delete(day);
  }

  /** Devices whose newest record is of this day or a later one. */
  countFrom(first: UtcDay): number {
    let count = 0;
    for (const [day, devices] of this.#devices) if (day >= first) count += devices;
    return count;
  }

  #grow(devices: number): void {
    const days = new Int32Array(Math.max(devices, 2 * this.#dayOf.length)).fill(NO_DAY);
    days.set(this.#dayOf);
    this.#dayOf = days;
  }
}
