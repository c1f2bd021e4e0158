import { assert } from "../../lib/assert.ts";
import type { TimeRange } from "../../model/time/range.ts";
import {
  CHUNK_ROWS_MAX,
  type Chunk,
  copyRows,
  createChunk,
  openRow,
  putRows,
  rowsBefore,
  timestampAt,
} from "./chunk.ts";
import { type PackedChunk, packChunk, unpackChunk } from "./packed-chunk.ts";

/** A row of a chunk of a track. An insert into the track makes it invalid. */
export interface RowRef {
  readonly chunk: Chunk;
  readonly row: number;
}

type OlderChunk = Chunk | PackedChunk;

/**
 * The records in memory of a device that has many, in time order: a list of chunks with binary search. Records are
 * counted from 0, the oldest, so a time range is a range of indexes.
 */
export class LongTrack {
  #count = 0;
  #newestMs = Number.NEGATIVE_INFINITY;
  /** Null if there is no record. */
  #newest: Chunk | null = null;
  /** The chunks before `#newest`. */
  #older: OlderChunk[] = [];
  /** Chunks below this index are packed, or not worth packing. */
  #packedEnd = 0;
  /**
   * The index of each chunk's first row. Only those below `#startsEnd` are valid; the others are computed on demand.
   */
  readonly #starts: number[] = [];
  #startsEnd = 0;

  /** Creates a track of the records in a chunk, and takes ownership of the chunk. */
  constructor(chunk: Chunk) {
    this.#push(chunk);
    this.#count = chunk.count;
    this.#newestMs = timestampAt(chunk, chunk.count - 1);
  }

  get count(): number {
    return this.#count;
  }

  /** Timestamp of the newest record; -Infinity if there is none. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** How many records are older than this. */
  countBefore(timestampMs: number): number {
    if (timestampMs > this.#newestMs) return this.#count;
    const c = this.#chunkFor(timestampMs);
    return this.#startOf(c) + rowsBefore(this.#chunk(c), timestampMs);
  }

  at(index: number): RowRef {
    const c = this.#chunkAt(index);
    return { chunk: this.#chunk(c), row: index - this.#startOf(c) };
  }

  /** The newest record of a track that must not be empty. */
  newest(): RowRef {
    const chunk = this.#newest!;
    return { chunk, row: chunk.count - 1 };
  }

  /** The record with exactly this timestamp, or null. */
  find(timestampMs: number): RowRef | null {
    if (timestampMs > this.#newestMs) return null;
    const chunk = this.#chunk(this.#chunkFor(timestampMs));
    const row = rowsBefore(chunk, timestampMs);
    return row < chunk.count && timestampAt(chunk, row) === timestampMs ? { chunk, row } : null;
  }

  /** Inserts a row for a new timestamp with cells for `mask`; the caller fills it. */
  insert(timestampMs: number, mask: number): RowRef {
    if (timestampMs > this.#newestMs) return this.#append(timestampMs, mask);
    this.#prepare(this.#chunkFor(timestampMs), mask);
    const c = this.#chunkFor(timestampMs); // A split may have moved it into the upper half.
    const chunk = this.#chunk(c);
    const row = rowsBefore(chunk, timestampMs);
    assert(row === chunk.count || timestampAt(chunk, row) > timestampMs, "an instant has one record");
    openRow(chunk, row);
    this.#startsEnd = Math.min(this.#startsEnd, c + 1);
    this.#count++;
    return { chunk, row };
  }

  /** Finds the record in a chunk that may be written to and has cells for `mask`. */
  widen(ref: RowRef, mask: number): RowRef {
    const c = this.#chunkFor(timestampAt(ref.chunk, ref.row));
    const known = this.#open(c);
    const wanted = known.mask | mask;
    if (wanted === known.mask) return { chunk: known, row: ref.row };
    const chunk = copyRows(known, 0, known.count, known.capacity, wanted);
    this.#replace(c, chunk);
    return { chunk, row: ref.row };
  }

  /** Visits the records from index `from` to `to`, oldest first, in runs of rows of one chunk. */
  runs(from: number, to: number, visit: (chunk: Chunk, rowFrom: number, rowTo: number) => void): void {
    if (from >= to) return;
    for (let c = this.#chunkAt(from); c <= this.#older.length && this.#startOf(c) < to; c++) {
      const chunk = this.#chunk(c);
      const start = this.#startOf(c);
      visit(chunk, Math.max(0, from - start), Math.min(chunk.count, to - start));
    }
  }

  /** Removes the records of a range, except those for which `isKept` is true, and frees their memory. */
  remove({ startMs, endMs }: TimeRange, isKept: (timestampMs: number) => boolean): void {
    const chunks: OlderChunk[] = [];
    for (let c = 0; c < this.#chunkCount; c++) {
      if (this.#firstMs(c) >= endMs || this.#lastMs(c) < startMs) {
        chunks.push(c < this.#older.length ? this.#older[c]! : this.#newest!);
        continue;
      }
      const chunk = this.#chunk(c);
      const from = rowsBefore(chunk, startMs);
      const to = rowsBefore(chunk, endMs);
      keepRows(chunks, chunk, from, to, isKept);
    }
    this.#setChunks(chunks);
  }

  /** Replaces all chunks by these. */
  #setChunks(chunks: OlderChunk[]): void {
    this.#startsEnd = 0;
    this.#packedEnd = 0;
    this.#count = 0;
    this.#newestMs = Number.NEGATIVE_INFINITY;
    for (const chunk of chunks) {
      assert(chunk.count > 0 && firstMsOf(chunk) > this.#newestMs, "chunks hold rows, in order of time");
      this.#count += chunk.count;
      this.#newestMs = lastMsOf(chunk);
    }
    const newest = chunks.pop();
    this.#newest = newest === undefined ? null : unpacked(newest);
    this.#older = chunks;
  }

  /** Packs up to `chunksMax` chunks whose records are all older than `beforeMs`. Returns how many it tried. */
  pack(beforeMs: number, chunksMax: number): number {
    let tried = 0;
    for (; this.#packedEnd < this.#older.length && tried < chunksMax; this.#packedEnd++) {
      const chunk = this.#older[this.#packedEnd]!;
      if (isPacked(chunk)) continue;
      if (lastMsOf(chunk) >= beforeMs) break;
      tried++;
      this.#older[this.#packedEnd] = packChunk(chunk) ?? chunk;
    }
    return tried;
  }

  #append(timestampMs: number, mask: number): RowRef {
    const newest = this.#newest;
    // A device that has filled chunks will fill this one too.
    if (newest === null || newest.count === CHUNK_ROWS_MAX)
      this.#push(createChunk(CHUNK_ROWS_MAX, (newest?.mask ?? 0) | mask));
    else if (newest.count === newest.capacity || (newest.mask | mask) !== newest.mask) {
      this.#prepare(this.#older.length, mask);
    }
    const chunk = this.#newest!;
    assert(chunk.count < chunk.capacity, "a chunk that is appended to has room");
    this.#newestMs = timestampMs;
    this.#count++;
    return { chunk, row: chunk.count++ };
  }

  /** Appends a chunk. */
  #push(chunk: Chunk): void {
    if (this.#newest !== null) this.#insertOlder(this.#older.length, this.#newest);
    this.#newest = chunk;
  }

  #insertOlder(c: number, chunk: OlderChunk): void {
    this.#packedEnd = Math.min(this.#packedEnd, c);
    this.#startsEnd = Math.min(this.#startsEnd, c);
    this.#older.splice(c, 0, chunk);
  }

  get #chunkCount(): number {
    return this.#newest === null ? 0 : this.#older.length + 1;
  }

  /** The chunk for reading. Use `#open()` before writing. */
  #chunk(c: number): Chunk {
    return c < this.#older.length ? unpackedForReading(this.#older[c]!) : this.#newest!;
  }

  /** The chunk for writing, which it unpacks. */
  #open(c: number): Chunk {
    if (c === this.#older.length) return this.#newest!;
    const chunk = unpacked(this.#older[c]!);
    this.#replace(c, chunk);
    return chunk;
  }

  #firstMs(c: number): number {
    return firstMsOf(c < this.#older.length ? this.#older[c]! : this.#newest!);
  }

  #lastMs(c: number): number {
    return lastMsOf(c < this.#older.length ? this.#older[c]! : this.#newest!);
  }

  #startOf(c: number): number {
    if (c === this.#older.length) return this.#count - this.#newest!.count;
    for (; this.#startsEnd <= c; this.#startsEnd++) {
      const before = this.#startsEnd - 1;
      this.#starts[this.#startsEnd] = before < 0 ? 0 : this.#starts[before]! + this.#older[before]!.count;
    }
    return this.#starts[c]!;
  }

  #replace(c: number, chunk: Chunk): void {
    if (c === this.#older.length) this.#newest = chunk;
    else {
      this.#older[c] = chunk;
      this.#packedEnd = Math.min(this.#packedEnd, c);
    }
  }

  /** Makes sure that chunk `c` has a free row and cells for `mask`. A full chunk is split in half. */
  #prepare(c: number, mask: number): void {
    const chunk = this.#open(c);
    const wanted = chunk.mask | mask;
    if (chunk.count < chunk.capacity) {
      if (wanted !== chunk.mask) this.#replace(c, copyRows(chunk, 0, chunk.count, chunk.capacity, wanted));
    } else if (chunk.capacity < CHUNK_ROWS_MAX) {
      const capacity = Math.min(chunk.capacity * 2, CHUNK_ROWS_MAX);
      this.#replace(c, copyRows(chunk, 0, chunk.count, capacity, wanted));
    } else {
      const half = chunk.count >> 1;
      this.#replace(c, copyRows(chunk, half, chunk.count, CHUNK_ROWS_MAX, wanted));
      this.#insertOlder(c, copyRows(chunk, 0, half, CHUNK_ROWS_MAX, wanted));
    }
  }

  /** The last chunk whose first row is at or before the timestamp; 0 if there is none. */
  #chunkFor(timestampMs: number): number {
    let low = 0;
    let high = this.#chunkCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#firstMs(middle) <= timestampMs) low = middle + 1;
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

/** Adds a copy of what remains of a chunk: all rows outside `from` to `to`, and those inside that are kept. */
function keepRows(
  chunks: OlderChunk[],
  chunk: Chunk,
  from: number,
  to: number,
  isKept: (timestampMs: number) => boolean,
): void {
  const rest = createChunk(chunk.count, chunk.mask);
  let runStart = 0;
  const put = (runEnd: number) => {
    putRows(rest, rest.count, chunk, runStart, runEnd);
    rest.count += runEnd - runStart;
  };
  for (let row = from; row < to; row++) {
    if (isKept(timestampAt(chunk, row))) continue;
    put(row);
    runStart = row + 1;
  }
  put(chunk.count);
  if (rest.count > 0) chunks.push(copyRows(rest, 0, rest.count, rest.count, rest.mask));
}

function isPacked(chunk: OlderChunk): chunk is PackedChunk {
  return "packed" in chunk;
}

function firstMsOf(chunk: OlderChunk): number {
  return isPacked(chunk) ? chunk.firstMs : timestampAt(chunk, 0);
}

function lastMsOf(chunk: OlderChunk): number {
  return isPacked(chunk) ? chunk.lastMs : timestampAt(chunk, chunk.count - 1);
}

function unpacked(chunk: OlderChunk): Chunk {
  return isPacked(chunk) ? unpackChunk(chunk) : chunk;
}

/** The chunks unpacked last for reading: a page first counts the rows before an instant, then reads rows. */
const READ_MAX = 16;
const recentlyRead = new Map<PackedChunk, Chunk>();

function unpackedForReading(chunk: OlderChunk): Chunk {
  if (!isPacked(chunk)) return chunk;
  const known = recentlyRead.get(chunk);
  if (known !== undefined) return known;
  if (recentlyRead.size === READ_MAX) recentlyRead.delete(recentlyRead.keys().next().value!);
  const rows = unpackChunk(chunk);
  recentlyRead.set(chunk, rows);
  return rows;
}
