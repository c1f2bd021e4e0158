import { assert } from "../../lib/assert.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { makePageRoom, NumberColumn } from "../../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Chunk, copyRows, firstRowSince, putRows, shiftRows, timestampAt } from "./chunk.ts";
import { LongTrack, type RowRef } from "./long-track.ts";
import { BLOCK_ROWS_MAX, firstRowAt, type RowPages } from "./row-pages.ts";

/** The records in memory of an app's devices. */

/** In place of a count of rows: the device has a track of its own. */
const LONG = 255;
/** Chunks that are packed in a step: some tenths of a millisecond. */
const STEP_CHUNKS = 16;
/** Tracks that can be looked at in the time of packing a chunk. */
const LOOKS_A_CHUNK = 64;
/** A long track of no more rows becomes a block again; well below its room, so that it does not go to and fro. */
const SHORT_ROWS_MAX = BLOCK_ROWS_MAX / 2;

/**
 * By device number, all records of each device in time order. Most devices of a large fleet have few records: theirs
 * are a block of rows beside those of others, and two columns. Who has more has a `LongTrack`.
 */
export class Tracks {
  readonly #pages: RowPages;
  /** Where the device's block is, or the number of its long track. */
  readonly #places = new NumberColumn();
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

  /** Timestamp of the newest record; -Infinity while there is none. */
  newestMs(device: number): number {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).newestMs;
    if (count === 0) return Number.NEGATIVE_INFINITY;
    const place = this.#places.of(device);
    return timestampAt(this.#pages.chunkAt(place), firstRowAt(place) + count - 1);
  }

  /** How many records are older than this. */
  countBefore(device: number, timestampMs: number): number {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).countBefore(timestampMs);
    if (count === 0) return 0;
    const first = firstRowAt(this.#places.of(device));
    return firstRowSince(this.#chunkOf(device), first, first + count, timestampMs) - first;
  }

  /** The record of an index, counted from the oldest. */
  at(device: number, index: number): RowRef {
    if (this.#countOf(device) === LONG) return this.#longOf(device).at(index);
    return { chunk: this.#chunkOf(device), row: firstRowAt(this.#places.of(device)) + index };
  }

  /** The newest record; null where there is none. */
  findNewest(device: number): RowRef | null {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).newest();
    if (count === 0) return null;
    const place = this.#places.of(device);
    return { chunk: this.#pages.chunkAt(place), row: firstRowAt(place) + count - 1 };
  }

  /** The record with this very timestamp, or null. */
  find(device: number, timestampMs: number): RowRef | null {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).find(timestampMs);
    if (count === 0) return null;
    const chunk = this.#chunkOf(device);
    const end = firstRowAt(this.#places.of(device)) + count;
    if (timestampMs > timestampAt(chunk, end - 1)) return null;
    const row = firstRowSince(chunk, end - count, end, timestampMs);
    return timestampAt(chunk, row) === timestampMs ? { chunk, row } : null;
  }

  /** Makes a row for a timestamp that is not there yet, with columns for `mask`; the caller fills it. */
  insert(device: number, timestampMs: number, mask: number): RowRef {
    const count = this.#countOf(device);
    if (count === BLOCK_ROWS_MAX) this.#lengthen(device);
    if (count >= BLOCK_ROWS_MAX) return this.#longOf(device).insert(timestampMs, mask);
    if (count === 0) this.#places.set(device, this.#pages.take(mask, 1));
    else this.#prepare(device, mask, count + 1);
    this.#setCount(device, count + 1);
    const chunk = this.#chunkOf(device);
    const first = firstRowAt(this.#places.of(device));
    const end = first + count;
    if (count === 0 || timestampMs > timestampAt(chunk, end - 1)) return { chunk, row: end };
    const row = firstRowSince(chunk, first, end, timestampMs);
    assert(timestampAt(chunk, row) > timestampMs, "an instant has one record");
    shiftRows(chunk, row, end);
    return { chunk, row };
  }

  /** The same record in a chunk that has columns for `mask`; its old place gives way where it has not. */
  widen(device: number, ref: RowRef, mask: number): RowRef {
    const count = this.#countOf(device);
    if (count === LONG) return this.#longOf(device).widen(ref, mask);
    const index = ref.row - firstRowAt(this.#places.of(device));
    this.#prepare(device, mask, count);
    return this.at(device, index);
  }

  /** Visits records `from` to `to`, a run of rows of one chunk at a time, oldest first. */
  runs(
    device: number,
    from: number,
    to: number,
    visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void,
  ): void {
    const count = this.#countOf(device);
    if (count === LONG) this.#longOf(device).runs(from, to, visit);
    else if (from < Math.min(to, count)) {
      const first = firstRowAt(this.#places.of(device));
      visit(this.#chunkOf(device), first + Math.max(0, from), first + Math.min(to, count));
    }
  }

  /** Takes out what lies in the range and is not to be kept, and frees its memory. */
  remove(device: number, range: TimeRange, isKept: (timestampMs: number) => boolean): void {
    const count = this.#countOf(device);
    if (count === LONG) {
      this.#longOf(device).remove(range, isKept);
      this.#shorten(device);
      return;
    }
    if (count === 0) return;
    const place = this.#places.of(device);
    const chunk = this.#pages.chunkAt(place);
    const first = firstRowAt(place);
    let kept = first;
    for (let row = first; row < first + count; row++) {
      const timestampMs = timestampAt(chunk, row);
      const isLeaving = timestampMs >= range.startMs && timestampMs < range.endMs && !isKept(timestampMs);
      if (isLeaving) continue;
      if (kept < row) putRows(chunk, kept, chunk, row, row + 1);
      kept++;
    }
    this.#keepFirst(device, kept - first);
  }

  /**
   * Packs chunks whose records are all older than this, some a step. What comes in meanwhile is packed or not; those of
   * few records never are.
   */
  *pack(beforeMs: number): Steps<void> {
    let tried = 0;
    for (let number = 0; number < this.#long.length; number++) {
      tried += 1 / LOOKS_A_CHUNK + (this.#long[number]?.pack(beforeMs, STEP_CHUNKS) ?? 0);
      if (tried < STEP_CHUNKS) continue;
      tried = 0;
      number--; // It may have more.
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
    return this.#long[this.#places.of(device)]!;
  }

  #chunkOf(device: number): Chunk {
    return this.#pages.chunkAt(this.#places.of(device));
  }

  /** Makes sure that a block has these fields, and room for so many rows. */
  #prepare(device: number, mask: number, rows: number): void {
    const place = this.#places.of(device);
    const chunk = this.#pages.chunkAt(place);
    const wanted = chunk.mask | mask;
    if (wanted !== chunk.mask || rows > this.#pages.roomAt(place)) this.#move(device, wanted, rows);
  }

  /** Moves the rows of a block to one with these fields, and with room for so many. */
  #move(device: number, mask: number, rows: number): void {
    const from = this.#places.of(device);
    const to = this.#pages.take(mask, rows);
    const first = firstRowAt(from);
    const count = Math.min(this.#countOf(device), rows);
    putRows(this.#pages.chunkAt(to), firstRowAt(to), this.#pages.chunkAt(from), first, first + count);
    this.#pages.release(from);
    this.#places.set(device, to);
  }

  /** Of the rows of a block only the first stay. */
  #keepFirst(device: number, count: number): void {
    const place = this.#places.of(device);
    if (count === 0) this.#pages.release(place);
    else if (count <= this.#pages.roomAt(place) / 2) this.#move(device, this.#chunkOf(device).mask, count);
    this.#setCount(device, count);
  }

  /** Moves a full block to a track of its own. */
  #lengthen(device: number): void {
    const place = this.#places.of(device);
    const chunk = this.#pages.chunkAt(place);
    const first = firstRowAt(place);
    const rows = copyRows(chunk, first, first + BLOCK_ROWS_MAX, BLOCK_ROWS_MAX, chunk.mask);
    this.#pages.release(place);
    const number = this.#freeLong.pop() ?? this.#long.length;
    this.#long[number] = new LongTrack(rows);
    this.#places.set(device, number);
    this.#setCount(device, LONG);
  }

  /** Moves the rows of a long track to a block, where few are left. */
  #shorten(device: number): void {
    const track = this.#longOf(device);
    const { count } = track;
    if (count > SHORT_ROWS_MAX) return;
    const number = this.#places.of(device);
    if (count > 0) {
      let mask = 0;
      track.runs(0, count, (chunk) => {
        mask |= chunk.mask;
      });
      const place = this.#pages.take(mask, count);
      let into = firstRowAt(place);
      track.runs(0, count, (chunk, from, to) => {
        putRows(this.#pages.chunkAt(place), into, chunk, from, to);
        into += to - from;
      });
      this.#places.set(device, place);
    }
    this.#setCount(device, count);
    this.#long[number] = undefined;
    this.#freeLong.push(number);
  }
}

function createCounts(length: number): Uint8Array {
  return new Uint8Array(length);
}
