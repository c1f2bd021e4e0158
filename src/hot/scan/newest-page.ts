import type { TimeRange } from "../../time/range.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Device } from "../devices/device.ts";
import type { DeviceBlock } from "../devices/device-block.ts";

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
  readonly #devices: Device[] = [];
  readonly #app: AppDevices;
  readonly #query: NewestPageQuery;
  #total = 0;

  constructor(app: AppDevices, query: NewestPageQuery) {
    this.#app = app;
    this.#query = query;
  }

  get isFull(): boolean {
    return this.#devices.length === this.#query.limit;
  }

  add(block: DeviceBlock): void {
    const { numbers } = block;
    const matching = this.#matchesAll(block) ? numbers.length : this.#count(numbers);
    if (this.#total + matching > this.#query.offset && !this.isFull) this.#collect(numbers);
    this.#total += matching;
  }

  /** Without devices that are gone by now, match no more, or are not listed any more. */
  found(isListed: (device: Device) => boolean): PageFound {
    const { table } = this.#app;
    const still = this.#devices
      .filter((device) => table.findByNumber(device.number) === device && isListed(device))
      .map(({ number }) => number)
      .filter((number) => this.#matches(number));
    return { devices: still, total: this.#total - (this.#devices.length - still.length) };
  }

  #collect(numbers: readonly number[]): void {
    const { table } = this.#app;
    const { offset } = this.#query;
    let passed = this.#total;
    for (const number of numbers) {
      if (this.isFull) return;
      if (this.#matches(number) && ++passed > offset) this.#devices.push(table.byNumber(number));
    }
  }

  #count(numbers: readonly number[]): number {
    const { range, accuracyMetersMax } = this.#query;
    if (accuracyMetersMax !== null) return numbers.filter((number) => this.#matches(number)).length;
    const { startMs, endMs } = range;
    const timesMs = this.#app.newestTimes.byDevice;
    let count = 0;
    // Without a jump that depends on a time: the processor would guess wrong every other time.
    for (let i = 0; i < numbers.length; i++) {
      const timeMs = timesMs[numbers[i]!]!;
      count += Number(timeMs >= startMs) & Number(timeMs < endMs);
    }
    return count;
  }

  #matchesAll(block: DeviceBlock): boolean {
    const { range, accuracyMetersMax } = this.#query;
    if (range.endMs !== Number.POSITIVE_INFINITY || accuracyMetersMax !== null) return false;
    return block.isSince(range.startMs, this.#app.newestTimes.byDevice);
  }

  #matches(device: number): boolean {
    const { range, accuracyMetersMax } = this.#query;
    const timeMs = this.#app.newestTimes.byDevice[device]!;
    if (timeMs < range.startMs || timeMs >= range.endMs) return false;
    if (accuracyMetersMax === null) return true;
    // A position without an accuracy has NaN, which is never greater.
    return !(this.#app.newestAccuracyMeters(this.#app.table.byNumber(device)) > accuracyMetersMax);
  }
}
