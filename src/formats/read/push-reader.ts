import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { LF } from "../../lib/text/ascii.ts";
import type { PointSink } from "./file-point.ts";
import { type Content, FormatError, type Reading } from "./format.ts";

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

/** What a format makes of its lines, one after the other. */
export interface LineFormat {
  /** A line without its end and the blanks around it, that isn't empty. */
  readLine(text: string): void;
  /** The file has ended: whatever waits for another line may go. */
  end?(): void;
}

/** What is longer has lost its line ends, or holds a photo. */
const LINE_BYTES_MAX = 1024 * 1024;

const NOTHING = new Uint8Array(0);

/** Hands a file's lines to a format of lines. Those that are too long or no text are skipped alone, never kept. */
export function createLinePoints(
  format: LineFormat,
  sink: PointSink,
  charset: "utf-8" | "latin1" = "utf-8",
): PushReader {
  const decoder = new TextDecoder(charset, { fatal: true });
  let line = 1;
  /** Of a line that has not ended. */
  let begun: Uint8Array = NOTHING;
  let isTooLong = false;

  function take(part: Uint8Array): void {
    isTooLong ||= begun.length + part.length > LINE_BYTES_MAX;
    if (isTooLong) begun = NOTHING;
    else begun = begun.length === 0 ? part : joinBytes([begun, part]);
  }

  function readLine(): void {
    const text = isTooLong ? "" : textOf(begun);
    if (isTooLong) sink.skip("too_large");
    else if (text === null) sink.skip("unreadable");
    else if (text !== "") format.readLine(text);
    begun = NOTHING;
    isTooLong = false;
  }

  function textOf(bytes: Uint8Array): string | null {
    try {
      return decoder.decode(bytes).trim();
    } catch {
      return null;
    }
  }

  return {
    get place() {
      return line;
    },
    push(piece) {
      let at = 0;
      for (;;) {
        const end = piece.indexOf(LF, at);
        take(piece.subarray(at, end < 0 ? piece.length : end));
        if (end < 0) break;
        readLine();
        line++;
        at = end + 1;
      }
    },
    end() {
      readLine();
      format.end?.();
    },
  };
}
