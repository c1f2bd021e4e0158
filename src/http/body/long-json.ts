import type { Steps } from "../../lib/schedule/steps.ts";
import { type JsonKind, kindAt, PIECE_BYTES_MAX, valueAt, walkMembers } from "../../lib/text/long-json.ts";
import type { Place } from "../../lib/text/long-text.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";

/*
 * What is read of a report that is too long to be parsed in one piece: the members that somebody asks for.
 */

/** Members that a report or a body of reports may have. */
export const REPORT_MEMBERS = namesOfInterest();

function namesOfInterest() {
  const names = new Set(["locations", ...REPORT_FIELDS.map(({ name }) => name)]);
  return {
    nameLengthMax: Math.max(...[...names].map(({ length }) => length)),
    has: (name: string) => names.has(name),
  };
}

/** The report at a place that is known to be JSON: what `addReport` makes of it is what it would make of the whole. */
export function* readReportAt(body: Uint8Array, place: Place): Steps<unknown> {
  if (isShort(place) || kindAt(body, place) !== "object") return readValueAt(body, place);
  return yield* readMembersAt(body, (yield* walkMembers(body, place, REPORT_MEMBERS)).places);
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
  return isShort(place) ? valueAt(body, place) : NO_FIELDS_VALUE[kindAt(body, place)];
}

function isShort({ start, end }: Place): boolean {
  return end - start <= PIECE_BYTES_MAX;
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
