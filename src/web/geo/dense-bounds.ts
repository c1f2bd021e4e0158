import { type Bounds, boundsOf } from "./bounds.ts";
import { WORLD_SIZE, worldX, worldY } from "./world.ts";

/*
 * Bounds of most positions, for the first view: one device that was taken on a holiday must not shrink all others to a
 * blob. Positions are counted in cells of a grid. The smallest box of cells with enough positions is searched in
 * the whole world, then in a finer grid around that box, until the box is many cells wide.
 */

/** The share of the positions that the bounds hold. */
export const DENSE_SHARE = 0.95;

/** All of fewer positions are shown: among these, one is not an outlier. */
export const DENSE_COUNT_MIN = 20;

/** Positions are left out only if the map then shows the others this many times larger. */
const GAIN_MIN = 1.5;

/** Cells along each side of a grid. Searching takes the third power of it: 0.6 ms. */
const CELLS = 64;

/** A box this wide is exact enough: at most an eighth too large, before it shrinks to its positions. */
const BOX_CELLS_MIN = 16;

/** The smallest cell, in units of `world.ts`: 0.6 m. */
const CELL_UNITS_MIN = 64;

/** A sample decides for more positions, so that 200,000 take ten milliseconds and not fifty. */
const SAMPLE_MAX = 20_000;

/** Added to the share in a sample, in which a box may hold a little more than it does of all positions. */
const SAMPLE_MARGIN = 0.005;

/** Steps of the golden ratio spread a sample evenly over the rows, whatever their order. */
const SAMPLE_STEP = (Math.sqrt(5) - 1) / 2;

/**
 * The smallest bounds of 95% of the positions, or of all positions if there are few of them or these bounds would be
 * little smaller; null if there are none. A box is small if its longer side is short on the map.
 */
export function denseBoundsOf(latitudes: Float64Array, longitudes: Float64Array): Bounds | null {
  const count = latitudes.length;
  if (count < DENSE_COUNT_MIN) return boundsOf(latitudes, longitudes);
  const isSample = count > SAMPLE_MAX;
  const someLatitudes = isSample ? sampleOf(latitudes) : latitudes;
  const someLongitudes = isSample ? sampleOf(longitudes) : longitudes;
  const x = Uint32Array.from(someLongitudes, worldX);
  const y = Uint32Array.from(someLatitudes, worldY);
  const share = DENSE_SHARE + (isSample ? SAMPLE_MARGIN : 0);
  const isInside = denseBox(x, y, Math.ceil(share * x.length));
  const isDense = (_: number, row: number) => isInside(x[row]!, y[row]!);
  const dense = boundsOf(someLatitudes.filter(isDense), someLongitudes.filter(isDense))!;
  const all = boundsOf(someLatitudes, someLongitudes)!;
  if (longerSide(all) >= GAIN_MIN * longerSide(dense)) return dense;
  return isSample ? boundsOf(latitudes, longitudes) : all;
}

function sampleOf(values: Float64Array): Float64Array {
  const sample = new Float64Array(SAMPLE_MAX);
  for (let each = 0; each < SAMPLE_MAX; each++)
    sample[each] = values[Math.floor(((each * SAMPLE_STEP) % 1) * values.length)]!;
  return sample;
}

/** In units of `world.ts`. */
function longerSide({ west, south, east, north }: Bounds): number {
  return Math.max(((east - west) / 360) * WORLD_SIZE, worldY(south) - worldY(north));
}

/** A square part of the world in square cells. In the first grid, which spans the world, columns go around it. */
interface Grid {
  readonly west: number;
  readonly north: number;
  readonly cellUnits: number;
}

/** Rows and columns of a grid, the ends excluded. */
interface Box {
  readonly column: number;
  readonly columnEnd: number;
  readonly row: number;
  readonly rowEnd: number;
}

/** Whether a position is in the box that was found. */
type Inside = (x: number, y: number) => boolean;

function denseBox(x: Uint32Array, y: Uint32Array, countMin: number): Inside {
  let grid: Grid = { west: 0, north: 0, cellUnits: WORLD_SIZE / CELLS };
  for (;;) {
    const { west, north, cellUnits } = grid;
    const columns = cellUnits * CELLS === WORLD_SIZE ? 2 * CELLS : CELLS;
    const sums = sumsOf(countCells(x, y, grid), columns);
    const { column, columnEnd, row, rowEnd } = smallestBox(sums, columns, countMin);
    const boxCells = Math.max(columnEnd - column, rowEnd - row);
    if (boxCells >= BOX_CELLS_MIN || cellUnits <= CELL_UNITS_MIN) {
      const boxWest = west + column * cellUnits;
      const boxNorth = north + row * cellUnits;
      const [width, height] = [(columnEnd - column) * cellUnits, (rowEnd - row) * cellUnits];
      return (atX, atY) => (atX - boxWest) >>> 0 < width && atY >= boxNorth && atY - boxNorth < height;
    }
    // Two boxes with most positions have some in common, so the smallest box of all lies within this distance.
    const around = boxCells + 1;
    grid = {
      west: west + (column - around) * cellUnits,
      north: north + (row - around) * cellUnits,
      cellUnits: Math.ceil(((boxCells + 2 * around) * cellUnits) / CELLS),
    };
  }
}

/** How many positions are in each cell, row by row. */
function countCells(x: Uint32Array, y: Uint32Array, { west, north, cellUnits }: Grid): Uint32Array {
  const cells = new Uint32Array(CELLS * CELLS);
  const size = cellUnits * CELLS;
  for (let row = 0; row < x.length; row++) {
    const right = (x[row]! - west) >>> 0;
    const down = y[row]! - north;
    if (right >= size || down < 0 || down >= size) continue;
    cells[Math.floor(down / cellUnits) * CELLS + Math.floor(right / cellUnits)]!++;
  }
  return cells;
}

/** Sums of the cells above, with one row more. Columns beyond the grid are its first ones again. */
function sumsOf(cells: Uint32Array, columns: number): Uint32Array {
  const sums = new Uint32Array((CELLS + 1) * columns);
  for (let row = 0; row < CELLS; row++)
    for (let column = 0; column < columns; column++)
      sums[(row + 1) * columns + column] =
        sums[row * columns + column]! + cells[row * CELLS + (column % CELLS)]!;
  return sums;
}

/** For each range of rows, a window moves over the columns and is as narrow as the count allows. */
function smallestBox(sums: Uint32Array, columns: number, countMin: number): Box {
  let smallest: Box = { column: 0, columnEnd: CELLS, row: 0, rowEnd: CELLS };
  let [side, area] = [CELLS, CELLS * CELLS + 1];
  for (let row = 0; row < CELLS; row++)
    for (let rowEnd = row + 1; rowEnd <= CELLS && rowEnd - row <= side; rowEnd++) {
      const [above, below] = [row * columns, rowEnd * columns];
      let count = 0;
      let column = 0;
      for (let end = 0; end < columns; end++) {
        count += sums[below + end]! - sums[above + end]!;
        for (; count >= countMin && end - column < CELLS; column++) {
          const width = end + 1 - column;
          const longer = Math.max(width, rowEnd - row);
          const boxArea = width * (rowEnd - row);
          if (longer < side || (longer === side && boxArea < area)) {
            [side, area] = [longer, boxArea];
            smallest = { column, columnEnd: end + 1, row, rowEnd };
          }
          count -= sums[below + column]! - sums[above + column]!;
        }
      }
    }
  return smallest;
}
