import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import { worldX, worldY } from "../geo/world.ts";
import { type DotBuffer, GLIDE_UNITS_MAX, type RowSpan } from "./dot-buffer.ts";

/*
 * The tails of moving dots as the graphics card reads them: segments of 32 bytes. The shader lets them fade with age,
 * so a segment costs nothing after its upload.
 *
 *   | word | what                                                                                    |
 *   |------|-----------------------------------------------------------------------------------------|
 *   | 0, 1 | start: x, y of `world.ts`                                                               |
 *   | 2, 3 | end                                                                                     |
 *   | 4, 5 | when the device was at the start and at the end, Unix ms modulo 2^32                    |
 *   | 6    | start of the dot's glide to the end, ms of the page's clock                             |
 *   | 7    | where on the segment that glide starts, 0 to 65535; bit 16 is set if the dot is dimmed  |
 *
 * Segments are in a ring: new ones replace the oldest. So the memory depends on how much moves, not on the number of
 * devices.
 */

export const TAIL_WORDS = 8;
export const TAIL_BYTES = TAIL_WORDS * 4;

/** The age at which a tail ends. */
export const TAIL_MS = 120_000;

export const SHARE_WHOLE = 65_535;
export const TAIL_DIM = 1 << 16;

/** 4 MB: whole tails of 8,700 moving devices. If more move, tails are shorter. */
const SEGMENTS_MAX = 2 ** 17;
const SEGMENTS_MIN = 2 ** 10;

/** A segment covers at most this time, so that each part of a tail fades at its own time. */
const SEGMENT_MS_MAX = 8000;
/** A segment ends where the direction changes by more than about 14 degrees. */
const STRAIGHT_COSINE_MIN = 0.97;
/** Over a longer silence the way of the device is unknown. */
const GAP_MS_MAX = 180_000;

const NO_SEGMENT = -1;

/** The present on the clock of the page, by which dots glide, and on that of the world, by which tails fade. */
export interface TailClock {
  readonly pageMs: number;
  readonly unixMs: number;
}

/** Where a device was. */
export interface PastPoint {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export class TailBuffer {
  #words = new Uint32Array(SEGMENTS_MIN * TAIL_WORDS);
  /** The row of each segment, by slot. */
  #rows = new Uint32Array(SEGMENTS_MIN);
  /** Segments are numbered from 0; number n is in slot n modulo the capacity. Those before the oldest have faded. */
  #oldest = 0;
  #next = 0;
  /** Segments from this number on differ from those on the graphics card. */
  #staleFrom = 0;
  /** The number of the newest segment of each row; negative if it has none. */
  #newest = new Float64Array(0);

  /** Replaced when it grows or is emptied; all of it must be uploaded then. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** The number of segments to draw, from the first on. The shader hides those that have faded. */
  get size(): number {
    return this.isEmpty ? 0 : Math.min(this.#next, this.#capacity);
  }

  /** Whether all tails have faded. */
  get isEmpty(): boolean {
    return this.#oldest === this.#next;
  }

  get #capacity(): number {
    return this.#rows.length;
  }

  /** Returns the segments that have changed since the last call. The caller must upload them. */
  takeStale(): RowSpan[] {
    const spans = this.#spansFrom(Math.max(this.#staleFrom, this.#oldest));
    this.#staleFrom = this.#next;
    return spans;
  }

  /** Follows a change of the table. `dots` must not have followed it yet, since tails lead to where dots are seen. */
  update(table: DeviceTable, change: TableChange, dots: DotBuffer, now: TailClock): void {
    if (change.kind === "all") this.#clear();
    else if (change.kind === "shown") this.#dim(table);
    else for (const row of change.rows) if (row < dots.size) this.#move(table, row, dots, now);
  }

  /** Adds a way that a device went before the page saw it. */
  addPast(table: DeviceTable, row: number, from: PastPoint, to: PastPoint, unixMs: number): void {
    this.#makeRoom(unixMs);
    const slot = this.#next++ % this.#capacity;
    const look = SHARE_WHOLE | dimmedBit(table, row);
    const [start, end] = [from, to].map(({ latitude, longitude }) => [worldX(longitude), worldY(latitude)]);
    const toMs = tailEndMs(to.timestampMs, unixMs);
    this.#words.set([...start!, ...end!, from.timestampMs, toMs, 0, look], slot * TAIL_WORDS);
    this.#rows[slot] = row;
  }

  /** Forgets segments that have faded. */
  fade(unixMs: number): void {
    if (this.#next === 0) return;
    while (this.#oldest < this.#next && this.#ageAt(this.#oldest, unixMs) > TAIL_MS) this.#oldest++;
    if (this.isEmpty) this.#clear();
  }

  /** Removes all positions from memory. */
  #clear(): void {
    this.#words = new Uint32Array(SEGMENTS_MIN * TAIL_WORDS);
    this.#rows = new Uint32Array(SEGMENTS_MIN);
    this.#newest = new Float64Array(0);
    this.#oldest = 0;
    this.#next = 0;
    this.#staleFrom = 0;
  }

  /** Follows a change of the filter. */
  #dim(table: DeviceTable): void {
    for (let number = this.#oldest; number < this.#next; number++) {
      const slot = number % this.#capacity;
      const at = slot * TAIL_WORDS + 7;
      this.#words[at] = (this.#words[at]! & SHARE_WHOLE) | dimmedBit(table, this.#rows[slot]!);
    }
    this.#staleFrom = this.#oldest;
  }

  #move(table: DeviceTable, row: number, dots: DotBuffer, now: TailClock): void {
    const x = worldX(table.longitude[row]!);
    const y = worldY(table.latitude[row]!);
    const fromMs = dots.reportMsOf(row);
    const toMs = tailEndMs(table.timestampMs[row]!, now.unixMs);
    const seen = dots.positionAt(row, now.pageMs);
    const wayX = (x - seen.x) | 0;
    const wayY = y - seen.y;
    const isDrive =
      Math.max(Math.abs(wayX), Math.abs(wayY)) <= GLIDE_UNITS_MAX &&
      toMs - fromMs <= GAP_MS_MAX &&
      table.motion.stateOf(table, row) === "moving";
    if (!isDrive) {
      if (row < this.#newest.length) this.#newest[row] = NO_SEGMENT; // The next segment begins elsewhere.
      return;
    }
    if (wayX === 0 && wayY === 0) return;
    const newest = row < this.#newest.length ? this.#newest[row]! : NO_SEGMENT;
    if (newest >= this.#oldest && this.#extend(newest, seen, { x, y, ms: toMs }, now)) return;
    this.#makeRoom(now.unixMs);
    const number = this.#next++;
    const slot = number % this.#capacity;
    const glide = [now.pageMs, dimmedBit(table, row)];
    this.#words.set([seen.x, seen.y, x, y, fromMs, toMs, ...glide], slot * TAIL_WORDS); // Times modulo 2^32.
    this.#rows[slot] = row;
    if (row >= this.#newest.length) this.#growRows(row);
    this.#newest[row] = number;
  }

  /** Lets a segment lead on to a new end. If it can't, because it is long or bends, ends it where the dot is seen. */
  #extend(number: number, seen: Point, to: Point & { readonly ms: number }, now: TailClock): boolean {
    const words = this.#words;
    const at = (number % this.#capacity) * TAIL_WORDS;
    const pastX = (seen.x - words[at]!) | 0;
    const pastY = seen.y - words[at + 1]!;
    const wayX = (to.x - seen.x) | 0;
    const wayY = to.y - seen.y;
    const past = Math.hypot(pastX, pastY);
    const way = Math.hypot(wayX, wayY);
    const isStraight = pastX * wayX + pastY * wayY >= STRAIGHT_COSINE_MIN * past * way;
    const isExtended = isStraight && ((to.ms - words[at + 4]!) | 0) <= SEGMENT_MS_MAX;
    const end = isExtended ? to : seen;
    const share = isExtended ? Math.round((SHARE_WHOLE * past) / (past + way)) : SHARE_WHOLE;
    words[at + 2] = end.x;
    words[at + 3] = end.y;
    if (isExtended) words[at + 5] = to.ms;
    words[at + 6] = now.pageMs;
    words[at + 7] = share | (words[at + 7]! & TAIL_DIM);
    this.#staleFrom = Math.min(this.#staleFrom, number);
    return isExtended;
  }

  /** Makes room for a segment: more room if the oldest is still seen, up to the limit. */
  #makeRoom(unixMs: number): void {
    if (this.#next - this.#oldest === this.#capacity) this.fade(unixMs);
    if (this.#next - this.#oldest < this.#capacity) return;
    if (this.#capacity === SEGMENTS_MAX) this.#oldest++;
    else this.#grow();
  }

  /** Doubles the capacity, and numbers the segments from 0 again, so that they are in the first slots. */
  #grow(): void {
    const words = new Uint32Array(this.#words.length * 2);
    const rows = new Uint32Array(this.#capacity * 2);
    let count = 0;
    for (const { start, end } of this.#spansFrom(this.#oldest)) {
      words.set(this.#words.subarray(start * TAIL_WORDS, end * TAIL_WORDS), count * TAIL_WORDS);
      rows.set(this.#rows.subarray(start, end), count);
      count += end - start;
    }
    for (let row = 0; row < this.#newest.length; row++) this.#newest[row]! -= this.#oldest;
    this.#words = words;
    this.#rows = rows;
    this.#oldest = 0;
    this.#next = count;
    this.#staleFrom = 0;
  }

  #growRows(row: number): void {
    const newest = new Float64Array(Math.ceil((row + 1) * 1.25)).fill(NO_SEGMENT);
    newest.set(this.#newest);
    this.#newest = newest;
  }

  #ageAt(number: number, unixMs: number): number {
    return (unixMs - this.#words[(number % this.#capacity) * TAIL_WORDS + 5]!) | 0;
  }

  /** The slots of the segments from a number on. */
  #spansFrom(number: number): RowSpan[] {
    if (number >= this.#next) return [];
    const start = number % this.#capacity;
    const end = start + this.#next - number;
    if (end <= this.#capacity) return [{ start, end }];
    return [
      { start, end: this.#capacity },
      { start: 0, end: end - this.#capacity },
    ];
  }
}

function dimmedBit(table: DeviceTable, row: number): number {
  return table.isShown(row) ? 0 : TAIL_DIM;
}

/** A device whose clock is ahead would keep its tail too long. */
function tailEndMs(timestampMs: number, unixMs: number): number {
  return Math.min(timestampMs, unixMs);
}
