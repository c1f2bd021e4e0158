import { assert } from "../../lib/assert.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Device } from "./device.ts";
import type { DeviceTable } from "./device-table.ts";

/** A list of devices in the order of answers, cheap to change. */

/** Devices that are put in place as they come; more of them wait until somebody reads. */
const UNREAD_MAX = 512;
/** Of those that wait, how many are put in place in a step: some tenths of a millisecond. */
const STEP_DEVICES = 64;

/** Devices in the order of answers, of whom some may still have to be put in place. */
export interface ListedDevices {
  readonly size: number;
  /** Takes a step towards having all devices in place; true where they are. Whoever reads does so first. */
  settle(): boolean;
  reader(afterId?: DeviceId | null): () => DeviceBlock | null;
  blocks(): Iterable<readonly Device[]>;
  [Symbol.iterator](): Iterator<Device>;
}

/**
 * Devices of an app or a user in the order of answers (UTF-8 bytes of their ids), in blocks. Who comes is put in place
 * at once, which takes some microseconds; but where many come and nobody reads, as in a start, they wait. Then the
 * first who reads puts them in place, in steps.
 */
export class DeviceList implements ListedDevices {
  readonly #table: DeviceTable;
  /** In order, none empty. */
  readonly #blocks: DeviceBlock[] = [];
  /** How often a block came or went. */
  #changes = 0;
  #size = 0;
  /** Devices that came since somebody read. */
  #unread = 0;
  /** Numbers of those that wait to be put in place. */
  #waiting = NO_DEVICES;
  /** Those of them that went before they were. */
  readonly #gone = new Set<number>();

  /** The table knows the devices of the list by number. */
  constructor(table: DeviceTable) {
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether reading begins at once. */
  get isSettled(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a device that is not in the list. */
  add(device: Device): void {
    this.#size++;
    if (this.isSettled && this.#unread < UNREAD_MAX) {
      this.#unread++;
      this.#putInPlace(device);
    } else if (!this.#gone.delete(device.number)) {
      if (this.isSettled) this.#waiting = [];
      this.#waiting.push(device.number);
    }
  }

  /** Takes out a device that is in the list. */
  delete(device: Device): void {
    this.#size--;
    const index = this.#indexFor(device.id);
    const block = this.#blocks[index];
    if (block?.has(device) !== true) {
      assert(!this.isSettled, "a device that is taken out is in the list");
      this.#gone.add(device.number);
      return;
    }
    block.delete(device);
    if (block.isEmpty) this.#replace(index, 1);
    else {
      this.#joinNext(index);
      this.#joinNext(index - 1);
    }
  }

  /** Takes a step towards having all devices in place; true where they are. Whoever reads does so first. */
  settle(): boolean {
    this.#unread = 0;
    for (let step = 0; step < STEP_DEVICES && !this.isSettled; step++) {
      const number = this.#waiting.pop()!;
      if (!this.#gone.delete(number)) this.#putInPlace(this.#table.byNumber(number));
    }
    if (this.isSettled) this.#waiting = NO_DEVICES;
    return this.isSettled;
  }

  /**
   * What gives one block after the other of a list that is settled, and null behind the last. Between two the list may
   * change, but not while one is looked at: every device that stays is met once, in order; who comes or goes meanwhile
   * is met or not. Of all, or of those behind an id.
   */
  reader(afterId: DeviceId | null = null): () => DeviceBlock | null {
    let index = -1;
    let changes = afterId === null ? this.#changes : -1; // So that the place is looked for.
    let lastId: string = afterId ?? "";
    return () => {
      let block = this.#blocks[++index];
      if (changes !== this.#changes) {
        changes = this.#changes;
        index = this.#indexFor(lastId);
        block = this.#blocks[index]?.behind(lastId);
      }
      if (block === undefined) return null;
      lastId = block.lastId;
      return block;
    };
  }

  /** The same of any list, and devices that stay as they were; empty blocks while others are put in place. */
  *blocks(): Iterable<readonly Device[]> {
    while (!this.settle()) yield [];
    const next = this.reader();
    for (let block = next(); block !== null; block = next()) {
      yield block.numbers.map((number) => this.#table.byNumber(number));
    }
  }

  /** The same one by one; null where others should have their turn while devices are put in place. */
  *devices(): Iterable<Device | null> {
    for (const block of this.blocks()) {
      if (block.length === 0) yield null;
      else yield* block;
    }
  }

  *[Symbol.iterator](): Iterator<Device> {
    for (const block of this.blocks()) yield* block;
  }

  #putInPlace(device: Device): void {
    const last = this.#blocks.length - 1;
    if (last < 0) {
      this.#replace(0, 0, new DeviceBlock(this.#table, [device.number], device.id));
      return;
    }
    const index = Math.min(this.#indexFor(device.id), last);
    const block = this.#blocks[index]!;
    block.add(device);
    if (block.isFull) this.#replace(index + 1, 0, block.split());
  }

  #joinNext(index: number): void {
    const next = this.#blocks[index + 1];
    if (next !== undefined && this.#blocks[index]?.join(next)) this.#replace(index + 1, 1);
  }

  #replace(index: number, count: number, ...blocks: readonly DeviceBlock[]): void {
    this.#blocks.splice(index, count, ...blocks);
    this.#changes++;
  }

  /** The block that a device of this id is in, or would be but for those behind the last. */
  #indexFor(id: string): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareUtf8(this.#blocks[middle]!.lastId, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Most lists are short, and nobody ever waits: what they would hold is shared. */
const NO_DEVICES: number[] = [];

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
