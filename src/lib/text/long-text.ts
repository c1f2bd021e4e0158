import { isUtf8 } from "node:buffer";
import type { Steps } from "../schedule/steps.ts";

/*
 * Looking through bytes that may be text of any length, some at a step.
 */

/** Some 0.2 ms of looking for bytes that are no UTF-8. */
const UTF8_BYTES = 64 * 1024;
/** As long. */
const WHITE_BYTES = 64 * 1024;

/** Where a text lies in a body. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Whether the place holds UTF-8. */
export function* walkUtf8(body: Uint8Array, { start, end }: Place): Steps<boolean> {
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + UTF8_BYTES);
    // No character is cut in two: it has at most three bytes more, and more than three of those are no UTF-8 anyway.
    for (let back = 0; back < 3 && to < end && (body[to]! & 0xc0) === 0x80; back++) to--;
    if (!isUtf8(body.subarray(from, to))) return false;
    from = to;
    yield;
  }
  return true;
}

/** The first place from here on that is not white; a body may be megabytes of blanks. */
export function* skipWhite(body: Uint8Array, start: number, end = body.length): Steps<number> {
  for (let from = start; ; from += WHITE_BYTES) {
    const to = Math.min(from + WHITE_BYTES, end);
    const at = afterWhite(body, from, to);
    if (at < to || to === end) return at;
    yield;
  }
}

/** A place without white space around it, of which there may be as much. */
export function* walkTrimmed(body: Uint8Array, place: Place): Steps<Place> {
  const start = yield* skipWhite(body, place.start, place.end);
  for (let to = place.end; ; to -= WHITE_BYTES) {
    const from = Math.max(start, to - WHITE_BYTES);
    const end = beforeWhite(body, from, to);
    if (end > from || from === start) return { start, end };
    yield;
  }
}

/** The first place that is not white, up to the end. */
export function afterWhite(body: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isWhite(body[at]!)) at++;
  return at;
}

/** Where the last byte ends that is not white, down to the start. */
function beforeWhite(body: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && isWhite(body[at - 1]!)) at--;
  return at;
}

/** Without white space around it. */
export function trimmed(body: Uint8Array, from: number, to: number): Place {
  const start = afterWhite(body, from, to);
  return { start, end: beforeWhite(body, start, to) };
}

/** JSON's white space, line ends included. */
function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Where text begins behind a byte order mark, if there is one. */
export function afterMark(body: Uint8Array, at: number): number {
  return body[at] === 0xef && body[at + 1] === 0xbb && body[at + 2] === 0xbf ? at + 3 : at;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Null for what is no UTF-8. A byte order mark at the start is no part of the text. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
