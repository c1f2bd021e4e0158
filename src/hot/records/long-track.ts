import { assert } from "../../lib/assert.ts";
import type { TimeRange } from "../../time/range.ts";
import {
  CHUNK_ROWS_MAX,
  type Chunk,
  copyRows,
  createChunk,
  openRow,
  rowsBefore,
  timestampAt,
} from "./chunk.ts";

/** The records in memory of a device that has many. */

/** A row of a chunk of a track. Any insert into the track makes it void. */
export interface RowRef {
  readonly chunk: Chunk;
  readonly row: number;
}

/** What a track of one chunk has no others in; never changed. */
const NO_CHUNKS: Chunk[] = [];
const NO_STARTS: number[] = [];

/**
 * All records of one device in time order: a list of chunks, found by binary search. Records are counted
 * from 0, the oldest, so a time range is a range of indexes.
 */
export class LongTrack {
  #count = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  /** Null where there is no record. By itself: most devices of a large fleet have one chunk, and no lists of others. */
  #newest: Chunk | null = null;
  /** The chunks before it. */
  #older = NO_CHUNKS;
  /** Index of the first row of each of those. */
  #starts = NO_STARTS;

  /** Of records that lie in a chunk, which is the track's from now on. */
  constructor(chunk: Chunk) {
    this.#push(chunk);
    this.#count = chunk.count;
    this.#newestMs = timestampAt(chunk, chunk.count - 1);
  }

  get count(): number {
    return this.#count;
  }

  /** Timestamp of the newest record; -Infinity while there is none. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** How many records are older than this. */
  countBefore(timestampMs: number): number {
    if (timestampMs > this.#newestMs) return this.#count;
    const c = this.#chunkFor(timestampMs);
    return this.#startOf(c) + rowsBefore(this.#chunk(c), timestampMs);
  }

  /** The record of an index. */
  at(index: number): RowRef {
    const c = this.#chunkAt(index);
    return { chunk: this.#chunk(c), row: index - this.#startOf(c) };
  }

  /** The newest record of a track that has one. */
  newest(): RowRef {
    const chunk = this.#newest!;
    return { chunk, row: chunk.count - 1 };
  }

  /** The record with this very timestamp, or null. */
  find(timestampMs: number): RowRef | null {
    if (timestampMs > this.#newestMs) return null;
    const chunk = this.#chunk(this.#chunkFor(timestampMs));
    const row = rowsBefore(chunk, timestampMs);
    return row < chunk.count && timestampAt(chunk, row) === timestampMs ? { chunk, row } : null;
  }

  /** Makes a row for a timestamp that is not there yet, with columns for `mask`; the caller fills it. */
  insert(timestampMs: number, mask: number): RowRef {
    if (timestampMs > this.#newestMs) return this.#append(timestampMs, mask);
    this.#prepare(this.#chunkFor(timestampMs), mask);
    const c = this.#chunkFor(timestampMs); // A split may have moved it into the upper half.
    const chunk = this.#chunk(c);
    const row = rowsBefore(chunk, timestampMs);
    assert(row === chunk.count || timestampAt(chunk, row) > timestampMs, "an instant has one record");
    openRow(chunk, row);
    for (let later = c + 1; later < this.#starts.length; later++) this.#starts[later]!++;
    this.#count++;
    return { chunk, row };
  }

  /** The same record in a chunk that has columns for `mask`; the old chunk gives way where it has not. */
  widen(ref: RowRef, mask: number): RowRef {
    const wanted = ref.chunk.mask | mask;
    if (wanted === ref.chunk.mask) return ref;
    const chunk = copyRows(ref.chunk, 0, ref.chunk.count, ref.chunk.capacity, wanted);
    this.#replace(this.#chunkFor(timestampAt(ref.chunk, ref.row)), chunk);
    return { chunk, row: ref.row };
  }

  /** Visits records `from` to `to`, a run of rows of one chunk at a time, oldest first. */
  runs(from: number, to: number, visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void): void {
    if (from >= to) return;
    for (let c = this.#chunkAt(from); c <= this.#older.length && this.#startOf(c) < to; c++) {
      const chunk = this.#chunk(c);
      const start = this.#startOf(c);
      visit(chunk, Math.max(0, from - start), Math.min(chunk.count, to - start));
    }
  }

  /** Takes out what lies in the range and is not to be kept, and frees its memory. */
  remove({ startMs, endMs }: TimeRange, isKept: (timestampMs: number) => boolean): void {
    const kept: Chunk[] = [];
    for (let c = 0; c < this.#chunkCount; c++) {
      const chunk = this.#chunk(c);
      const from = rowsBefore(chunk, startMs);
      const to = rowsBefore(chunk, endMs);
      if (from === to) kept.push(chunk);
      else keepRows(kept, chunk, from, to, isKept);
    }
    this.#newest = null;
    this.#older = NO_CHUNKS;
    this.#starts = NO_STARTS;
    this.#count = 0;
    this.#newestMs = Number.NEGATIVE_INFINITY;
    for (const chunk of kept) {
      assert(chunk.count > 0 && timestampAt(chunk, 0) > this.#newestMs, "chunks hold rows, in order of time");
      this.#push(chunk);
      this.#count += chunk.count;
      this.#newestMs = timestampAt(chunk, chunk.count - 1);
    }
  }

  #append(timestampMs: number, mask: number): RowRef {
    const newest = this.#newest;
    if (newest === null) this.#push(createChunk(CHUNK_ROWS_MAX / 4, mask));
    else if (newest.count === CHUNK_ROWS_MAX) {
      // A device that fills chunks will fill this one too; starting at a quarter keeps the slack small.
      this.#push(createChunk(CHUNK_ROWS_MAX / 4, newest.mask | mask));
    } else if (newest.count === newest.capacity || (newest.mask | mask) !== newest.mask) {
      this.#prepare(this.#older.length, mask);
    }
    const chunk = this.#newest!;
    assert(chunk.count < chunk.capacity, "a chunk that is appended to has room");
    this.#newestMs = timestampMs;
    this.#count++;
    return { chunk, row: chunk.count++ };
  }

  /** The chunk is the newest from now on. */
  #push(chunk: Chunk): void {
    if (this.#newest !== null)
      this.#insertOlder(this.#older.length, this.#newest, this.#count - this.#newest.count);
    this.#newest = chunk;
  }

  #insertOlder(c: number, chunk: Chunk, start: number): void {
    if (this.#older === NO_CHUNKS) {
      this.#older = [];
      this.#starts = [];
    }
    this.#older.splice(c, 0, chunk);
    this.#starts.splice(c, 0, start);
  }

  get #chunkCount(): number {
    return this.#newest === null ? 0 : this.#older.length + 1;
  }

  #chunk(c: number): Chunk {
    return c < this.#older.length ? this.#older[c]! : this.#newest!;
  }

  #startOf(c: number): number {
    return c < this.#older.length ? this.#starts[c]! : this.#count - this.#newest!.count;
  }

  #replace(c: number, chunk: Chunk): void {
    if (c < this.#older.length) this.#older[c] = chunk;
    else this.#newest = chunk;
  }

  /** Makes sure that chunk `c` has room and columns; a full one is split in half. */
  #prepare(c: number, mask: number): void {
    const chunk = this.#chunk(c);
    const wanted = chunk.mask | mask;
    if (chunk.count < chunk.capacity) {
      if (wanted !== chunk.mask) this.#replace(c, copyRows(chunk, 0, chunk.count, chunk.capacity, wanted));
    } else if (chunk.capacity < CHUNK_ROWS_MAX) {
      const capacity = Math.min(chunk.capacity * 2, CHUNK_ROWS_MAX);
      this.#replace(c, copyRows(chunk, 0, chunk.count, capacity, wanted));
    } else {
      const start = this.#startOf(c);
      const half = chunk.count >> 1;
      this.#replace(c, copyRows(chunk, half, chunk.count, CHUNK_ROWS_MAX, wanted));
      this.#insertOlder(c, copyRows(chunk, 0, half, CHUNK_ROWS_MAX, wanted), start);
      if (c + 1 < this.#starts.length) this.#starts[c + 1] = start + half;
    }
  }

  /** The last chunk whose first row is at or before the timestamp; 0 where none is. */
  #chunkFor(timestampMs: number): number {
    let low = 0;
    let high = this.#chunkCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (timestampAt(this.#chunk(middle), 0) <= timestampMs) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  #chunkAt(index: number): number {
    let low = 0;
    let high = this.#chunkCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#startOf(middle) <= index) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Adds what is left of a chunk without rows `from` to `to`, but those of them that are kept. */
function keepRows(
  chunks: Chunk[],
  chunk: Chunk,
  from: number,
  to: number,
  isKept: (timestampMs: number) => boolean,
): void {
  let runStart = 0;
  const push = (runEnd: number) => {
    if (runEnd === runStart) return;
    const count = runEnd - runStart;
    chunks.push(copyRows(chunk, runStart, runEnd, count, chunk.mask));
  };
  for (let row = from; row < to; row++) {
    if (isKept(timestampAt(chunk, row))) continue;
    push(row);
    runStart = row + 1;
  }
  push(chunk.count);
}
