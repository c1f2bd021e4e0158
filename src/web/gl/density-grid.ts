/* The cells of the heatmap as a picture for the graphics card: a shade and a coverage for each cell. */

/** The number of positions of all devices, by cell of the map. */
export interface DensityCells {
  /** A cell is 1/64 of a tile of 256 pixels at this zoom. */
  readonly zoom: number;
  /** Column and row, counted from the map's north-west corner. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly count: readonly number[];
}

/** A part of the map, cell by cell. */
export interface DensityGrid {
  /** The north-west corner and the width of a cell, in units of `world.ts`. */
  readonly west: number;
  readonly north: number;
  readonly cellSize: number;
  readonly columns: number;
  readonly rows: number;
  /** Two bytes for each cell, by row: its shade times its coverage, and its coverage. Empty cells have none. */
  readonly texels: Uint8Array<ArrayBuffer>;
}

/** Every graphics card takes pictures of this size. A map of 5,800 pixels has as many columns. */
const SIDE_MAX = 2048;
/** Colors run out over two cells. */
const BORDER_CELLS = 2;
const TEXEL_BYTES = 2;

/** Null if there are no cells. Cells are joined if there would be too many for a picture. */
export function densityGrid(cells: DensityCells): DensityGrid | null {
  const shadeOf = shading(cells.count);
  for (let zoom = cells.zoom; ; zoom--) {
    const shift = 2 ** (cells.zoom - zoom);
    const columns = columnSpan(cells.x, shift, 64 * 2 ** zoom);
    const rows = span(cells.y, shift);
    if (columns === null || rows === null) return null;
    const north = Math.max(0, rows.first - BORDER_CELLS);
    const south = rows.last + BORDER_CELLS;
    const grid = {
      west: (columns.first - BORDER_CELLS) * squareSize(zoom),
      north: north * squareSize(zoom),
      cellSize: squareSize(zoom),
      columns: columns.last - columns.first + 1 + 2 * BORDER_CELLS,
      rows: south - north + 1,
    };
    if (Math.max(grid.columns, grid.rows) > SIDE_MAX) continue;
    const texels = new Uint8Array(grid.columns * grid.rows * TEXEL_BYTES);
    for (let cell = 0; cell < cells.count.length; cell++) {
      const column = columns.placeOf(Math.floor(cells.x[cell]! / shift)) + BORDER_CELLS;
      const row = Math.floor(cells.y[cell]! / shift) - north;
      const at = (row * grid.columns + column) * TEXEL_BYTES;
      // Of joined cells the greatest counts.
      texels[at] = Math.max(texels[at]!, Math.round(255 * shadeOf(cells.count[cell]!)));
      texels[at + 1] = 255;
    }
    return { ...grid, texels };
  }
}

interface Span {
  readonly first: number;
  readonly last: number;
}

function span(numbers: readonly number[], shift: number): Span | null {
  if (numbers.length === 0) return null;
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
  }
  return { first: Math.floor(least / shift), last: Math.floor(most / shift) };
}

interface ColumnSpan extends Span {
  /** A column's place after the first. */
  placeOf(column: number): number;
}

/**
 * The columns from the first to the last. A view across ±180° has columns at both ends of the world; then the first is
 * the one after the middle, and `last` lies beyond the world's width.
 */
function columnSpan(x: readonly number[], shift: number, world: number): ColumnSpan | null {
  const plain = span(x, shift);
  if (plain === null) return null;
  const middle = world / 2;
  const [east, west] = [
    x.filter((column) => column / shift >= middle),
    x.filter((column) => column / shift < middle),
  ];
  const [eastern, western] = [span(east, shift), span(west, shift)];
  const isAcross =
    eastern !== null && western !== null && western.last + world - eastern.first < plain.last - plain.first;
  if (!isAcross) return { ...plain, placeOf: (column) => column - plain.first };
  const { first } = eastern;
  return { first, last: western.last + world, placeOf: (column) => (column - first + world) % world };
}

/** The width of a cell in the world's units. */
export function squareSize(zoom: number): number {
  return 2 ** (32 - 6 - zoom);
}

/**
 * The counts of the first and the last color. The top 1% has the last one, so that one depot doesn't fill the scale.
 */
export function shadeRange(counts: readonly number[]): { readonly least: number; readonly most: number } {
  const sorted = Float64Array.from(counts).sort();
  return { least: sorted[0] ?? 1, most: sorted[Math.ceil((sorted.length - 1) * 0.99)] ?? 1 };
}

/** The shade of a count, 0 to 1, on a logarithmic scale, since a depot has a thousand times the count of a street. */
export function shading(counts: readonly number[]): (count: number) => number {
  const range = shadeRange(counts);
  const least = Math.log(range.least);
  const most = Math.log(range.most);
  if (most <= least) return () => 0.5;
  return (count) => Math.max(0, Math.min(1, (Math.log(count) - least) / (most - least)));
}
