import { joinBytes } from "../bytes/growing-bytes.ts";

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
