import type { Figure } from "../figures/report.ts";

/** A question and the code that answers it. */
export interface Bench {
  readonly question: string;
  /** Sizes and seeds. Each is a flag: `devices` is `--devices 200000`, `dayMinutes` is `--day-minutes 60`. */
  readonly sizes: Readonly<Record<string, BenchSize>>;
  /** Parts that can be selected. Each is a flag that may be repeated: `shape` is `--shape deep-offsets`. */
  readonly choices?: Readonly<Record<string, BenchChoice>>;
  run(run: BenchRun): Promise<void>;
}

/** An adjustable number, with its value in each kind of run. */
export interface BenchSize {
  readonly help: string;
  /** A small value, to check that the bench works. */
  readonly smoke: number;
  readonly full: number;
}

/** Selectable parts of a bench. */
export interface BenchChoice {
  readonly help: string;
  readonly values: readonly string[];
  /** The default of a smoke run; all if missing. */
  readonly smoke?: readonly string[];
}

/**
 * A bench's sizes and results. Figures are printed immediately and stored in the results file by name, so figures,
 * ratios and verdicts of a bench need different names.
 */
export interface BenchRun {
  readonly isSmoke: boolean;
  /** The flag's value, or the default of this kind of run. Throws for a name that is not in `sizes`. */
  size(name: string): number;
  /** The selected values, in the order of the bench; all if none was selected. Throws for an unknown name. */
  chosen(name: string): readonly string[];
  /** Prints aligned medians with min and max. */
  figures(figures: readonly Figure[]): void;
  /** Prints the median of the ratios of each run, for two figures measured in turns, with its `bound`. */
  ratio(name: string, ours: Figure, control: Figure, bound?: Bound): number;
  /** Prints a single value with its bound. */
  verdict(name: string, value: number, unit: string, bound?: Bound): void;
  /** Prints a line of explanation. */
  note(text: string): void;
  /** Saves a file beside the results, e.g. `attach(".svg", plot)` for `NAME.svg`; ignored without a results file. */
  attach(ending: string, text: string): void;
}

/** A bound of a value, inclusive. */
export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}
