import type { Beginning, Content } from "./format.ts";

/** Enough for the first object or line of any file, with what stands before it. */
const BEGINNING_BYTES_MAX = 256 * 1024;

/** Reads how a file begins. Throws a `FormatError` where nothing of it can be read. */
export async function readBeginning(content: Pick<Content, "name" | "pieces">): Promise<Beginning> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content.pieces()) {
    pieces.push(piece);
    length += piece.length;
    if (length > BEGINNING_BYTES_MAX) break;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  const isWhole = length <= BEGINNING_BYTES_MAX;
  return beginningOf(all.subarray(0, BEGINNING_BYTES_MAX), isWhole, content.name);
}

/** What a file begins with, by its first bytes. */
export function beginningOf(first: Uint8Array, isWhole: boolean, name: string): Beginning {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, index) => first[index] === byte));
  const bytes = first.subarray(mark?.[0].length ?? 0);
  const [encoding, unitBytes] = mark === undefined ? (["utf-8", 1] as const) : mark[1];
  const isText = unitBytes > 1 || !bytes.subarray(0, BINARY_BYTES).includes(0);
  if (!isText) return { bytes, text: "", isWhole, name: name.toLowerCase() };

  let blanks = 0;
  while (blanks < bytes.length && isBlank(bytes, blanks, encoding)) blanks += unitBytes;
  const rest = bytes.subarray(blanks);
  // What is cut in the middle of a character lacks it.
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(rest, { stream: !isWhole });
  return { bytes: rest, text, isWhole, name: name.toLowerCase() };
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** Byte order marks, and the encoding that they tell with the bytes of its units. */
const MARKS: readonly (readonly [readonly number[], readonly [Encoding, number]])[] = [
  [
    [0xef, 0xbb, 0xbf],
    ["utf-8", 1],
  ],
  [
    [0xff, 0xfe],
    ["utf-16le", 2],
  ],
  [
    [0xfe, 0xff],
    ["utf-16be", 2],
  ],
];

/** No text has a zero byte, and hardly a file of another kind has none so near its start. */
const BINARY_BYTES = 8 * 1024;

const BLANKS: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

function isBlank(bytes: Uint8Array, at: number, encoding: Encoding): boolean {
  if (encoding === "utf-8") return BLANKS.includes(bytes[at]);
  const [low, high] = encoding === "utf-16le" ? [bytes[at], bytes[at + 1]] : [bytes[at + 1], bytes[at]];
  return high === 0 && BLANKS.includes(low);
}
