import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import { freshnessOf } from "../devices/freshness.ts";
import { worldX, worldY } from "../geo/world.ts";
import { GLIDE_MS } from "./glide-pace.ts";

/*
 * All dots as the graphics card reads them, 28 bytes each. A dot glides from its previous position to its current one.
 * The shader interpolates, so a dot that does not move costs nothing.
 *
 *   | word | what                                                                                  |
 *   |------|---------------------------------------------------------------------------------------|
 *   | 0, 1 | previous position: x, y of `world.ts`                                                 |
 *   | 2, 3 | current position                                                                      |
 *   | 4    | start of the glide, ms of the page's clock                                            |
 *   | 5    | time of the report, Unix seconds                                                      |
 *   | 6    | bearing in whole degrees, 511 if it has none; from bit 16 its level;                  |
 *   |      | bit 24 is set if it is in a cluster, which hides it unless it is marked               |
 */

export const DOT_WORDS = 7;
export const DOT_BYTES = DOT_WORDS * 4;

/** The emphasis of a dot; higher levels are drawn over lower ones. */
export const DOT_LEVELS = { dim: 0, plain: 1, marked: 2 } as const;

/** Dots jump instead of gliding over more than this, a thousandth of the world's width. */
export const GLIDE_UNITS_MAX = 2 ** 22;

const NO_BEARING = 511;
const LEVEL_SHIFT = 16;
const LEVEL_MASK = 3;
/** The bit of word 6 of a dot in a cluster. */
export const CLUSTERED = 1 << 24;
/** Rows that are uploaded together: for less than 7 kB a call costs more than its bytes. */
const BLOCK_ROWS = 256;
const CAPACITY_MIN = 1024;

/** Rows `start` to `end - 1`. */
export interface RowSpan {
  readonly start: number;
  readonly end: number;
}

/** The visible part of the map, in units of `world.ts`. */
export interface DotView {
  readonly center: readonly [x: number, y: number];
  /** The largest distance of a visible dot from the center. */
  readonly reach: readonly [x: number, y: number];
  readonly pixel: number;
}

/** Crowded cells of a grid over the world. */
export interface CrowdedCells {
  /** A position's column is its x, shifted right by this; its row is the same of y. */
  readonly shift: number;
  readonly columns: number;
  /** 1 for each crowded cell, row by row. */
  readonly isCrowded: Uint8Array;
}

/** The level in word 6. */
export function levelIn(word: number): number {
  return (word >>> LEVEL_SHIFT) & LEVEL_MASK;
}

/** Whether a dot with this word 6 is drawn. */
export function isDrawn(word: number): boolean {
  return (word & CLUSTERED) === 0 || levelIn(word) === DOT_LEVELS.marked;
}

export class DotBuffer {
  #size = 0;
  #words = new Uint32Array(0);
  /** 1 for each block that the graphics card has in an older version. */
  #stale = new Uint8Array(0);
  #marked: ReadonlySet<number> = new Set();
  #glideMs = GLIDE_MS;
  /** Rows that may be gliding. */
  readonly #gliding = new Set<number>();

  get size(): number {
    return this.#size;
  }

  get words(): Uint32Array {
    return this.#words;
  }

  /** 0 if dots jump instead of gliding. */
  get glideMs(): number {
    return this.#glideMs;
  }

  set glideMs(glideMs: number) {
    if (glideMs === this.#glideMs) return;
    this.#glideMs = glideMs;
    this.#gliding.clear();
  }

  /** Applies a change of the table. Known rows begin to glide to their new positions. */
  update(table: DeviceTable, change: TableChange, nowMs: number): void {
    if (change.kind === "all") {
      this.#fill(table);
      return;
    }
    if (change.kind === "shown") {
      this.#updateReports(table);
      return;
    }
    const sizeBefore = this.#size;
    this.#reserve(table.size);
    for (const row of change.rows) {
      if (row >= sizeBefore) this.#put(table, row);
      else this.#move(table, row, nowMs);
    }
  }

  /** Replaces the set of marked rows. */
  mark(rows: ReadonlySet<number>, table: DeviceTable): void {
    const changed = new Set([...this.#marked, ...rows]);
    this.#marked = rows;
    for (const row of changed) if (row < this.#size) this.#setReport(table, row);
  }

  /** Hides the dots in crowded cells, and shows all others. */
  hide(cells: CrowdedCells | null): void {
    const words = this.#words;
    for (let row = 0, at = 0; row < this.#size; row++, at += DOT_WORDS) {
      const look = words[at + 6]!;
      const isHidden =
        cells !== null &&
        cells.isCrowded[
          (words[at + 3]! >>> cells.shift) * cells.columns + (words[at + 2]! >>> cells.shift)
        ] === 1;
      const hidden = isHidden ? look | CLUSTERED : look & ~CLUSTERED;
      if (hidden === look) continue;
      words[at + 6] = hidden;
      this.#stale[Math.floor(row / BLOCK_ROWS)] = 1;
    }
  }

  /** The position of a dot, which is between its two positions while it glides. */
  positionAt(row: number, nowMs: number): { x: number; y: number } {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const left = this.#shareLeft(at, nowMs);
    const x = words[at + 2]!;
    const y = words[at + 3]!;
    if (left === 0) return { x, y };
    const stepX = (x - words[at]!) | 0;
    return { x: (x - stepX * left) >>> 0, y: y - (y - words[at + 1]!) * left };
  }

  /** The time of the report that a dot stands for, Unix ms, in whole seconds. */
  reportMsOf(row: number): number {
    return this.#words[row * DOT_WORDS + 5]! * 1000;
  }

  isGliding(row: number, nowMs: number): boolean {
    return this.#shareLeft(row * DOT_WORDS, nowMs) > 0;
  }

  /** One of `DOT_LEVELS`. */
  levelOf(row: number): number {
    return levelIn(this.#words[row * DOT_WORDS + 6]!);
  }

  /** The row of the nearest dot within `reach` that is neither dimmed nor hidden; null if there is none. */
  nearest(x: number, y: number, reach: number, nowMs: number): number | null {
    const words = this.#words;
    const size = this.#size;
    let nearest: number | null = null;
    let leastSquare = reach * reach;
    const tryAt = (row: number, atX: number, atY: number) => {
      const look = words[row * DOT_WORDS + 6]!;
      if (levelIn(look) === DOT_LEVELS.dim || !isDrawn(look)) return;
      const dx = (atX - x) | 0;
      const dy = atY - y;
      const square = dx * dx + dy * dy;
      if (square > leastSquare || (square === leastSquare && row < (nearest ?? 0))) return;
      leastSquare = square;
      nearest = row;
    };
    // Nearly all dots are too far north or south, which is decided by a single word.
    for (let row = 0, at = 3; row < size; row++, at += DOT_WORDS) {
      const south = words[at]! - y;
      if (south > reach || south < -reach || this.#gliding.has(row)) continue;
      tryAt(row, words[at - 1]!, words[at]!);
    }
    for (const row of this.#gliding) {
      const position = this.positionAt(row, nowMs);
      tryAt(row, position.x, position.y);
    }
    return nearest;
  }

  /** Whether a dot glides visibly: within the view, and by at least half a pixel. */
  isGlideSeen({ center, reach, pixel }: DotView, nowMs: number): boolean {
    const words = this.#words;
    for (const row of this.#gliding) {
      const at = row * DOT_WORDS;
      if (nowMs - words[at + 4]! >= this.#glideMs) {
        this.#gliding.delete(row);
        continue;
      }
      const endX = (words[at + 2]! - center[0]) | 0;
      const endY = words[at + 3]! - center[1];
      const wayX = (words[at + 2]! - words[at]!) | 0;
      const wayY = words[at + 3]! - words[at + 1]!;
      const isNear =
        leastBetween(endX - wayX, endX) <= reach[0] && leastBetween(endY - wayY, endY) <= reach[1];
      if (isNear && Math.max(Math.abs(wayX), Math.abs(wayY)) >= pixel / 2) return true;
    }
    return false;
  }

  /** Whether the age of a dot looks different at two times, in Unix ms. */
  hasAged(fromMs: number, toMs: number): boolean {
    const words = this.#words;
    for (let at = 5; at < this.#size * DOT_WORDS; at += DOT_WORDS) {
      const seenMs = words[at]! * 1000;
      if (freshnessOf(seenMs, fromMs) !== freshnessOf(seenMs, toMs)) return true;
    }
    return false;
  }

  /** Returns the rows that have changed since the last call. The caller must upload them. */
  takeStale(): RowSpan[] {
    const spans: RowSpan[] = [];
    const stale = this.#stale;
    for (let block = stale.indexOf(1); block !== -1; block = stale.indexOf(1, block)) {
      const start = block;
      while (stale[block] === 1) stale[block++] = 0;
      spans.push({ start: start * BLOCK_ROWS, end: Math.min(block * BLOCK_ROWS, this.#size) });
    }
    return spans;
  }

  /** The remaining share of the glide of the dot at this word. */
  #shareLeft(at: number, nowMs: number): number {
    if (this.#glideMs === 0) return 0;
    const ms = (nowMs - this.#words[at + 4]!) | 0;
    return ms < 0 ? 1 : Math.max(0, 1 - ms / this.#glideMs);
  }

  #fill(table: DeviceTable): void {
    if (table.size === 0) this.#words.fill(0); // No position stays in memory after a sign-out.
    this.#gliding.clear();
    this.#reserve(table.size);
    for (let row = 0; row < table.size; row++) this.#put(table, row);
  }

  /** Follows a change of the filter. */
  #updateReports(table: DeviceTable): void {
    for (let row = 0; row < this.#size; row++) this.#setReport(table, row);
  }

  #put(table: DeviceTable, row: number): void {
    const x = worldX(table.longitude[row]!);
    const y = worldY(table.latitude[row]!);
    this.#setGlide(row, x, y, x, y, 0);
    this.#words[row * DOT_WORDS + 6] = 0; // Another device may have had the row.
    this.#setReport(table, row);
  }

  #move(table: DeviceTable, row: number, nowMs: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const x = worldX(table.longitude[row]!);
    const y = worldY(table.latitude[row]!);
    if (x !== words[at + 2] || y !== words[at + 3]) {
      const from = this.positionAt(row, nowMs);
      const isDrive =
        Math.abs((x - from.x) | 0) <= GLIDE_UNITS_MAX && Math.abs(y - from.y) <= GLIDE_UNITS_MAX;
      if (isDrive && this.#glideMs > 0) this.#gliding.add(row);
      this.#setGlide(row, isDrive ? from.x : x, isDrive ? from.y : y, x, y, nowMs);
    }
    this.#setReport(table, row);
  }

  #setGlide(row: number, fromX: number, fromY: number, x: number, y: number, startMs: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    words[at] = fromX;
    words[at + 1] = fromY;
    words[at + 2] = x;
    words[at + 3] = y;
    words[at + 4] = startMs;
    this.#stale[Math.floor(row / BLOCK_ROWS)] = 1;
  }

  /** Sets the time, the bearing and the level of a dot. */
  #setReport(table: DeviceTable, row: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const level = this.#marked.has(row)
      ? DOT_LEVELS.marked
      : DOT_LEVELS[table.isShown(row) ? "plain" : "dim"];
    const seconds = Math.max(0, Math.floor(table.timestampMs[row]! / 1000));
    const look = directionOf(table, row) | (level << LEVEL_SHIFT) | (words[at + 6]! & CLUSTERED);
    if (words[at + 5] === seconds && words[at + 6] === look) return;
    words[at + 5] = seconds;
    words[at + 6] = look;
    this.#stale[Math.floor(row / BLOCK_ROWS)] = 1;
  }

  #reserve(size: number): void {
    this.#size = size;
    if (size * DOT_WORDS <= this.#words.length) return;
    const capacity = Math.max(CAPACITY_MIN, Math.ceil(size * 1.25));
    const words = new Uint32Array(capacity * DOT_WORDS);
    words.set(this.#words);
    this.#words = words;
    this.#stale = new Uint8Array(Math.ceil(capacity / BLOCK_ROWS)).fill(1);
  }
}

function directionOf(table: DeviceTable, row: number): number {
  const bearing = table.bearing[row]!;
  const isKnown = !Number.isNaN(bearing) && table.motion.stateOf(table, row) !== "stopped";
  return isKnown ? Math.round(bearing) % 360 : NO_BEARING;
}

/** The least distance from zero of the numbers between two others. */
function leastBetween(a: number, b: number): number {
  return a * b <= 0 ? 0 : Math.min(Math.abs(a), Math.abs(b));
}
