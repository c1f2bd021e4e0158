import { zxyToTileId } from "pmtiles";
import { cellAt, mercatorX, mercatorY } from "../mercator.ts";
import type { Bounds } from "../tile-file.ts";

/** Numbers of tiles from `start` to `end` (excluded). */
export interface IdRange {
  readonly start: number;
  readonly end: number;
}

/** Edges of an area, in tiles. An area of a large country at street level has a few thousand. */
const EDGE_TILES_MAX = 200_000;

/**
 * The numbers of all tiles that touch the bounds, in order; null if the area is too large. Tiles are numbered along a
 * Hilbert curve, so all tiles of a zoom inside one tile of a lower zoom are one range.
 */
export function tileRanges(bounds: Bounds, minZoom: number, maxZoom: number): IdRange[] | null {
  const ranges: IdRange[] = [];
  for (let zoom = minZoom; zoom <= maxZoom; zoom++) {
    const window = windowAt(bounds, zoom);
    const { west, east, north, south } = window;
    if (east - west + (south - north) > EDGE_TILES_MAX) return null;
    const ofZoom: IdRange[] = [];
    collect(window, zoom, [0, 0, 0], ofZoom);
    for (const range of ofZoom.sort((a, b) => a.start - b.start)) add(ranges, range);
  }
  return ranges;
}

/** Columns and rows of tiles, all included. */
interface Window {
  readonly west: number;
  readonly east: number;
  readonly north: number;
  readonly south: number;
}

function windowAt([west, south, east, north]: Bounds, zoom: number): Window {
  return {
    west: cellAt(mercatorX(west), zoom),
    east: cellAt(mercatorX(east), zoom),
    north: cellAt(mercatorY(north), zoom),
    south: cellAt(mercatorY(south), zoom),
  };
}

/** Collects the tiles of a zoom that are in the window and inside the tile z/x/y. */
function collect(
  window: Window,
  zoom: number,
  [z, x, y]: readonly [z: number, x: number, y: number],
  into: IdRange[],
): void {
  const side = 2 ** (zoom - z); // Of the tile z/x/y, in tiles of the zoom.
  const [west, east, north, south] = [x * side, (x + 1) * side - 1, y * side, (y + 1) * side - 1];
  if (east < window.west || west > window.east || south < window.north || north > window.south) return;
  const isInside =
    west >= window.west && east <= window.east && north >= window.north && south <= window.south;
  if (isInside) {
    const onCurve = zxyToTileId(z, x, y) - firstId(z);
    const start = firstId(zoom) + onCurve * side * side;
    into.push({ start, end: start + side * side });
    return;
  }
  for (const [right, below] of QUARTERS) collect(window, zoom, [z + 1, 2 * x + right, 2 * y + below], into);
}

const QUARTERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

/** All tiles of lower zooms have lower numbers. */
function firstId(zoom: number): number {
  return (4 ** zoom - 1) / 3;
}

function add(ranges: IdRange[], { start, end }: IdRange): void {
  const last = ranges.at(-1);
  if (last !== undefined && last.end === start) ranges[ranges.length - 1] = { start: last.start, end };
  else ranges.push({ start, end });
}

/** Finds which numbers of a range are wanted. Calls must come in order, since the position only moves forward. */
export class RangeCursor {
  readonly #ranges: readonly IdRange[];
  #at = 0;

  constructor(ranges: readonly IdRange[]) {
    this.#ranges = ranges;
  }

  /** The wanted parts of a range, in order. */
  *within({ start, end }: IdRange): Generator<IdRange> {
    while (this.#at < this.#ranges.length && this.#ranges[this.#at]!.end <= start) this.#at++;
    for (let i = this.#at; i < this.#ranges.length; i++) {
      const range = this.#ranges[i]!;
      if (range.start >= end) return;
      yield { start: Math.max(start, range.start), end: Math.min(end, range.end) };
    }
  }
}
