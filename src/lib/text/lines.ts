import { joinBytes } from "../bytes/growing-bytes.ts";
import { LF } from "./ascii.ts";
import { afterMark, decodeUtf8Part } from "./long-text.ts";

/**
 * Text that arrives in pieces and is read in records: an incomplete record waits for the next piece. Readers read
 * `bytes` from `position` on, and `take()` what is complete. A byte order mark at the beginning is skipped.
 */
export interface ByteFeed {
  readonly bytes: Uint8Array;
  /** The first byte that is not taken; all bytes behind it have arrived. */
  readonly position: number;
  /** Whether no more will arrive, so that the last record needs no line end. */
  readonly ended: boolean;
  push(piece: Uint8Array): void;
  end(): void;
  /** Marks everything before this position in `bytes` as read. */
  take(position: number): void;
}

export function createByteFeed(): ByteFeed {
  let bytes: Uint8Array = new Uint8Array(0);
  let position = 0;
  let ended = false;
  /** Whether nothing was taken yet. */
  let isAtStart = true;

  function take(to: number): void {
    isAtStart = false;
    position = to;
  }

  return {
    get bytes() {
      return bytes;
    },
    get position() {
      return position;
    },
    get ended() {
      return ended;
    },
    push(piece) {
      bytes = position === bytes.length ? piece : joinBytes([bytes.subarray(position), piece]);
      position = 0;
      if (isAtStart && afterMark(bytes, 0) > 0) take(afterMark(bytes, 0));
    },
    end() {
      ended = true;
    },
    take,
  };
}

/** Lines of a text that arrives in pieces, without blank ones. */
export interface LineReader {
  push(piece: Uint8Array): void;
  /** Call after the last piece: the rest is a line too. */
  end(): void;
  /** Moves to the next line; false if more must be pushed first, or nothing is left. */
  next(): boolean;
  /** Bytes of an incomplete line. */
  readonly waitingBytes: number;
  /** The line's number, from 1. */
  readonly line: number;
  /** The line without its end; null if it is not valid UTF-8. */
  text(): string | null;
}

export function createLineReader(): LineReader {
  const feed = createByteFeed();
  let text: string | null = null;
  let nextLine = 1;

  return {
    push: (piece) => feed.push(piece),
    end: () => feed.end(),
    next() {
      while (feed.position < feed.bytes.length) {
        const lineEnd = feed.bytes.indexOf(LF, feed.position);
        if (lineEnd < 0 && !feed.ended) return false;
        const end = lineEnd < 0 ? feed.bytes.length : lineEnd;
        text = decodeUtf8Part(feed.bytes.subarray(feed.position, end));
        nextLine++;
        feed.take(Math.min(end + 1, feed.bytes.length));
        if (text?.trim() !== "") return true;
      }
      return false;
    },
    get waitingBytes() {
      return feed.bytes.length - feed.position;
    },
    get line() {
      return nextLine - 1;
    },
    text: () => text,
  };
}
