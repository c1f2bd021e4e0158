import type { TimeRange } from "../../model/time/range.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Device } from "../devices/device.ts";
import type { DeviceBlock, DeviceList } from "../devices/device-list.ts";

/** Asks for a page of the devices whose newest record is in a range. */
export interface NewestPageQuery {
  /** The time range of newest records. */
  readonly range: TimeRange;
  /** Excludes devices whose newest record has a greater horizontal accuracy; null for none. */
  readonly accuracyMetersMax: number | null;
  readonly offset: number;
  readonly limit: number;
}

export interface DevicePage {
  /** Device numbers. */
  readonly devices: readonly number[];
  /** Matching devices before paging, in all blocks that were added. */
  readonly total: number;
}

/** Counts the matching devices, block by block, and collects those of the page. */
export class NewestPage {
  /** Device numbers. */
  readonly #devices: number[] = [];
  /** The devices as of the last `hold()`. The number of a device may be another's by now. */
  readonly #identities: Device[] = [];
  readonly #app: AppDevices;
  readonly #query: NewestPageQuery;
  /** Whether every device matches that has reported since the start of the range. */
  readonly #isOpen: boolean;
  #total = 0;

  constructor(app: AppDevices, query: NewestPageQuery) {
    this.#app = app;
    this.#query = query;
    this.#isOpen = query.range.endMs === Number.POSITIVE_INFINITY && query.accuracyMetersMax === null;
  }

  /** The page of a list if all its devices are known to match, without a walk over those before and after it. */
  ofAll(list: DeviceList): DevicePage | null {
    const { range, offset } = this.#query;
    if (!this.#isOpen || !list.isSince(range.startMs)) return null;
    const { next, skipped } = list.readerFrom(offset);
    this.#total = skipped;
    for (let block = next(); block !== null && !this.isFull; block = next()) {
      this.#collectAll(block.numbers);
      this.#total += block.numbers.length;
    }
    return { devices: this.#devices, total: list.size };
  }

  /** Records for later pages that all devices of the list have matched, if they have. */
  note(list: DeviceList, { total }: DevicePage): void {
    if (this.#isOpen && total === list.size) list.noteSince(this.#query.range.startMs);
  }

  get isFull(): boolean {
    return this.#devices.length === this.#query.limit;
  }

  /** Returns how many devices it had to read to count the matching ones. */
  add(block: DeviceBlock): number {
    const { numbers } = block;
    const { range, offset } = this.#query;
    const isKnown = this.#isOpen && block.isSince(range.startMs);
    const matching = isKnown ? numbers.length : this.#count(numbers);
    if (!isKnown && matching === numbers.length) block.noteSince(range.startMs);
    if (this.#total + matching > offset && !this.isFull) {
      if (matching === numbers.length) this.#collectAll(numbers);
      else this.#collect(numbers);
    }
    this.#total += matching;
    return isKnown ? 0 : numbers.length;
  }

  /** Call before other work gets a turn. */
  hold(): void {
    const { table } = this.#app;
    for (const number of this.#devices.slice(this.#identities.length))
      this.#identities.push(table.byNumber(number));
  }

  /** The page, without devices that meanwhile went, no longer match or are no longer listed. */
  build(isListed: (device: Device) => boolean): DevicePage {
    const devices = this.#devices.filter((number, index) => {
      const device = this.#identities[index];
      if (device === undefined) return true;
      return !device.isGone && isListed(device) && this.#matches(number);
    });
    return { devices, total: this.#total - (this.#devices.length - devices.length) };
  }

  #collectAll(numbers: readonly number[]): void {
    const { offset, limit } = this.#query;
    const start = Math.max(0, offset - this.#total);
    const end = Math.min(numbers.length, start + limit - this.#devices.length);
    for (let at = start; at < end; at++) this.#devices.push(numbers[at]!);
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
    // No branch depends on a time: the processor would mispredict every other one.
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
