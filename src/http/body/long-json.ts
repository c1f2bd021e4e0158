import { Buffer, isUtf8 } from "node:buffer";
import type { Steps } from "../../lib/schedule/steps.ts";
import { type JsonFault, JsonWalk } from "../../lib/text/json-walk.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";

/*
 * What is read of a JSON text too long to be parsed in one piece: where its reports lie, and of a report that is too
 * long itself the members that somebody asks for. All else is walked over and never made.
 */

/**
 * Text that is parsed in one piece, which takes the engines 0.3 ms as reports and 6 ms where it is nothing but
 * brackets. Honest reports have some 500 bytes.
 */
export const PIECE_BYTES_MAX = 64 * 1024;

/** As deep as a text of one piece can be. RFC 8259 §9 lets a reader set such limits. */
const DEPTH_MAX = PIECE_BYTES_MAX;

/** Some 0.1 ms of walking, and 0.2 ms of looking for bytes that are no UTF-8. */
const WALK_BYTES = 16 * 1024;
const UTF8_BYTES = 64 * 1024;
/** As long. */
const WHITE_BYTES = 64 * 1024;

/** Where a value lies in a body, without white space around it. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export type WalkedPlaces<Places> = { readonly places: Places; readonly fault: JsonFault | null };

const { names: NAMES, lengthMax: NAME_LENGTH_MAX } = namesOfInterest();

function namesOfInterest() {
  const names = new Set(["locations", ...REPORT_FIELDS.map(({ name }) => name)]);
  return { names, lengthMax: Math.max(...[...names].map(({ length }) => length)) };
}

/** Where the members lie that a report or a body may have; of those given twice the last, as parsers do. */
export function* walkMembers(
  body: Uint8Array,
  { start, end }: Place,
): Steps<WalkedPlaces<Map<string, Place>>> {
  const places = new Map<string, Place>();
  const bytes = bufferOf(body);
  const walk = new JsonWalk(body, start, end, DEPTH_MAX, (valueStart, valueEnd, nameStart, nameEnd) => {
    const name = nameAt(bytes, nameStart, nameEnd);
    if (NAMES.has(name)) places.set(name, trimmed(body, valueStart, valueEnd));
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

/** The report at a place that is known to be JSON: what `addReport` makes of it is what it would make of the whole. */
export function* readReportAt(body: Uint8Array, place: Place): Steps<unknown> {
  if (isShort(place) || kindAt(body, place) !== "object") return readValueAt(body, place);
  return yield* readMembersAt(body, (yield* walkMembers(body, place)).places);
}

export function* readMembersAt(
  body: Uint8Array,
  places: ReadonlyMap<string, Place>,
): Steps<Record<string, unknown>> {
  const report: Record<string, unknown> = {};
  for (const [name, place] of places) {
    report[name] = readValueAt(body, place);
    yield;
  }
  return report;
}

/** The value at a place that is known to be JSON; for a long one another of its kind that no field takes either. */
function readValueAt(body: Uint8Array, place: Place): unknown {
  if (isShort(place)) return JSON.parse(bufferOf(body).toString("utf8", place.start, place.end));
  return NO_FIELDS_VALUE[kindAt(body, place)];
}

function isShort({ start, end }: Place): boolean {
  return end - start <= PIECE_BYTES_MAX;
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
 * A text of 64 KiB has thousands of characters, escaped or not; a number of as many digits is none that anybody
 * measured.
 */
const NO_FIELDS_VALUE: Readonly<Record<JsonKind, unknown>> = {
  object: {},
  array: [],
  string: " ".repeat(1000),
  other: Number.NaN,
};

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

export function trimmed(body: Uint8Array, start: number, end: number): Place {
  let [from, to] = [start, end];
  while (from < to && isWhite(body[from]!)) from++;
  while (from < to && isWhite(body[to - 1]!)) to--;
  return { start: from, end: to };
}

/** The first place from here on that is not white; a body may be megabytes of blanks. */
export function* skipWhite(body: Uint8Array, start: number): Steps<number> {
  for (let from = start; ; from += WHITE_BYTES) {
    const end = Math.min(from + WHITE_BYTES, body.length);
    const at = afterWhite(body, from, end);
    if (at < end || end === body.length) return at;
    yield;
  }
}

function afterWhite(body: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isWhite(body[at]!)) at++;
  return at;
}

/** JSON's white space, line ends included. */
function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * The name between quotation marks; empty for elements of an array, and for one that is longer than any that counts.
 */
function nameAt(bytes: Buffer, start: number, end: number): string {
  const place = trimmed(bytes, start, end);
  const length = place.end - place.start - 2;
  if (length <= 0 || length > ESCAPED_LENGTH * NAME_LENGTH_MAX) return "";
  const name = bytes.toString("latin1", place.start + 1, place.end - 1);
  return name.includes("\\") ? (JSON.parse(bytes.toString("utf8", place.start, place.end)) as string) : name;
}

/** `\u0061` for a letter. */
const ESCAPED_LENGTH = 6;

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
