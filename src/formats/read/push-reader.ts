import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { LF } from "../../lib/text/ascii.ts";
import type { PointSink } from "./file-point.ts";
import { type Content, FormatError, type FormatReader } from "./format.ts";

/** A reader that receives each byte once. */
export interface PushReader {
  readonly place: number;
  /** Throws a `FormatError` if the rest can't be read. */
  push(piece: Uint8Array): void;
  /** Ends the file. Throws a `FormatError` if it is incomplete. */
  end(): void;
}

/** The maximum size of a row; a longer one has lost a quote or its line ends. */
export const ROW_BYTES_MAX = 1024 * 1024;

/** Throws a `FormatError` if the unfinished row that begins on this line is too long. */
export function expectRow(waitingBytes: number, line: number): void {
  if (waitingBytes > ROW_BYTES_MAX)
    throw new FormatError(`line ${line} is longer than ${ROW_BYTES_MAX / 1024 / 1024} MiB`);
}

/** Passes a file to a reader, chunk by chunk. */
export function readPieces(content: Content, reader: PushReader): FormatReader {
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

/** Searches a file for information that its positions need and that follows them. */
export interface Scout {
  push(piece: Uint8Array): void;
  /** Whether the rest of the file is not needed. */
  readonly isDone: boolean;
}

/** Passes a file to a scout and then, from the start again, to a reader that uses its result. */
export function readAfterScout(content: Content, scout: Scout, reader: PushReader): FormatReader {
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

/** A format that is read line by line. */
export interface LineFormat {
  /** A non-empty line, trimmed. */
  readLine(text: string): void;
  /** Called at the end of the file. */
  end?(): void;
}

/** A longer line has lost its line ends, or holds a photo. */
const LINE_BYTES_MAX = 1024 * 1024;

const NOTHING = new Uint8Array(0);

/** Passes a file's lines to a line format. Lines that are too long or not text are skipped, and not buffered. */
export function createLinePoints(
  format: LineFormat,
  sink: PointSink,
  charset: "utf-8" | "latin1" = "utf-8",
): PushReader {
  const decoder = new TextDecoder(charset, { fatal: true });
  let line = 1;
  /** The unfinished line. */
  let lineStart: Uint8Array = NOTHING;
  let isTooLong = false;

  function take(part: Uint8Array): void {
    isTooLong ||= lineStart.length + part.length > LINE_BYTES_MAX;
    if (isTooLong) lineStart = NOTHING;
    else lineStart = lineStart.length === 0 ? part : joinBytes([lineStart, part]);
  }

  function readLine(): void {
    const text = isTooLong ? "" : textOf(lineStart);
    if (isTooLong) sink.skip("too_large");
    else if (text === null) sink.skip("unreadable");
    else if (text !== "") format.readLine(text);
    lineStart = NOTHING;
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
