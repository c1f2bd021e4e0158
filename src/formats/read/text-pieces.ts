import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import { CR, LF } from "../../lib/text/ascii.ts";
import { FormatError } from "./format.ts";

/*
 * The one place where the bytes of a file become a text that all formats read: what recognizes a file and what reads
 * it see the same. Bytes that are no text, as those of FIT, pass as they are.
 */

type Pieces = AsyncIterable<Uint8Array>;

/** A file's text as UTF-8, whose lines end in LF or CRLF. A byte order mark of UTF-8 stays. */
export function textPieces(pieces: Pieces): Pieces {
  return afterHead(afterHead(pieces, toUtf8), toLineFeeds);
}

/** Changes the bytes of a file, piece by piece. */
interface Change {
  next(piece: Uint8Array): Uint8Array;
  /** What is left when the file has ended. */
  end(): Uint8Array;
}

/** Enough to tell how a text is written, whatever stands before its first line. */
const HEAD_BYTES = 64 * 1024;

/** Looks at the beginning before it hands out anything; null leaves the file as it is. */
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
    yield* decided(); // What came before the damage is good.
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

/** What is looked at where no mark tells, and what tells nothing yet. */
const SAMPLE_BYTES = 1024;
const UNITS_MIN = 4;

/** By its mark, or since every other byte of an ordinary text in UTF-16 is zero. */
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

/** Where lines end in CR alone, as on old Macs and behind serial lines, they end in LF from here on. */
function toLineFeeds(head: Uint8Array): Change | null {
  if (isBinary(head) || !hasLoneCr(head)) return null;
  /** Whether the piece before ended in a CR, which was held back. */
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

/** No text has a zero byte, and hardly a file of another kind has none near its start. */
export function isBinary(head: Uint8Array): boolean {
  return head.subarray(0, BINARY_BYTES).includes(0);
}

const BINARY_BYTES = 8 * 1024;

/** Behind one CR another may stand, and then an LF: such lines end in LF. */
function hasLoneCr(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    const next = bytes[at + 1];
    if (next !== LF && next !== CR && (next !== undefined || !bytes.includes(LF))) return true;
  }
  return false;
}
