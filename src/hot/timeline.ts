import { createMinHeap } from "../lib/heap.ts";
import type { Order } from "../time/range.ts";
import { timestampAt } from "./chunk.ts";
import type { PageBuilder } from "./page-builder.ts";
import type { Slice } from "./slice.ts";
import type { RowRef } from "./track.ts";

/** Offsets up to this are skipped record by record; beyond it, bisecting time is cheaper. */
const SKIP_ONE_BY_ONE_MAX = 2048;

/**
 * Adds to the page the slices' records from `offset` on until it is full, ordered by time and then by the
 * slices' own order, or all of it reversed. Slices must come in the order of their device ids.
 */
export function fillPage(page: PageBuilder, slices: readonly Slice[], order: Order, offset: number): void {
  const [only] = slices;
  if (slices.length === 1 && only !== undefined && !only.isFiltered) {
    fillFromRun(page, only, order, offset);
    return;
  }
  const cursors = slices.map((slice, rank) => new Cursor(slice, rank, order));
  let skip = offset;
  if (skip > SKIP_ONE_BY_ONE_MAX) skip -= bisect(cursors, skip);

  const heap = createMinHeap<Cursor>(order === "asc" ? oldestFirst : newestFirst);
  for (const cursor of cursors) if (cursor.settle()) heap.push(cursor);
  while (heap.size > 0 && !page.isFull) {
    const cursor = heap.peek()!;
    if (skip > 0) skip--;
    else cursor.addTo(page);
    if (cursor.step()) heap.siftRoot();
    else heap.pop();
  }
}

/** The same of a single device whose records all take part: a page is a run of its rows. */
function fillFromRun(page: PageBuilder, slice: Slice, order: Order, offset: number): void {
  const { device } = slice;
  if (order === "desc") {
    for (let position = slice.to - offset - 1; position >= slice.from && !page.isFull; position--) {
      const { chunk, row } = slice.at(position);
      page.add(device, chunk, row);
    }
    return;
  }
  const from = slice.from + offset;
  slice.visit(from, Math.min(slice.to, from + page.room), (chunk, row) => page.add(device, chunk, row));
}

/**
 * Moves all cursors past whole milliseconds until the next one would pass more than `skip` records; returns
 * how many they passed. Each round halves the span of time and counts only what lies in one half of it, so
 * even where records must be looked at, none is read more than about twice.
 */
function bisect(cursors: readonly Cursor[], skip: number): number {
  let [startMs, endMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const cursor of cursors) {
    if (cursor.isDone) continue;
    startMs = Math.min(startMs, cursor.oldestMs());
    endMs = Math.max(endMs, cursor.newestMs() + 1);
  }
  let passed = 0;
  while (endMs - startMs > 1) {
    const middleMs = Math.floor((startMs + endMs) / 2);
    let count = 0;
    for (const cursor of cursors) count += cursor.countTo(middleMs);
    const fits = passed + count <= skip;
    if (fits) {
      passed += count;
      for (const cursor of cursors) cursor.passTo(middleMs);
    } else {
      for (const cursor of cursors) cursor.stopAt(middleMs);
    }
    const keepsLater = fits === (cursors[0]!.order === "asc");
    if (keepsLater) startMs = middleMs;
    else endMs = middleMs;
  }
  for (const cursor of cursors) cursor.unstop();
  return passed;
}

/** Where the answer stands in one slice, moving with the order asked for. */
class Cursor {
  readonly order: Order;
  readonly #slice: Slice;
  readonly rank: number;
  /** Time of the record the cursor is at, valid after `settle` or `step` said there is one. */
  timestampMs = 0;
  /** Positions still ahead; `low` leads in ascending order, `high` in descending. */
  #low: number;
  #high: number;
  #at: RowRef | null = null;

  constructor(slice: Slice, rank: number, order: Order) {
    this.#slice = slice;
    this.rank = rank;
    this.order = order;
    this.#low = slice.from;
    this.#high = slice.to;
  }

  get isDone(): boolean {
    return this.#low >= this.#high;
  }

  oldestMs(): number {
    const { chunk, row } = this.#slice.device.track.at(this.#low);
    return timestampAt(chunk, row);
  }

  newestMs(): number {
    const { chunk, row } = this.#slice.device.track.at(this.#high - 1);
    return timestampAt(chunk, row);
  }

  /** Matching records between the cursor and an instant. */
  countTo(instantMs: number): number {
    const split = this.#split(instantMs);
    return this.order === "asc" ? this.#slice.count(this.#low, split) : this.#slice.count(split, this.#high);
  }

  passTo(instantMs: number): void {
    const split = this.#split(instantMs);
    if (this.order === "asc") this.#low = split;
    else this.#high = split;
  }

  /** Narrows the bisection to this side of an instant; `unstop` widens it again. */
  stopAt(instantMs: number): void {
    const split = this.#split(instantMs);
    if (this.order === "asc") this.#high = split;
    else this.#low = split;
  }

  unstop(): void {
    if (this.order === "asc") this.#high = this.#slice.to;
    else this.#low = this.#slice.from;
  }

  /** Moves onto the first matching record at or after the cursor; false where none is left. */
  settle(): boolean {
    while (this.#low < this.#high) {
      const at = this.#slice.at(this.order === "asc" ? this.#low : this.#high - 1);
      if (this.#slice.matches(at.chunk, at.row)) {
        this.timestampMs = timestampAt(at.chunk, at.row);
        this.#at = at;
        return true;
      }
      this.#advance();
    }
    return false;
  }

  /** Moves on to the next matching record; false where none is left. */
  step(): boolean {
    this.#advance();
    return this.settle();
  }

  /** Adds the record the cursor is at. */
  addTo(page: PageBuilder): void {
    page.add(this.#slice.device, this.#at!.chunk, this.#at!.row);
  }

  #advance(): void {
    if (this.order === "asc") this.#low++;
    else this.#high--;
  }

  /** The position that parts what is before the instant from the rest, within what is ahead. */
  #split(instantMs: number): number {
    const before = this.#slice.device.track.countBefore(instantMs);
    return Math.min(Math.max(before, this.#low), this.#high);
  }
}

function oldestFirst(a: Cursor, b: Cursor): number {
  return a.timestampMs - b.timestampMs || a.rank - b.rank;
}

function newestFirst(a: Cursor, b: Cursor): number {
  return b.timestampMs - a.timestampMs || b.rank - a.rank;
}
