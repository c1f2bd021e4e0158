/** A repeated measurement. */
export interface Figure {
  readonly name: string;
  /** Tells the better direction: more for `…/s`, less for all others. */
  readonly unit: string;
  /** One number per run. */
  readonly runs: readonly number[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Aligned lines with the median, min and max of each figure. */
export function figureLines(figures: readonly Figure[]): string[] {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  return figures.map(({ name, unit, runs }) => {
    const [min, mid, max] = [Math.min(...runs), median(runs), Math.max(...runs)].map(readable);
    const value = unit === "" ? mid : `${mid} ${unit}`;
    const spread = runs.length === 1 ? "1 run" : `min ${min}, max ${max}, ${runs.length} runs`;
    return `${name.padEnd(width)}  ${value}  (${spread})`;
  });
}

export function readable(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
