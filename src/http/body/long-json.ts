import type { Steps } from "../../lib/schedule/steps.ts";
import { type JsonKind, kindAt, PIECE_BYTES_MAX, valueAt, walkMembers } from "../../lib/text/long-json.ts";
import type { ByteRange } from "../../lib/text/long-text.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";

/* Reads a report that is too long to parse at once: only its known members. */

/** The members of a report, and of a body with reports. */
export const REPORT_MEMBERS = namesOfInterest();

function namesOfInterest() {
  const names = new Set(["locations", ...REPORT_FIELDS.map(({ name }) => name)]);
  return {
    nameLengthMax: Math.max(...[...names].map(({ length }) => length)),
    has: (name: string) => names.has(name),
  };
}

/** Reads a report in a range of valid JSON. `addReport` treats the result exactly like the complete report. */
export function* readReportAt(body: Uint8Array, range: ByteRange): Steps<unknown> {
  if (isShort(range) || kindAt(body, range) !== "object") return readValueAt(body, range);
  return yield* readMembersAt(body, (yield* walkMembers(body, range, REPORT_MEMBERS)).ranges);
}

export function* readMembersAt(
  body: Uint8Array,
  ranges: ReadonlyMap<string, ByteRange>,
): Steps<Record<string, unknown>> {
  const report: Record<string, unknown> = {};
  for (const [name, range] of ranges) {
    report[name] = readValueAt(body, range);
    yield;
  }
  return report;
}

/** The value in a range of valid JSON; for a long one, a value of the same kind that every field rejects too. */
function readValueAt(body: Uint8Array, range: ByteRange): unknown {
  return isShort(range) ? valueAt(body, range) : NO_FIELDS_VALUE[kindAt(body, range)];
}

function isShort({ start, end }: ByteRange): boolean {
  return end - start <= PIECE_BYTES_MAX;
}

/** Fields reject these values. A text of 64 KiB has thousands of characters, and no measurement has as many digits. */
const NO_FIELDS_VALUE: Readonly<Record<JsonKind, unknown>> = {
  object: {},
  array: [],
  string: " ".repeat(1000),
  other: Number.NaN,
};
