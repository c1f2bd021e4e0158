import { joinBytes } from "../bytes/growing-bytes.ts";
import { LF } from "./ascii.ts";

/**
 * Text that arrives in pieces and is read in records: what a record lacks at the end of one piece waits for the
 * next. Readers look at `bytes` from `position` on, and `take` what they have understood. A byte order mark at
 * the very beginning is skipped.
 */
export interface ByteFeed {
  readonly bytes: Uint8Array;
  /** First byte in `bytes` that is not taken; all that follow have arrived. */
  readonly position: number;
  /** Nothing more will arrive, so the last record needs no line end. */
  readonly ended: boolean;
  push(piece: Uint8Array): void;
  end(): void;
  /** Everything before this place in `bytes` has been read. */
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
      if (isAtStart && startsWithMark(bytes)) take(MARK_BYTES);
    },
    end() {
      ended = true;
    },
    take,
  };
}

const MARK_BYTES = 3;

function startsWithMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Lines of a text that arrives in pieces; blank ones are left out. */
export interface LineReader {
  push(piece: Uint8Array): void;
  /** Nothing more follows: what is left is a line too. */
  end(): void;
  /** Moves to the next line; false where more must be pushed first, or nothing is left. */
  next(): boolean;
  /** Bytes of a line that has begun and not ended. */
  readonly waitingBytes: number;
  /** The line's number, from 1. */
  readonly line: number;
  /** The line without its end; null where it is not valid UTF-8. */
  text(): string | null;
}

export function createLineReader(): LineReader {
  const feed = createByteFeed();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text: string | null = null;
  let nextLine = 1;

  return {
    push: (piece) => feed.push(piece),
    end: () => feed.end(),
    next() {
      while (feed.position < feed.bytes.length) {
        const found = feed.bytes.indexOf(LF, feed.position);
        if (found < 0 && !feed.ended) return false;
        const end = found < 0 ? feed.bytes.length : found;
        text = decode(feed.bytes.subarray(feed.position, end));
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

  function decode(bytes: Uint8Array): string | null {
    try {
      return decoder.decode(bytes);
    } catch {
      return null;
    }
  }
}
