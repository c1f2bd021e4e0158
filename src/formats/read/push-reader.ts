import type { Content, Reading } from "./format.ts";
import { FormatError } from "./format-error.ts";

/** A reading that is handed the bytes, for formats that need no more than one look at each. */
export interface PushReader {
  readonly place: number;
  /** Throws a `FormatError` where the rest can't be read. */
  push(piece: Uint8Array): void;
  /** The file has ended. Throws a `FormatError` where it should not have. */
  end(): void;
}

/** No row of a table is longer; a longer one has lost a quote or its line ends. */
export const ROW_BYTES_MAX = 1024 * 1024;

/** Throws a `FormatError` if a row that has not ended, and begins on this line, is longer than any. */
export function expectRow(waitingBytes: number, line: number): void {
  if (waitingBytes > ROW_BYTES_MAX)
    throw new FormatError(`line ${line} goes on for more than ${ROW_BYTES_MAX / 1024 / 1024} MiB`);
}

/** Hands a file's bytes to a reader, piece by piece. */
export function readPieces(content: Content, reader: PushReader): Reading {
  async function* read(): AsyncGenerator<void> {
    for await (const piece of content.pieces()) {
      reader.push(piece);
      yield;
    }
    reader.end();
    yield;
  }
  return {
    get place() {
      return reader.place;
    },
    [Symbol.asyncIterator]: read,
  };
}
