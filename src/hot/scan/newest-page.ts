import type { TimeRange } from "../../model/time/range.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Device } from "../devices/device.ts";
import type { DeviceBlock } from "../devices/device-list.ts";

/** A page of an app's devices by their newest records. */

export interface NewestPageQuery {
  /** Of newest records. */
  readonly range: TimeRange;
  /** Leaves out devices whose newest record has a greater horizontal accuracy. */
  readonly accuracyMetersMax: number | null;
  readonly offset: number;
  readonly limit: number;
}

export interface PageFound {
  /** By number. */
  readonly devices: readonly number[];
  /** Matching devices before paging, of all blocks that were added. */
  readonly total: number;
}

/** Counts the devices that match, of one block after the other, and keeps those of the page. */
export class NewestPage {
  /** By number. */
  readonly #devices: number[] = [];
  /** The first of them, as they were when others may have had their turn: the number may be another's by now. */
  readonly #held: Device[] = [];
  readonly #app: AppDevices;
  readonly #query: NewestPageQuery;
  /** Whether a device matches that reported at the start of the range or later. */
  readonly #isOpen: boolean;
  #total = 0;

  constructor(app: AppDevices, query: NewestPageQuery) {
    this.#app = app;
    this.#query = query;
    this.#isOpen = query.range.endMs === Number.POSITIVE_INFINITY && query.accuracyMetersMax === null;
  }

  get isFull(): boolean {
    return this.#devices.length === this.#query.limit;
  }

  /** Returns how many devices it had to look at to count those that match. */
  add(block: DeviceBlock): number {
    const { numbers } = block;
    const { range, offset } = this.#query;
    const isKnown = this.#isOpen && block.isSince(range.startMs);
    const matching = isKnown ? numbers.length : this.#count(numbers);
    if (!isKnown && matching === numbers.length) block.noteSince(range.startMs);
    if (this.#total + matching > offset && !this.isFull) this.#collect(numbers);
    this.#total += matching;
    return isKnown ? 0 : numbers.length;
  }

  /** Has to be said before others have their turn. */
  hold(): void {
    const { table } = this.#app;
    for (const number of this.#devices.slice(this.#held.length)) this.#held.push(table.byNumber(number));
  }

  /** Without devices that meanwhile went, matched no more, or were not listed any more. */
  found(isListed: (device: Device) => boolean): PageFound {
    const devices = this.#devices.filter((number, index) => {
      const held = this.#held[index];
      if (held === undefined) return true;
      return !held.isGone && isListed(held) && this.#matches(number);
    });
    return { devices, total: this.#total - (this.#devices.length - devices.length) };
  }

  #collect(numbers: readonly number[]): void {
    const { offset } = this.#query;
    let passed = this.#total;
    for (const number of numbers) {
      if (this.isFull) return;
      if (this.#matches(number) && ++passed > offset) this.#devices.push(number);
    }
  }

  #count(numbers: readonly number[]): number {
    const { range, accuracyMetersMax } = this.#query;
    if (accuracyMetersMax !== null) return numbers.filter((number) => this.#matches(number)).length;
    const { startMs, endMs } = range;
    const { newestTimes } = this.#app;
    let count = 0;
    // Without a jump that depends on a time: the processor would guess wrong every other time.
    for (let i = 0; i < numbers.length; i++) {
      const timeMs = newestTimes.of(numbers[i]!);
      count += Number(timeMs >= startMs) & Number(timeMs < endMs);
    }
    return count;
  }

  #matches(device: number): boolean {
    const { range, accuracyMetersMax } = this.#query;
    const timeMs = this.#app.newestTimes.of(device);
    if (timeMs < range.startMs || timeMs >= range.endMs) return false;
    if (accuracyMetersMax === null) return true;
    // A position without an accuracy has NaN, which is never greater.
    return !(this.#app.newestAccuracyMeters(device) > accuracyMetersMax);
  }
}
