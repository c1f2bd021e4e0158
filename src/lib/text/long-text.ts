import { isUtf8 } from "node:buffer";
import type { Steps } from "../schedule/steps.ts";

// Reads bytes that may be a text of any length, in steps.

/** Bytes validated per step, in some 0.2 ms. */
const UTF8_BYTES = 64 * 1024;
/** Bytes searched per step. */
const WHITE_BYTES = 64 * 1024;

/** A range of bytes in a body. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Whether the range is valid UTF-8. */
export function* walkUtf8(body: Uint8Array, { start, end }: ByteRange): Steps<boolean> {
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + UTF8_BYTES);
    // Avoids splitting a character, which has at most three continuation bytes; more of them are not UTF-8 anyway.
    for (let back = 0; back < 3 && to < end && (body[to]! & 0xc0) === 0x80; back++) to--;
    if (!isUtf8(body.subarray(from, to))) return false;
    from = to;
    yield;
  }
  return true;
}

/** The first position from `start` on that is not white space; a body may be megabytes of blanks. */
export function* skipWhite(body: Uint8Array, start: number, end = body.length): Steps<number> {
  for (let from = start; ; from += WHITE_BYTES) {
    const to = Math.min(from + WHITE_BYTES, end);
    const at = afterWhite(body, from, to);
    if (at < to || to === end) return at;
    yield;
  }
}

/** The range without surrounding white space, of which there may be megabytes. */
export function* walkTrimmed(body: Uint8Array, range: ByteRange): Steps<ByteRange> {
  const start = yield* skipWhite(body, range.start, range.end);
  for (let to = range.end; ; to -= WHITE_BYTES) {
    const from = Math.max(start, to - WHITE_BYTES);
    const end = beforeWhite(body, from, to);
    if (end > from || from === start) return { start, end };
    yield;
  }
}

/** The first position that is not white space, or `end`. */
export function afterWhite(body: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isWhite(body[at]!)) at++;
  return at;
}

/** The end of the last byte that is not white space, or `start`. */
function beforeWhite(body: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && isWhite(body[at - 1]!)) at--;
  return at;
}

/** The range without surrounding white space. */
export function trimmed(body: Uint8Array, from: number, to: number): ByteRange {
  const start = afterWhite(body, from, to);
  return { start, end: beforeWhite(body, start, to) };
}

/** JSON's white space, which includes line ends. */
function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The position after a byte order mark, if there is one. */
export function afterMark(body: Uint8Array, at: number): number {
  return body[at] === 0xef && body[at + 1] === 0xbb && body[at + 2] === 0xbf ? at + 3 : at;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Null if it is not valid UTF-8. A byte order mark at the start is dropped. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  const start = afterMark(bytes, 0);
  return decodeUtf8Part(start === 0 ? bytes : bytes.subarray(start));
}

/** Like `decodeUtf8()`, but keeps a byte order mark, which is a character within a text. */
export function decodeUtf8Part(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
