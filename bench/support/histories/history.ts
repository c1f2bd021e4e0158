/** A location history as people bring it, made up from a seed. */
export interface History {
  /** As `--format` calls it. */
  readonly format: string;
  readonly fileName: string;
  /** Files are rarely longer; Infinity where people bring any length. */
  readonly bytesMax: number;
  /** The file, a piece at a time, of at least so many bytes; of none it is the shortest that has a position. */
  pieces(options: HistoryOptions): Generator<string>;
  /** How many positions a bare parser, which does nothing with them, finds in a piece. */
  parse(piece: string): number;
}

export interface HistoryOptions {
  readonly seed: number;
  readonly bytesMin: number;
  /** No position is newer, in Unix ms. */
  readonly endMs: number;
}
