import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import type { Beginning, Content } from "./format.ts";
import { isBinary, textPieces } from "./text-pieces.ts";

/** Enough for the first object or line of any file, and what precedes it. */
const BEGINNING_BYTES_MAX = 256 * 1024;

/** Reads the beginning of a file. Throws a `FormatError` if nothing of it can be read. */
export async function readBeginning(content: Pick<Content, "name" | "pieces">): Promise<Beginning> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of textPieces(content.pieces())) {
    pieces.push(piece);
    length += piece.length;
    if (length > BEGINNING_BYTES_MAX) break;
  }
  const isWhole = length <= BEGINNING_BYTES_MAX;
  return beginningOf(joinBytes(pieces).subarray(0, BEGINNING_BYTES_MAX), isWhole, content.name);
}

/** Decodes the first bytes of a file. */
export function beginningOf(first: Uint8Array, isWhole: boolean, name: string): Beginning {
  const bytes = first.subarray(MARK.every((byte, index) => first[index] === byte) ? MARK.length : 0);
  if (isBinary(bytes)) return { bytes, text: "", isWhole, name: name.toLowerCase() };

  let blanks = 0;
  while (blanks < bytes.length && BLANKS.includes(bytes[blanks]!)) blanks++;
  const rest = bytes.subarray(blanks);
  // A character that is cut off is left out.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(rest, { stream: !isWhole });
  return { bytes: rest, text, isWhole, name: name.toLowerCase() };
}

/** UTF-8's byte order mark. */
const MARK: readonly number[] = [0xef, 0xbb, 0xbf];

const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];
