import { Buffer } from "node:buffer";
import type { Steps } from "../schedule/steps.ts";
import { type JsonFault, JsonWalk } from "./json-walk.ts";
import { type Place, trimmed } from "./long-text.ts";

/*
 * Where the values lie of a JSON text too long to be parsed in one piece. What nobody asks for is walked over and never
 * made.
 */

/**
 * Text that is parsed in one piece, which takes the engines 0.3 ms as reports and 6 ms where it is nothing but
 * brackets. Honest reports have some 500 bytes.
 */
export const PIECE_BYTES_MAX = 64 * 1024;

/** As deep as a text of one piece can be. RFC 8259 §9 lets a reader set such limits. */
const DEPTH_MAX = PIECE_BYTES_MAX;

/** Some 0.1 ms of walking. */
const WALK_BYTES = 16 * 1024;

/** Members of an object that somebody asks for. */
export interface WantedMembers {
  /** Of the longest name, in UTF-16 units. */
  readonly nameLengthMax: number;
  has(name: string): boolean;
}

export type WalkedPlaces<Places> = { readonly places: Places; readonly fault: JsonFault | null };

/** Where the members lie that are wanted; of those given twice the last, as parsers do. */
export function* walkMembers(
  body: Uint8Array,
  { start, end }: Place,
  wanted: WantedMembers,
): Steps<WalkedPlaces<Map<string, Place>>> {
  const places = new Map<string, Place>();
  const bytes = bufferOf(body);
  const walk = new JsonWalk(body, start, end, DEPTH_MAX, (valueStart, valueEnd, nameStart, nameEnd) => {
    const name = nameAt(bytes, nameStart, nameEnd, wanted.nameLengthMax);
    if (name !== null && wanted.has(name)) places.set(name, trimmed(body, valueStart, valueEnd));
  });
  while (walk.walk(WALK_BYTES)) yield;
  return { places, fault: walk.fault };
}

/** Where the elements of an array lie, as long as there are no more than `countMax`; null where there are. */
export function* walkElements(
  body: Uint8Array,
  { start, end }: Place,
  countMax: number,
): Steps<Place[] | null> {
  const places: Place[] = [];
  const walk = new JsonWalk(body, start, end, DEPTH_MAX, (elementStart, elementEnd) => {
    if (places.length <= countMax) places.push(trimmed(body, elementStart, elementEnd));
  });
  while (walk.walk(WALK_BYTES)) {
    if (places.length > countMax) return null;
    yield;
  }
  return places.length > countMax ? null : places;
}

/** The value at a place that is known to be JSON, in one piece. */
export function valueAt(body: Uint8Array, { start, end }: Place): unknown {
  return JSON.parse(bufferOf(body).toString("utf8", start, end));
}

export type JsonKind = "object" | "array" | "string" | "other";

export function kindAt(body: Uint8Array, { start }: Place): JsonKind {
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
 * Undefined where the text is no JSON, which JSON itself can't be. The engines' own words differ and may quote the
 * input.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The name between quotation marks; null for elements of an array, and for one that is longer than any that counts. */
function nameAt(bytes: Buffer, start: number, end: number, lengthMax: number): string | null {
  const place = trimmed(bytes, start, end);
  const length = place.end - place.start - 2;
  if (length < 0 || length > ESCAPED_BYTES * lengthMax) return null;
  const name = bytes.toString("utf8", place.start + 1, place.end - 1);
  return name.includes("\\") ? (valueAt(bytes, place) as string) : name;
}

/** `\u0061` for a letter; no character has more bytes of UTF-8 than that for each of its units. */
const ESCAPED_BYTES = 6;

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
