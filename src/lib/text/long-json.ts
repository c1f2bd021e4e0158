import { Buffer } from "node:buffer";
import type { Steps } from "../schedule/steps.ts";
import { type JsonFault, JsonWalk } from "./json-walk.ts";
import { type ByteRange, trimmed } from "./long-text.ts";

// Finds values in a JSON text that is too long to parse in one go. Other values are skipped without creating them.

/**
 * The longest text that is parsed in one go, in 0.3 ms if it is reports, and 6 ms if it is nothing but brackets. Usual
 * reports have some 500 bytes.
 */
export const PIECE_BYTES_MAX = 64 * 1024;

/** As deep as a text of that length can be. RFC 8259 §9 allows such limits. */
const DEPTH_MAX = PIECE_BYTES_MAX;

/** Bytes per step, in some 0.1 ms. */
const WALK_BYTES = 16 * 1024;

/** The members of an object to find. */
export interface WantedMembers {
  /** Length of the longest name, in UTF-16 units. */
  readonly nameLengthMax: number;
  has(name: string): boolean;
}

export type WalkedRanges<Ranges> = { readonly ranges: Ranges; readonly fault: JsonFault | null };

/** The ranges of the wanted members. If one occurs twice, the last counts, as in parsers. */
export function* walkMembers(
  body: Uint8Array,
  { start, end }: ByteRange,
  wanted: WantedMembers,
): Steps<WalkedRanges<Map<string, ByteRange>>> {
  const ranges = new Map<string, ByteRange>();
  const bytes = bufferOf(body);
  const walk = new JsonWalk(body, start, end, DEPTH_MAX, (valueStart, valueEnd, nameStart, nameEnd) => {
    const name = nameAt(bytes, nameStart, nameEnd, wanted.nameLengthMax);
    if (name !== null && wanted.has(name)) ranges.set(name, trimmed(body, valueStart, valueEnd));
  });
  while (walk.walk(WALK_BYTES)) yield;
  return { ranges, fault: walk.fault };
}

/** The ranges of an array's elements; null if there are more than `countMax`. */
export function* walkElements(
  body: Uint8Array,
  { start, end }: ByteRange,
  countMax: number,
): Steps<ByteRange[] | null> {
  const ranges: ByteRange[] = [];
  const walk = new JsonWalk(body, start, end, DEPTH_MAX, (elementStart, elementEnd) => {
    if (ranges.length <= countMax) ranges.push(trimmed(body, elementStart, elementEnd));
  });
  while (walk.walk(WALK_BYTES)) {
    if (ranges.length > countMax) return null;
    yield;
  }
  return ranges.length > countMax ? null : ranges;
}

/** Parses the value in a range that must be valid JSON. */
export function valueAt(body: Uint8Array, { start, end }: ByteRange): unknown {
  return JSON.parse(bufferOf(body).toString("utf8", start, end));
}

export type JsonKind = "object" | "array" | "string" | "other";

export function kindAt(body: Uint8Array, { start }: ByteRange): JsonKind {
  switch (body[start]) {
    case 0x7b:
      return "object";
    case 0x5b:
      return "array";
    case 0x22:
      return "string";
    default:
      return "other";
  }
}

/**
 * Undefined, which JSON can't express, if the text is not JSON. The engines' error messages differ and may quote the
 * input.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The name between quotes; null for an element of an array, and for a name longer than any wanted one. */
function nameAt(bytes: Buffer, start: number, end: number, lengthMax: number): string | null {
  const range = trimmed(bytes, start, end);
  const length = range.end - range.start - 2;
  if (length < 0 || length > ESCAPED_BYTES * lengthMax) return null;
  const name = bytes.toString("utf8", range.start + 1, range.end - 1);
  return name.includes("\\") ? (valueAt(bytes, range) as string) : name;
}

/** `\u0061` for a letter. No character takes more bytes of UTF-8 per UTF-16 unit. */
const ESCAPED_BYTES = 6;

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
