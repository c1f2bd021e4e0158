import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import { freshnessOf } from "../devices/freshness.ts";
import { worldX, worldY } from "../geo/world.ts";
import { GLIDE_MS } from "./glide-pace.ts";

/*
 * All dots as the graphics card reads them, 28 bytes each. A dot glides from where it was to where it is; the shader
 * works out where between them it stands, so a dot that nobody moves costs nothing.
 *
 *   | word | what                                                                                  |
 *   |------|---------------------------------------------------------------------------------------|
 *   | 0, 1 | where it was: x, y of `world.ts`                                                      |
 *   | 2, 3 | where it is                                                                           |
 *   | 4    | when it began to glide, ms of the page's clock                                        |
 *   | 5    | when the device reported, Unix seconds                                                |
 *   | 6    | bearing in whole degrees, 511 where it goes nowhere; from bit 16 its `DotLevel`       |
 */

export const DOT_WORDS = 7;
export const DOT_BYTES = DOT_WORDS * 4;

/** How a dot stands out; higher ones lie before lower ones. */
export const DOT_LEVELS = { dim: 0, plain: 1, marked: 2 } as const;

/** A leap over more than this, a thousandth of the world's width, is no drive: nothing glides over it. */
const GLIDE_UNITS_MAX = 2 ** 22;

const NO_BEARING = 511;
const LEVEL_SHIFT = 16;
/** Rows that are uploaded together: 7 kB, below which a call costs more than its bytes. */
const BLOCK_ROWS = 256;
const CAPACITY_MIN = 1024;

/** Rows `start` to `end - 1`. */
export interface RowSpan {
  readonly start: number;
  readonly end: number;
}

/** What the map shows, in parts of the world's width. */
export interface DotView {
  readonly center: readonly [x: number, y: number];
  /** How far from the center a dot may be to be seen. */
  readonly reach: readonly [x: number, y: number];
  readonly pixel: number;
}

export class DotBuffer {
  #size = 0;
  #words = new Uint32Array(0);
  /** Of blocks: 1 where the graphics card has older words. */
  #stale = new Uint8Array(0);
  #marked: ReadonlySet<number> = new Set();
  #glideMs = GLIDE_MS;
  /** Rows that may be under way. */
  readonly #gliding = new Set<number>();

  get size(): number {
    return this.#size;
  }

  get words(): Uint32Array {
    return this.#words;
  }

  /** 0 where nothing glides. */
  get glideMs(): number {
    return this.#glideMs;
  }

  set glideMs(glideMs: number) {
    if (glideMs === this.#glideMs) return;
    this.#glideMs = glideMs;
    this.#gliding.clear();
  }

  /** Takes what has changed of the table. Rows that it has had before set out for where they are now. */
  take(table: DeviceTable, change: TableChange, nowMs: number): void {
    if (change.kind === "all") {
      this.#fill(table);
      return;
    }
    if (change.kind === "shown") {
      this.#lookAgain(table);
      return;
    }
    const sizeBefore = this.#size;
    this.#reserve(table.size);
    for (const row of change.rows) {
      if (row >= sizeBefore) this.#put(table, row);
      else this.#move(table, row, nowMs);
    }
  }

  /** Those that stand out, in place of those before. */
  mark(rows: ReadonlySet<number>, table: DeviceTable): void {
    const changed = new Set([...this.#marked, ...rows]);
    this.#marked = rows;
    for (const row of changed) if (row < this.#size) this.#setReport(table, row);
  }

  /** Where the dot stands: between its two places while it glides. */
  placeAt(row: number, nowMs: number): { x: number; y: number } {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const left = this.#shareLeft(at, nowMs);
    const x = words[at + 2]!;
    const y = words[at + 3]!;
    if (left === 0) return { x, y };
    const stepX = (x - words[at]!) | 0;
    return { x: (x - stepX * left) >>> 0, y: y - (y - words[at + 1]!) * left };
  }

  /** The row of the nearest dot that is no further than `reach`, of those that are not dimmed; null where none is. */
  nearest(x: number, y: number, reach: number, nowMs: number): number | null {
    const words = this.#words;
    let nearest: number | null = null;
    let leastSquare = reach * reach;
    for (let row = 0, at = 0; row < this.#size; row++, at += DOT_WORDS) {
      if (words[at + 6]! >>> LEVEL_SHIFT === DOT_LEVELS.dim) continue;
      const isGliding = nowMs - words[at + 4]! < this.#glideMs;
      const place = isGliding ? this.placeAt(row, nowMs) : null;
      const dx = ((place?.x ?? words[at + 2]!) - x) | 0;
      const dy = (place?.y ?? words[at + 3]!) - y;
      const square = dx * dx + dy * dy;
      if (square > leastSquare) continue;
      leastSquare = square;
      nearest = row;
    }
    return nearest;
  }

  /** Whether a dot is under way that is seen to move: by half a pixel at least, and where the map shows it. */
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

  /** Whether a dot looks older at one moment than at another, in Unix ms. */
  hasAged(fromMs: number, toMs: number): boolean {
    const words = this.#words;
    for (let at = 5; at < this.#size * DOT_WORDS; at += DOT_WORDS) {
      const seenMs = words[at]! * 1000;
      if (freshnessOf(seenMs, fromMs) !== freshnessOf(seenMs, toMs)) return true;
    }
    return false;
  }

  /** What the graphics card has not got yet; from now on it has. */
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

  /** What share of its way the dot at this word has before it. */
  #shareLeft(at: number, nowMs: number): number {
    if (this.#glideMs === 0) return 0;
    const ms = (nowMs - this.#words[at + 4]!) | 0;
    return ms < 0 ? 1 : Math.max(0, 1 - ms / this.#glideMs);
  }

  #fill(table: DeviceTable): void {
    if (table.size === 0) this.#words.fill(0); // Whoever signs out leaves no place behind.
    this.#gliding.clear();
    this.#reserve(table.size);
    for (let row = 0; row < table.size; row++) this.#put(table, row);
  }

  /** The filter lets others by. */
  #lookAgain(table: DeviceTable): void {
    for (let row = 0; row < this.#size; row++) this.#setReport(table, row);
  }

  #put(table: DeviceTable, row: number): void {
    const x = worldX(table.longitude[row]!);
    const y = worldY(table.latitude[row]!);
    this.#setWay(row, x, y, x, y, 0);
    this.#setReport(table, row);
  }

  #move(table: DeviceTable, row: number, nowMs: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const x = worldX(table.longitude[row]!);
    const y = worldY(table.latitude[row]!);
    if (x !== words[at + 2] || y !== words[at + 3]) {
      const from = this.placeAt(row, nowMs);
      const isDrive =
        Math.abs((x - from.x) | 0) <= GLIDE_UNITS_MAX && Math.abs(y - from.y) <= GLIDE_UNITS_MAX;
      if (isDrive && this.#glideMs > 0) this.#gliding.add(row);
      this.#setWay(row, isDrive ? from.x : x, isDrive ? from.y : y, x, y, nowMs);
    }
    this.#setReport(table, row);
  }

  #setWay(row: number, fromX: number, fromY: number, x: number, y: number, startMs: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    words[at] = fromX;
    words[at + 1] = fromY;
    words[at + 2] = x;
    words[at + 3] = y;
    words[at + 4] = startMs;
    this.#stale[Math.floor(row / BLOCK_ROWS)] = 1;
  }

  /** When it was seen, where it goes and how it stands out. */
  #setReport(table: DeviceTable, row: number): void {
    const words = this.#words;
    const at = row * DOT_WORDS;
    const level = this.#marked.has(row)
      ? DOT_LEVELS.marked
      : DOT_LEVELS[table.isShown(row) ? "plain" : "dim"];
    const seconds = Math.max(0, Math.floor(table.timestampMs[row]! / 1000));
    const look = directionOf(table, row) | (level << LEVEL_SHIFT);
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

/** How far the numbers between two are from zero, at least. */
function leastBetween(a: number, b: number): number {
  return a * b <= 0 ? 0 : Math.min(Math.abs(a), Math.abs(b));
}
