import type { Content, Reading } from "./format.ts";

/** A reading that is handed the bytes, for formats that need no more than one look at each. */
export interface PushReader {
  readonly place: number;
  /** Throws a `FormatError` where the rest can't be read. */
  push(piece: Uint8Array): void;
  /** The file has ended. Throws a `FormatError` where it should not have. */
  end(): void;
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
