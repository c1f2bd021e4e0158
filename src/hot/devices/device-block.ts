import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { Device } from "./device.ts";
import type { DeviceTable } from "./device-table.ts";

/** Part of a list of devices. */

/** Few, so that putting one among them moves little, and enough that a large list has few blocks. */
const DEVICES_MAX = 512;

/** Devices that lie together in a list, by number and in the order of answers. */
export class DeviceBlock {
  readonly #table: DeviceTable;
  #numbers: number[];
  #lastId: string;
  /** No newest record of its devices is older. */
  #oldestMs = Number.NEGATIVE_INFINITY;

  constructor(table: DeviceTable, numbers: number[], lastId: string) {
    this.#table = table;
    this.#numbers = numbers;
    this.#lastId = lastId;
  }

  /** In order. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  /** Its devices come up to here, and those of the next block behind it. A device of this id may be gone. */
  get lastId(): string {
    return this.#lastId;
  }

  get isEmpty(): boolean {
    return this.#numbers.length === 0;
  }

  get isFull(): boolean {
    return this.#numbers.length === DEVICES_MAX;
  }

  add({ id, number }: Device): void {
    this.#numbers.splice(this.countUpTo(id), 0, number);
    if (compareUtf8(this.#lastId, id) < 0) this.#lastId = id;
    this.#oldestMs = Number.NEGATIVE_INFINITY;
  }

  has({ id, number }: Device): boolean {
    return this.#numbers[this.countUpTo(id) - 1] === number;
  }

  delete({ id }: Device): void {
    this.#numbers.splice(this.countUpTo(id) - 1, 1);
  }

  /** How many come no later than this. */
  countUpTo(id: string): number {
    const numbers = this.#numbers;
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#table.compareId(numbers[middle]!, id) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Keeps the first half; the other is the block behind it. */
  split(): DeviceBlock {
    const kept = this.#numbers.length >>> 1;
    const rest = this.#from(kept);
    this.#numbers = this.#numbers.slice(0, kept);
    this.#lastId = this.#table.idOf(this.#numbers[kept - 1]!);
    return rest;
  }

  /** Takes in all of the next block, where few are left of both. */
  join(next: DeviceBlock): boolean {
    if (this.#numbers.length + next.#numbers.length > DEVICES_MAX / 2) return false;
    this.#numbers = [...this.#numbers, ...next.#numbers];
    this.#lastId = next.#lastId;
    this.#oldestMs = Math.min(this.#oldestMs, next.#oldestMs);
    return true;
  }

  /** Those that come later than this: the block itself, or one beside it that the list doesn't have. */
  behind(id: string): DeviceBlock {
    const count = this.countUpTo(id);
    return count === 0 ? this : this.#from(count);
  }

  /** Whether it is known that none of its devices' newest records is older than this. */
  isSince(startMs: number): boolean {
    return this.#oldestMs >= startMs;
  }

  /** Somebody found that out by looking at them. It stays so: newest records only become newer. */
  noteSince(startMs: number): void {
    this.#oldestMs = Math.max(this.#oldestMs, startMs);
  }

  #from(index: number): DeviceBlock {
    const rest = new DeviceBlock(this.#table, this.#numbers.slice(index), this.#lastId);
    rest.#oldestMs = this.#oldestMs;
    return rest;
  }
}
