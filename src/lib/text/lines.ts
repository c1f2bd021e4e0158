import { LF } from "./ascii.ts";
import { createByteFeed } from "./byte-feed.ts";

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
