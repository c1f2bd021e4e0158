/** A realistic location history, generated from a seed. */
export interface History {
  /** The value of `--format`. */
  readonly format: string;
  readonly fileName: string;
  /** The maximum realistic size; Infinity if there is none. */
  readonly bytesMax: number;
  /** Generates the file in chunks, with at least `bytes` bytes and one position. */
  pieces(options: HistoryOptions): Generator<string>;
  /** Parses a chunk and returns the number of positions. */
  parse(piece: string): number;
}

export interface HistoryOptions {
  readonly seed: number;
  readonly bytesMin: number;
  /** The maximum time of a position, Unix ms. */
  readonly endMs: number;
}
