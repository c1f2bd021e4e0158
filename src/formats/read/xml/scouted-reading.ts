import type { Content, Reading } from "../format.ts";
import { type PushReader, readPieces } from "../push-reader.ts";

/** Looks through a file for what its positions need and stands behind them. */
export interface Scout {
  push(piece: Uint8Array): void;
  /** Whether the rest of the file would tell no more. */
  readonly isDone: boolean;
}

/** Hands a file's bytes to a scout and then, from the start again, to a reader that asks it. */
export function readAfterScout(content: Content, scout: Scout, reader: PushReader): Reading {
  async function* read(): AsyncGenerator<void> {
    for await (const piece of content.pieces()) {
      scout.push(piece);
      if (scout.isDone) break;
      yield;
    }
    yield* readPieces(content, reader);
  }
  return {
    get place() {
      return reader.place;
    },
    [Symbol.asyncIterator]: read,
  };
}
