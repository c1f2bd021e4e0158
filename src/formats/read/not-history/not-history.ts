import type { Beginning } from "../format.ts";

/** What is known of a file that holds no positions. */
export interface NotHistory {
  /** What such files are counted under, such as `jpg` in "left alone: 8 jpg". */
  readonly kind: string;
  /** What it is and what to give instead: goes on from the file's name, and has no full stop. */
  readonly answer: string;
}

/** Files without positions that are known by how they begin, or by their names where nothing else tells. */
export interface Telltale extends NotHistory {
  tells(beginning: Beginning): boolean;
}
