/** Positions in cells of a map: how many of all devices were ever reported in each. */
export interface DensityCells {
  /** A cell is 1/64 of a tile of 256 pixels at this zoom. */
  readonly zoom: number;
  /** Counted in cells from the map's north-west corner. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly count: readonly number[];
}

/** A square as the graphics card reads it: x and y of its north-west corner by `world.ts`, and its shade. */
export const SQUARE_WORDS = 3;

/** The width of a cell in the world's units. */
export function squareSize(zoom: number): number {
  return 2 ** (32 - 6 - zoom);
}

/** All squares in a row. Shades are thousandths of the way from the lightest color to the darkest. */
export function densitySquares({ zoom, x, y, count }: DensityCells): Uint32Array {
  const size = squareSize(zoom);
  const shadeOf = shading(count);
  const words = new Uint32Array(count.length * SQUARE_WORDS);
  for (let cell = 0, at = 0; cell < count.length; cell++, at += SQUARE_WORDS) {
    words[at] = x[cell]! * size;
    words[at + 1] = y[cell]! * size;
    words[at + 2] = Math.round(1000 * shadeOf(count[cell]!));
  }
  return words;
}

/** The counts that are lightest and darkest: the top hundredth is all darkest, so one depot doesn't take the scale. */
export function shadeRange(counts: readonly number[]): { readonly least: number; readonly most: number } {
  const sorted = Float64Array.from(counts).sort();
  return { least: sorted[0] ?? 1, most: sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 1 };
}

/** How dark a count is, 0 to 1: by its logarithm, since depots have a thousand times what a street has. */
export function shading(counts: readonly number[]): (count: number) => number {
  const range = shadeRange(counts);
  const least = Math.log(range.least);
  const most = Math.log(range.most);
  if (most <= least) return () => 0.5;
  return (count) => Math.max(0, Math.min(1, (Math.log(count) - least) / (most - least)));
}
