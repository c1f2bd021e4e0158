import { assert } from "../../lib/assert.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Device } from "./device.ts";
import type { DeviceTable } from "./device-table.ts";

/** Devices that `add()` sorts in immediately. After that many without a reader, new ones wait for the next reader. */
const UNREAD_MAX = 512;
/** Waiting devices that one step sorts in, in some tenths of a millisecond. */
const STEP_DEVICES = 64;

/** Devices in the order of answers. Some may still wait to be sorted in. */
export interface ListedDevices {
  readonly size: number;
  /** Sorts in some of the waiting devices; true once none waits. Readers call it until it is true before they read. */
  sortPending(): boolean;
  reader(afterId?: DeviceId | null): () => DeviceBlock | null;
  blocks(): Iterable<readonly Device[]>;
  [Symbol.iterator](): Iterator<Device>;
}

/**
 * Devices of an app or a user in the order of answers (UTF-8 bytes of their ids), in blocks. A new device is sorted in
 * immediately, which takes some microseconds. If many come and nothing reads the list, as during a start, they wait,
 * and the first reader sorts them in, in steps.
 */
export class DeviceList implements ListedDevices {
  readonly #table: DeviceTable;
  /** Sorted, none empty. */
  readonly #blocks: DeviceBlock[] = [];
  /** Counts blocks that were added or removed. */
  #changes = 0;
  #size = 0;
  /** No newest record of a listed device is older than this. */
  #oldestMs = Number.NEGATIVE_INFINITY;
  /** How many devices come before each block; null if it must be counted anew. */
  #starts: readonly number[] | null = null;
  /** Devices added since the last read. */
  #unread = 0;
  /** Numbers of the devices that wait to be sorted in. */
  #waiting = NO_DEVICES;
  /** Waiting devices that were removed before they were sorted in. */
  readonly #gone = new Set<number>();

  constructor(table: DeviceTable) {
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether no device waits, so that reading may begin. */
  get isSorted(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds a device that must not be in the list. */
  add(device: Device): void {
    this.#size++;
    this.#oldestMs = Number.NEGATIVE_INFINITY;
    if (this.isSorted && this.#unread < UNREAD_MAX) {
      this.#unread++;
      this.#putInPlace(device);
    } else if (!this.#gone.delete(device.number)) {
      if (this.isSorted) this.#waiting = [];
      this.#waiting.push(device.number);
    }
  }

  /** Removes a device that must be in the list. */
  delete(device: Device): void {
    this.#size--;
    const index = this.#indexFor(device.id);
    const block = this.#blocks[index];
    if (block?.has(device) !== true) {
      assert(!this.isSorted, "a device that is deleted is in the list");
      this.#gone.add(device.number);
      return;
    }
    block.delete(device);
    this.#starts = null;
    if (block.isEmpty) this.#replace(index, 1);
    else {
      this.#joinNext(index);
      this.#joinNext(index - 1);
    }
  }

  /** Notes that the newest record of a device is an older one than before, or none. */
  noteOlder(device: Device): void {
    this.#oldestMs = Number.NEGATIVE_INFINITY;
    this.#blocks[this.#indexFor(device.id)]?.noteOlder();
  }

  /** Sorts in some of the waiting devices; true once none waits. Readers call it until it is true before they read. */
  sortPending(): boolean {
    this.#unread = 0;
    for (let step = 0; step < STEP_DEVICES && !this.isSorted; step++) {
      const number = this.#waiting.pop()!;
      if (!this.#gone.delete(number)) this.#putInPlace(this.#table.byNumber(number));
    }
    if (this.isSorted) this.#waiting = NO_DEVICES;
    return this.isSorted;
  }

  /** Whether all newest records of its devices are known to be at this time or later. */
  isSince(startMs: number): boolean {
    return this.#oldestMs >= startMs;
  }

  /** Records whether `isSince()` is true of all blocks. That stays true until a device is added or gets older. */
  noteSince(startMs: number): void {
    if (this.isSorted && this.#blocks.every((block) => block.isSince(startMs)))
      this.#oldestMs = Math.max(this.#oldestMs, startMs);
  }

  /** A `reader()` of a sorted list from the block of the device at an offset, and how many devices it leaves out. */
  readerFrom(offset: number): { readonly next: () => DeviceBlock | null; readonly skipped: number } {
    this.#starts ??= this.#countStarts();
    const starts = this.#starts;
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    const before = this.#blocks[low - 1];
    return before === undefined
      ? { next: this.reader(), skipped: 0 }
      : { next: this.#readerAt(low, before.lastId), skipped: starts[low]! };
  }

  /**
   * Returns a function that gives the blocks of a sorted list one after the other, then null; with `afterId`, only
   * devices behind that id. The list may change between two calls, but not while a block is being read. Every device
   * that stays is met once, in order; devices that come or go meanwhile may or may not be met.
   */
  reader(afterId: DeviceId | null = null): () => DeviceBlock | null {
    return afterId === null ? this.#readerAt(0, "") : this.#readerAt(0, afterId, NEVER);
  }

  /** Begins at the block that was at `first` when the list had `changesThen`; since a change, behind `afterId`. */
  #readerAt(first: number, afterId: string, changesThen = this.#changes): () => DeviceBlock | null {
    let index = first - 1;
    let changes = changesThen;
    let lastId = afterId;
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

  /** Like `reader()`, but works on any list and gives `Device`s. Yields empty blocks while devices are sorted in. */
  *blocks(): Iterable<readonly Device[]> {
    while (!this.sortPending()) yield [];
    const next = this.reader();
    for (let block = next(); block !== null; block = next()) {
      yield block.numbers.map((number) => this.#table.byNumber(number));
    }
  }

  /** Visits the devices; yields null whenever other work may run while devices are sorted in. */
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
    this.#starts = null;
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

  #countStarts(): readonly number[] {
    let count = 0;
    return this.#blocks.map(({ numbers }) => {
      const start = count;
      count += numbers.length;
      return start;
    });
  }

  /**
   * Index of the block that has, or would have, a device of this id; the number of blocks if the id is behind the last.
   */
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

/** No count of changes, so that a reader begins by a search. */
const NEVER = -1;

/** Shared by all lists in which no device waits, which most of the time are all of them. */
const NO_DEVICES: number[] = [];

/** Few enough that an insert moves little, and enough that a large list has few blocks. */
const DEVICES_MAX = 512;

/** Neighbouring devices of a list, by number, in the order of answers. */
export class DeviceBlock {
  readonly #table: DeviceTable;
  #numbers: number[];
  #lastId: string;
  /** No newest record of these devices is older than this. */
  #oldestMs = Number.NEGATIVE_INFINITY;

  constructor(table: DeviceTable, numbers: number[], lastId: string) {
    this.#table = table;
    this.#numbers = numbers;
    this.#lastId = lastId;
  }

  get numbers(): readonly number[] {
    return this.#numbers;
  }

  /** No device of the block is behind this id, and all of the next block are. The device with this id may be gone. */
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

  /** How many devices have this id or one before it. */
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

  /** Moves the second half into a new block, which belongs behind this one. */
  split(): DeviceBlock {
    const half = this.#numbers.length >>> 1;
    const rest = this.#from(half);
    this.#numbers = this.#numbers.slice(0, half);
    this.#lastId = this.#table.idOf(this.#numbers[half - 1]!);
    return rest;
  }

  /** Appends all devices of the next block if both together are few. Returns whether it did. */
  join(next: DeviceBlock): boolean {
    if (this.#numbers.length + next.#numbers.length > DEVICES_MAX / 2) return false;
    this.#numbers = [...this.#numbers, ...next.#numbers];
    this.#lastId = next.#lastId;
    this.#oldestMs = Math.min(this.#oldestMs, next.#oldestMs);
    return true;
  }

  /** The devices behind this id: the block itself, or a copy that is not part of the list. */
  behind(id: string): DeviceBlock {
    const count = this.countUpTo(id);
    return count === 0 ? this : this.#from(count);
  }

  /** Whether all newest records of its devices are known to be at this time or later. */
  isSince(startMs: number): boolean {
    return this.#oldestMs >= startMs;
  }

  /** Forgets what `noteSince()` recorded. */
  noteOlder(): void {
    this.#oldestMs = Number.NEGATIVE_INFINITY;
  }

  /** Records that a reader found no older newest record. That stays true until `noteOlder()`. */
  noteSince(startMs: number): void {
    this.#oldestMs = Math.max(this.#oldestMs, startMs);
  }

  #from(index: number): DeviceBlock {
    const rest = new DeviceBlock(this.#table, this.#numbers.slice(index), this.#lastId);
    rest.#oldestMs = this.#oldestMs;
    return rest;
  }
}
