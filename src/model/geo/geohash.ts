import type { Box } from "./box.ts";

/**
 * Geohash cells as whole numbers. The bits halve the longitudes and the latitudes in turn, longitudes first, so a
 * cell's number is a prefix of the numbers of all cells inside it: `cell / 4` (rounded down) is the cell two bits
 * coarser. Numbers of different bit counts are different cells.
 */
export const CELL_BITS_MAX = 52; // Exact in a double, in 26 bits a direction: 0.6 m of longitude at the equator.

/**
 * The cell of a point; latitude 90 and longitude 180 belong to the last row and column. Rounding may put a point just
 * before an edge into the next cell, so a search must compute its cells with this function too: it is monotonic, that
 * is a greater longitude or latitude never gets an earlier column or row.
 */
export function geohashCell(latitude: number, longitude: number, bits: number): number {
  const columns = 1 << ((bits + 1) >>> 1); // `**` would take longer than everything else here.
  const rows = 1 << (bits >>> 1);
  const column = Math.min(columns - 1, Math.floor(((longitude + 180) / 360) * columns));
  const row = Math.min(rows - 1, Math.floor(((latitude + 90) / 180) * rows));
  return bits & 1 ? interleave(column, row) : interleave(row, column);
}

/** The cell's rectangle; its edges are exact, and neighbours share them. */
export function geohashBox(cell: number, bits: number): Box {
  const last = deinterleave(cell);
  const other = deinterleave(Math.floor(cell / 2));
  const column = bits & 1 ? last : other;
  const row = bits & 1 ? other : last;
  const columnDegrees = 360 / 2 ** ((bits + 1) >>> 1);
  const rowDegrees = 180 / 2 ** (bits >>> 1);
  return {
    minLatitude: row * rowDegrees - 90,
    maxLatitude: (row + 1) * rowDegrees - 90,
    minLongitude: column * columnDegrees - 180,
    maxLongitude: (column + 1) * columnDegrees - 180,
  };
}

/** Puts the bits of `even` at 0, 2, 4 … and those of `odd` at 1, 3, 5 …, up to 26 of each. */
function interleave(even: number, odd: number): number {
  const low = spread(even & 0xffff) | (spread(odd & 0xffff) << 1);
  const high = spread(even >>> 16) | (spread(odd >>> 16) << 1);
  return high * 2 ** 32 + (low >>> 0);
}

/** Collects the bits at 0, 2, 4 …. */
function deinterleave(cell: number): number {
  return gather(Math.floor(cell / 2 ** 32)) * 2 ** 16 + gather(cell % 2 ** 32);
}

/** Puts a 0 before each of 16 bits, by halves: 8 and 8, then fours, twos and ones. */
function spread(value: number): number {
  let bits = value;
  bits = (bits | (bits << 8)) & 0x00ff00ff;
  bits = (bits | (bits << 4)) & 0x0f0f0f0f;
  bits = (bits | (bits << 2)) & 0x33333333;
  return (bits | (bits << 1)) & 0x55555555;
}

/** Reverses `spread`; drops the bits at 1, 3, 5 …. */
function gather(value: number): number {
  let bits = value & 0x55555555;
  bits = (bits | (bits >>> 1)) & 0x33333333;
  bits = (bits | (bits >>> 2)) & 0x0f0f0f0f;
  bits = (bits | (bits >>> 4)) & 0x00ff00ff;
  return (bits | (bits >>> 8)) & 0x0000ffff;
}
