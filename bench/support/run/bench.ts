import type { Figure } from "../figures/report.ts";

/** One question and the code that answers it. */
export interface Bench {
  readonly question: string;
  /** Sizes and seeds. Each is a flag: `devices` is `--devices 200000`, `dayMinutes` is `--day-minutes 60`. */
  readonly sizes: Readonly<Record<string, BenchSize>>;
  /**
   * What a run may be narrowed to. Each is a flag that may be given several times: `shape` is `--shape deep-offsets`.
   */
  readonly choices?: Readonly<Record<string, BenchChoice>>;
  run(run: BenchRun): Promise<void>;
}

/** A number that somebody may want to turn, and what it is in each kind of run. */
export interface BenchSize {
  readonly help: string;
  /** Small: shows that the bench works. */
  readonly smoke: number;
  readonly full: number;
}

/** Parts of a bench that somebody may want alone. */
export interface BenchChoice {
  readonly help: string;
  readonly values: readonly string[];
  /** Where none is chosen, a smoke run takes these; left out, it takes all. */
  readonly smoke?: readonly string[];
}

/**
 * What a bench gets: its sizes, and where its figures go. They are printed at once and kept for the results file,
 * where a later run finds them by their names: two figures, ratios or verdicts of a bench differ in name.
 */
export interface BenchRun {
  readonly isSmoke: boolean;
  /** The flag's value, or the size of this kind of run. Throws for a name that is not in `sizes`. */
  size(name: string): number;
  /** The values that were chosen, in the order of the bench; all where none was. Throws as `size` does. */
  chosen(name: string): readonly string[];
  /** Prints medians with min and max, aligned. */
  figures(figures: readonly Figure[]): void;
  /**
   * The median of the ratios run by run, for two figures measured in turns. `bound` says what it should reach.
   */
  ratio(name: string, ours: Figure, control: Figure, bound?: Bound): number;
  /** A single value, beside what it should reach. */
  verdict(name: string, value: number, unit: string, bound?: Bound): void;
  /** A line of explanation. */
  note(text: string): void;
  /** A file beside the results, e.g. `attach(".svg", plot)` for `NAME.svg`; dropped where none are written. */
  attach(ending: string, text: string): void;
}

/** What a value should reach; both ends belong to it. */
export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}
