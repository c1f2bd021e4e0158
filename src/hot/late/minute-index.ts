import { grown } from "../../lib/tables/columns.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";

/** An index of the rows of one day by minute. */

/** What is known of a minute of a day. */
export interface Minute {
  readonly startMs: number;
  readonly endMs: number;
  /** No fewer rows than there are. */
  readonly rows: number;
}

/**
 * Which devices have rows in which minutes of a day. It may name too many, and count too many rows: rows are added
 * and never taken out, so that whoever fills it may do so while rows come and go.
 */
export class MinuteIndex {
  /** By number of the minute since 1970. */
  readonly #minutes = new Map<number, DevicesOfMinute>();

  add(timestampMs: number, device: number): void {
    const number = Math.floor(timestampMs / MS_PER_MINUTE);
    let minute = this.#minutes.get(number);
    if (minute === undefined) {
      minute = new DevicesOfMinute();
      this.#minutes.set(number, minute);
    }
    minute.add(device);
  }

  /** The minutes that have rows in a range, in order of time. */
  minutes({ startMs, endMs }: TimeRange): Minute[] {
    return this.#numbersWithin(startMs, endMs).map((number) => ({
      startMs: number * MS_PER_MINUTE,
      endMs: (number + 1) * MS_PER_MINUTE,
      rows: this.#minutes.get(number)!.rows,
    }));
  }

  /** The devices of the minutes that a range touches, some of them several times. */
  *devices({ startMs, endMs }: TimeRange): Iterable<number> {
    for (const number of this.#numbersWithin(startMs, endMs)) yield* this.#minutes.get(number)!.devices();
  }

  #numbersWithin(startMs: number, endMs: number): number[] {
    const first = Math.floor(startMs / MS_PER_MINUTE);
    return [...this.#minutes.keys()]
      .filter((number) => number >= first && number * MS_PER_MINUTE < endMs)
      .sort((a, b) => a - b);
  }
}

const DEVICES_INITIAL = 2; // Late rows are mostly few.

class DevicesOfMinute {
  rows = 0;
  #devices = new Uint32Array(DEVICES_INITIAL);
  #count = 0;

  /** Rows of a device mostly come together, and then it is noted once. */
  add(device: number): void {
    this.rows++;
    if (this.#count > 0 && this.#devices[this.#count - 1] === device) return;
    if (this.#count === this.#devices.length) this.#devices = grown(this.#devices);
    this.#devices[this.#count++] = device;
  }

  /** Those that are there by now, and those that come while the caller looks. */
  *devices(): Iterable<number> {
    for (let index = 0; index < this.#count; index++) yield this.#devices[index]!;
  }
}
