import { decodeIndexColumn, encodeIndexColumn, indexColumnBytesMax } from "../../lib/frames/index-column.ts";
import { pad, padded, type Views } from "../../lib/frames/views.ts";

// The text column, 8-aligned: an index column of the texts' lengths in bytes, then their UTF-8, zero-padded to 8 bytes.
// The number of texts and their total bytes are in the head of the entry.

/** The most UTF-8 bytes for one UTF-16 unit. */
const UTF8_BYTES_MAX = 3;

export function textColumnBytesMax(texts: readonly string[]): number {
  let units = 0;
  for (let i = 1; i < texts.length; i++) units += texts[i]!.length;
  return indexColumnBytesMax(texts.length) + padded(units * UTF8_BYTES_MAX);
}

/**
 * Writes all texts but the placeholder `texts[0]`. Returns the position after the column, and the bytes of the texts.
 */
export function encodeTextColumn(target: Views, at: number, texts: readonly string[]): [number, number] {
  // The lengths come first, but are known last: the texts are written behind the longest possible lengths, then moved.
  const lengths = new Uint32Array(texts.length - 1);
  const written = at + indexColumnBytesMax(lengths.length);
  let position = written;
  for (let i = 0; i < lengths.length; i++) {
    const length = writeText(target, position, texts[i + 1]!);
    lengths[i] = length;
    position += length;
  }
  const start = encodeIndexColumn(target, at, lengths);
  target.bytes.copyWithin(start, written, position);
  return [pad(target, start + position - written), position - written];
}

function writeText(target: Views, at: number, text: string): number {
  const { bytes } = target;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return bytes.write(text, at);
    bytes[at + i] = unit; // Most texts are short and plain: a loop beats the call.
  }
  return text.length;
}

/** Reads texts. Equal short texts become the same string, since a log repeats its texts in every entry. */
export interface TextColumnReader {
  /**
   * Fills `out` from index 1. Returns the position after the column, or -1 if there is no valid column before `end`.
   */
  read(source: Views, at: number, end: number, textBytes: number, out: string[]): number;
}

/** Slots of remembered texts; with the longest text in each, about half a megabyte. */
const SLOTS = 8192;
const REMEMBERED_BYTES_MAX = 40;

export function createTextColumnReader(): TextColumnReader {
  const remembered = new Array<string>(SLOTS).fill("");

  function readText({ bytes }: Views, start: number, end: number): string {
    if (end - start > REMEMBERED_BYTES_MAX) return bytes.toString("utf8", start, end);
    let hash = 0x811c9dc5;
    let bits = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      hash = Math.imul(hash ^ byte, 0x01000193);
      bits |= byte;
    }
    if (bits > 0x7f) return bytes.toString("utf8", start, end);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const text = remembered[slot]!;
    if (isAsciiAt(bytes, start, end, text)) return text;
    const fresh = bytes.toString("latin1", start, end);
    remembered[slot] = fresh;
    return fresh;
  }

  return {
    read(source, at, end, textBytes, out) {
      const lengths = new Uint32Array(out.length - 1);
      const start = decodeIndexColumn(source, at, end, textBytes + 1, lengths);
      if (start < 0 || start + textBytes > end) return -1;
      let position = start;
      for (let i = 0; i < lengths.length; i++) {
        const after = position + lengths[i]!;
        if (after > start + textBytes) return -1;
        out[i + 1] = readText(source, position, after);
        position = after;
      }
      return position === start + textBytes ? padded(position) : -1;
    },
  };
}

function isAsciiAt(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
