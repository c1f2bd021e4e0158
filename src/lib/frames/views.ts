import { Buffer } from "node:buffer";

/**
 * One run of bytes, seen as numbers of several widths, so that a column needs no view of its own. Numbers are at
 * multiples of their width and little-endian, the byte order of every machine that Bun and Deno support.
 */
export interface Views {
  readonly bytes: Buffer;
  readonly u16: Uint16Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
}

/** Views of the bytes themselves if they are 8-aligned, else of a copy. */
export function viewsOf(bytes: Uint8Array): Views {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const { buffer, byteOffset, byteLength } = aligned;
  return {
    bytes: Buffer.from(buffer, byteOffset, byteLength),
    u16: new Uint16Array(buffer, byteOffset, byteLength >> 1),
    u32: new Uint32Array(buffer, byteOffset, byteLength >> 2),
    f64: new Float64Array(buffer, byteOffset, byteLength >> 3),
  };
}

/** The next multiple of 8. */
export function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Fills with zeros up to the next multiple of 8. Returns that position. */
export function pad(views: Views, at: number): number {
  const end = padded(at);
  views.bytes.fill(0, at, end);
  return end;
}
