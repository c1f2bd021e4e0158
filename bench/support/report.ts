import { cpus, totalmem } from "node:os";

/** One run of a bench: figures by name, each measured several times. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** One number a run. */
  readonly runs: readonly number[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Prints min, median and max of each figure. */
export function printFigures(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  for (const { name, unit, runs } of figures) {
    const [min, mid, max] = [Math.min(...runs), median(runs), Math.max(...runs)].map(readable);
    console.log(`  ${name.padEnd(width)}  ${mid} ${unit}  (min ${min}, max ${max}, ${runs.length} runs)`);
  }
}

/** Ratio of two figures measured side by side: the median of the ratios of each run. */
export function printRatio(name: string, ours: Figure, control: Figure, wanted: string): number {
  const ratio = median(ours.runs.map((value, run) => value / control.runs[run]!));
  console.log(`  ${name}: ${readable(ratio)} (wanted: ${wanted})`);
  return ratio;
}

export function printMachine(): void {
  const [first] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  console.log(
    `${first?.model ?? "unknown processor"}, ${cpus().length} cores, ${gib} GiB, Bun ${Bun.version}`,
  );
}

export function readable(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
