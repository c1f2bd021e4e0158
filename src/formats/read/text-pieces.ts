import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { CR, LF } from "../../lib/text/ascii.ts";
import { FormatError } from "./format.ts";

/*
 * Converts a file's bytes to the text that all formats read, in one place, so that recognition and reading see the
 * same. Binary files, such as FIT, pass unchanged.
 */

type Pieces = AsyncIterable<Uint8Array>;

/** Returns the text as UTF-8 with lines that end in LF or CRLF. A byte order mark stays. */
export function textPieces(pieces: Pieces): Pieces {
  return afterHead(afterHead(pieces, toUtf8), toLineFeeds);
}

/** Converts a file chunk by chunk. */
interface Change {
  next(piece: Uint8Array): Uint8Array;
  /** Returns the rest at the end of the file. */
  end(): Uint8Array;
}

/** Enough to detect the encoding, whatever precedes the first line. */
const HEAD_BYTES = 64 * 1024;

/** Chooses the conversion by the beginning of the file; null leaves it unchanged. */
async function* afterHead(
  pieces: Pieces,
  changeOf: (head: Uint8Array) => Change | null,
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isDecided = false;
  let change: Change | null = null;

  function* decided(): Generator<Uint8Array> {
    if (!isDecided) change = changeOf(waiting.length === 1 ? waiting[0]! : joinBytes(waiting));
    isDecided = true;
    for (const piece of waiting) yield change === null ? piece : change.next(piece);
    waiting = [];
  }

  try {
    for await (const piece of pieces) {
      waiting.push(piece);
      waitingBytes += piece.length;
      if (isDecided || waitingBytes >= HEAD_BYTES) yield* decided();
    }
  } catch (error) {
    yield* decided(); // The part before the damage is good.
    throw error;
  }
  yield* decided();
  const last = (change as Change | null)?.end();
  if (last !== undefined && last.length > 0) yield last;
}

function toUtf8(head: Uint8Array): Change | null {
  const charset = utf16Of(head);
  if (charset === null) return null;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder(charset);
  return {
    next: (piece) => encoder.encode(decoder.decode(piece, { stream: true })),
    end: () => encoder.encode(decoder.decode()),
  };
}

const UTF_32_MARKS = [
  [0xff, 0xfe, 0, 0],
  [0, 0, 0xfe, 0xff],
];

/** The size of the sample if there is no byte order mark, and the minimum of units for a decision. */
const SAMPLE_BYTES = 1024;
const UNITS_MIN = 4;

/** Detects UTF-16 by its mark, or by every other byte being zero. */
function utf16Of(head: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (UTF_32_MARKS.some((mark) => mark.every((byte, at) => head[at] === byte)))
    throw new FormatError("it is in UTF-32, which is not read here: save it as UTF-8");
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  const units = Math.min(SAMPLE_BYTES, head.length) >> 1;
  let evenZeros = 0;
  let oddZeros = 0;
  for (let unit = 0; unit < units; unit++) {
    if (head[2 * unit] === 0) evenZeros++;
    if (head[2 * unit + 1] === 0) oddZeros++;
  }
  const [fewer, more] = [Math.min(evenZeros, oddZeros), Math.max(evenZeros, oddZeros)];
  if (units < UNITS_MIN || more < units / 2 || fewer > units / 16) return null;
  return oddZeros > evenZeros ? "utf-16le" : "utf-16be";
}

/** Replaces lone CRs by LF, as they end lines on old Macs and on serial lines. */
function toLineFeeds(head: Uint8Array): Change | null {
  if (isBinary(head) || !hasLoneCr(head)) return null;
  /** Whether a CR at the end of the former chunk is held back. */
  let hasCr = false;
  return {
    next(piece) {
      const from = hasCr ? 1 : 0;
      const bytes = new Uint8Array(from + piece.length);
      bytes[0] = CR;
      bytes.set(piece, from);
      for (let at = bytes.indexOf(CR); at >= 0 && at < bytes.length - 1; at = bytes.indexOf(CR, at + 1))
        if (bytes[at + 1] !== LF) bytes[at] = LF;
      hasCr = bytes.at(-1) === CR;
      return hasCr ? bytes.subarray(0, -1) : bytes;
    },
    end: () => (hasCr ? Uint8Array.of(LF) : new Uint8Array(0)),
  };
}

/** Text has no zero byte, and nearly every binary file has one near its start. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, BINARY_BYTES).includes(0);
}

const BINARY_BYTES = 8 * 1024;

/** Several CRs may precede an LF: such lines end in LF. */
function hasLoneCr(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    const next = bytes[at + 1];
    if (next !== LF && next !== CR && (next !== undefined || !bytes.includes(LF))) return true;
  }
  return false;
}
