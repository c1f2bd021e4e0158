/** A position in a text that is read from the start, at the beginning of a record. */
export interface TextPosition {
  /** Bytes since the start of the text. */
  readonly offset: number;
  /** The line there, from 1. */
  readonly line: number;
}

export const TEXT_START: TextPosition = { offset: 0, line: 1 };
