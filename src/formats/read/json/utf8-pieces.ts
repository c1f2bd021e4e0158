import { Buffer } from "node:buffer";

/** A file's text as UTF-8: one that begins with the mark of UTF-16 is written anew. */
export async function* utf8Pieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  /** Undefined until two bytes are known, null for what is no UTF-16. */
  let decoder: TextDecoder | null | undefined;
  let first: Uint8Array = new Uint8Array(0);
  for await (const piece of pieces) {
    let next = piece;
    if (decoder === undefined) {
      next = first.length === 0 ? piece : Buffer.concat([first, piece]);
      first = next.slice(0, 1);
      if (next.length < 2) continue;
      decoder = utf16Decoder(next);
    }
    yield decoder === null ? next : encoder.encode(decoder.decode(next, { stream: true }));
  }
  if (decoder === undefined) yield first;
}

const encoder = new TextEncoder();

function utf16Decoder([first, second]: Uint8Array): TextDecoder | null {
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le");
  return first === 0xfe && second === 0xff ? new TextDecoder("utf-16be") : null;
}
