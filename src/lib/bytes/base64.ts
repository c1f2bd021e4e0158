import { Buffer } from "node:buffer";
import type { Steps } from "../schedule/steps.ts";

/** Bytes decoded per step, in some 0.2 ms. */
const PIECE_BYTES = 64 * 1024;
/** Letters that make whole bytes together. */
const GROUP = 4;
const PADDING = "=".charCodeAt(0);

const IS_LETTER = new Uint8Array(256);
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
  IS_LETTER[letter.charCodeAt(0)] = 1;
}

/**
 * Decodes Base64 (RFC 4648, either alphabet) of any length, in steps. Other characters are skipped, as by most
 * decoders, so the text may be JSON's, in which some encoders escape each slash. Padding ends it.
 */
export function* decodeBase64(text: Uint8Array): Steps<Uint8Array> {
  const decoded = Buffer.allocUnsafe(Math.ceil((text.length * 3) / GROUP));
  const letters = Buffer.allocUnsafe(Math.min(text.length, PIECE_BYTES) + GROUP);
  let count = 0;
  let size = 0;

  function decode(end: number): void {
    size += decoded.write(letters.toString("latin1", 0, end), size, "base64");
    letters.copyWithin(0, end, count);
    count -= end;
  }

  for (let start = 0; start < text.length; start += PIECE_BYTES) {
    if (start > 0) yield;
    const end = Math.min(start + PIECE_BYTES, text.length);
    for (let at = start; at < end; at++) {
      const byte = text[at]!;
      if (IS_LETTER[byte] === 1) letters[count++] = byte;
      else if (byte === PADDING) {
        decode(count);
        return decoded.subarray(0, size);
      }
    }
    decode(count - (count % GROUP));
  }
  decode(count);
  return decoded.subarray(0, size);
}
