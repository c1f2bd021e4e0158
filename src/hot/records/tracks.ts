import { assert } from "../../lib/assert.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { makePageRoom, NumberColumn } from "../../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Chunk, copyRows, firstRowSince, putRows, shiftRows, timestampAt } from "./chunk.ts";
import { LongTrack, type RowRef } from "./long-track.ts";
import { BLOCK_ROWS_MAX, firstRowAt, type RowPages } from "./row-pages.ts";

/** Stands for the count of rows: the device has a long track. */
const LONG = 255;
/** Chunks packed per step, in some tenths of a millisecond. */
const STEP_CHUNKS = 16;
/** Tracks that can be visited in the time of packing one chunk. */
const LOOKS_A_CHUNK = 64;
/**
 * A long track this short becomes a block again. Well below the size of a block, so that it does not flip back and
 * forth.
 */
const SHORT_ROWS_MAX = BLOCK_ROWS_MAX / 2;

/**
 * The records in memory of each device, by device number, in time order. Most devices of a large fleet have few
 * records: theirs are a block of rows on a shared page, and two columns. A device with more has a `LongTrack`.
 */
export class Tracks {
  readonly #pages: RowPages;
  /** The address of the device's block, or the number of its long track. */
  readonly #addresses = new NumberColumn();
  /** Rows of the block, or `LONG`. */
  readonly #counts: Uint8Array[] = [];
  readonly #long: (LongTrack | undefined)[] = [];
  readonly #freeLong: number[] = [];

  constructor(pages: RowPages) {
    this.#pages = pages;
  }

  count(device: number): number {
    const count = this.#countOf(device);
    return count === LONG ? this.#longOf(device).count : count;
  }

  /** Timestamp of the newest record; -Infinity if there is none. */
  newestMs(device: number): number {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).newestMs;
    if (count === 0) return Number.NEGATIVE_INFINITY;
    const address = this.#addresses.of(device);
    return timestampAt(this.#pages.chunkAt(address), firstRowAt(address) + count - 1);
  }

  /** How many records are older than this. */
  countBefore(device: number, timestampMs: number): number {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).countBefore(timestampMs);
    if (count === 0) return 0;
    const first = firstRowAt(this.#addresses.of(device));
    return firstRowSince(this.#chunkOf(device), first, first + count, timestampMs) - first;
  }

  /** The record at an index, counted from the oldest. */
  at(device: number, index: number): RowRef {
    if (this.#countOf(device) === LONG) return this.#longOf(device).at(index);
    return { chunk: this.#chunkOf(device), row: firstRowAt(this.#addresses.of(device)) + index };
  }

  /** The newest record; null if there is none. */
  findNewest(device: number): RowRef | null {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).newest();
    if (count === 0) return null;
    const address = this.#addresses.of(device);
    return { chunk: this.#pages.chunkAt(address), row: firstRowAt(address) + count - 1 };
  }

  /** The record with exactly this timestamp, or null. */
  find(device: number, timestampMs: number): RowRef | null {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).find(timestampMs);
    if (count === 0) return null;
    const chunk = this.#chunkOf(device);
    const end = firstRowAt(this.#addresses.of(device)) + count;
    if (timestampMs > timestampAt(chunk, end - 1)) return null;
    const row = firstRowSince(chunk, end - count, end, timestampMs);
    return timestampAt(chunk, row) === timestampMs ? { chunk, row } : null;
  }

  /** Inserts a row for a new timestamp with cells for `mask`; the caller fills it. */
  insert(device: number, timestampMs: number, mask: number): RowRef {
    const count = this.#countOf(device);
    if (count === BLOCK_ROWS_MAX) this.#lengthen(device);
    if (count >= BLOCK_ROWS_MAX) return this.#longOf(device).insert(timestampMs, mask);
    if (count === 0) this.#addresses.set(device, this.#pages.take(mask, 1));
    else this.#prepare(device, mask, count + 1);
    this.#setCount(device, count + 1);
    const chunk = this.#chunkOf(device);
    const first = firstRowAt(this.#addresses.of(device));
    const end = first + count;
    if (count === 0 || timestampMs > timestampAt(chunk, end - 1)) return { chunk, row: end };
    const row = firstRowSince(chunk, first, end, timestampMs);
    assert(timestampAt(chunk, row) > timestampMs, "an instant has one record");
    shiftRows(chunk, row, end);
    return { chunk, row };
  }

  /** Moves the record, if need be, to a chunk with cells for `mask`, which makes `ref` invalid. Returns its row. */
  widen(device: number, ref: RowRef, mask: number): RowRef {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).widen(ref, mask);
    const index = ref.row - firstRowAt(this.#addresses.of(device));
    this.#prepare(device, mask, count);
    return this.at(device, index);
  }

  /** Visits the records from index `from` to `to`, oldest first, in runs of rows of one chunk. */
  runs(
    device: number,
    from: number,
    to: number,
    visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void,
  ): void {
    const count = this.#countOf(device);
    if (count === LONG) this.#longOf(device).runs(from, to, visit);
    else if (from < Math.min(to, count)) {
      const first = firstRowAt(this.#addresses.of(device));
      visit(this.#chunkOf(device), first + Math.max(0, from), first + Math.min(to, count));
    }
  }

  /** Removes the records of a range, except those for which `isKept` is true, and frees their memory. */
  remove(device: number, range: TimeRange, isKept: (timestampMs: number) => boolean): void {
    const count = this.#countOf(device);
    if (count === LONG) {
      this.#longOf(device).remove(range, isKept);
      this.#shorten(device);
      return;
    }
    if (count === 0) return;
    const address = this.#addresses.of(device);
    const chunk = this.#pages.chunkAt(address);
    const first = firstRowAt(address);
    let next = first;
    for (let row = first; row < first + count; row++) {
      const timestampMs = timestampAt(chunk, row);
      const isLeaving = timestampMs >= range.startMs && timestampMs < range.endMs && !isKept(timestampMs);
      if (isLeaving) continue;
      if (next < row) putRows(chunk, next, chunk, row, row + 1);
      next++;
    }
    this.#keepFirst(device, next - first);
  }

  /**
   * Packs chunks of long tracks whose records are all older than this, in steps. Records that come in meanwhile may or
   * may not be packed.
   */
  *pack(beforeMs: number): Steps<void> {
    let tried = 0;
    for (let number = 0; number < this.#long.length; number++) {
      tried += 1 / LOOKS_A_CHUNK + (this.#long[number]?.pack(beforeMs, STEP_CHUNKS) ?? 0);
      if (tried < STEP_CHUNKS) continue;
      tried = 0;
      number--; // This track may have more chunks to pack.
      yield;
    }
  }

  #countOf(device: number): number {
    const page = this.#counts[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : 0;
  }

  #setCount(device: number, count: number): void {
    let page = this.#counts[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#counts, device, createCounts);
    page[at] = count;
  }

  #longOf(device: number): LongTrack {
    return this.#long[this.#addresses.of(device)]!;
  }

  #chunkOf(device: number): Chunk {
    return this.#pages.chunkAt(this.#addresses.of(device));
  }

  /** Makes sure that a block has cells for `mask`, and room for `rows` rows. */
  #prepare(device: number, mask: number, rows: number): void {
    const address = this.#addresses.of(device);
    const chunk = this.#pages.chunkAt(address);
    const wanted = chunk.mask | mask;
    if (wanted !== chunk.mask || rows > this.#pages.roomAt(address)) this.#move(device, wanted, rows);
  }

  /** Moves the rows of a block to a new one with cells for `mask`, and room for `rows` rows. */
  #move(device: number, mask: number, rows: number): void {
    const from = this.#addresses.of(device);
    const to = this.#pages.take(mask, rows);
    const first = firstRowAt(from);
    const count = Math.min(this.#countOf(device), rows);
    putRows(this.#pages.chunkAt(to), firstRowAt(to), this.#pages.chunkAt(from), first, first + count);
    this.#pages.release(from);
    this.#addresses.set(device, to);
  }

  /** Drops all rows of a block but the first `count`. */
  #keepFirst(device: number, count: number): void {
    const address = this.#addresses.of(device);
    if (count === 0) this.#pages.release(address);
    else if (count <= this.#pages.roomAt(address) / 2) this.#move(device, this.#chunkOf(device).mask, count);
    this.#setCount(device, count);
  }

  /** Turns a full block into a long track. */
  #lengthen(device: number): void {
    const address = this.#addresses.of(device);
    const chunk = this.#pages.chunkAt(address);
    const first = firstRowAt(address);
    const rows = copyRows(chunk, first, first + BLOCK_ROWS_MAX, BLOCK_ROWS_MAX, chunk.mask);
    this.#pages.release(address);
    const number = this.#freeLong.pop() ?? this.#long.length;
    this.#long[number] = new LongTrack(rows);
    this.#addresses.set(device, number);
    this.#setCount(device, LONG);
  }

  /** Turns a long track with few rows into a block. */
  #shorten(device: number): void {
    const track = this.#longOf(device);
    const { count } = track;
    if (count > SHORT_ROWS_MAX) return;
    const number = this.#addresses.of(device);
    if (count > 0) {
      let mask = 0;
      track.runs(0, count, (chunk) => {
        mask |= chunk.mask;
      });
      const address = this.#pages.take(mask, count);
      let into = firstRowAt(address);
      track.runs(0, count, (chunk, from, to) => {
        putRows(this.#pages.chunkAt(address), into, chunk, from, to);
        into += to - from;
      });
      this.#addresses.set(device, address);
    }
    this.#setCount(device, count);
    this.#long[number] = undefined;
    this.#freeLong.push(number);
  }
}

function createCounts(length: number): Uint8Array {
  return new Uint8Array(length);
}
