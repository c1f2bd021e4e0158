import { isObject } from "../../lib/is-object.ts";
import { CsvReader } from "../../lib/text/csv-reader.ts";
import { parseDecimal } from "../../lib/text/decimal.ts";
import type { Beginning } from "./format.ts";
import { findMeaning } from "./table/column-names.ts";

/** Formats of this program, whose reports are checked as those that come over HTTP. */
export const OWN_FORMATS = ["csv", "ndjson"] as const;

export type OwnFormat = (typeof OWN_FORMATS)[number];

/** What every report has. */
const REQUIRED = ["device_id", "timestamp", "latitude", "longitude"];

/** Which of them a file is in for sure, and why; what only looks like it is left to the formats of others. */
export function recogniseOwn(beginning: Beginning): { format: OwnFormat; reason: string } | null {
  const has = `has ${REQUIRED.join(", ")}`;
  if (isOwnCsv(beginning))
    return { format: "csv", reason: `its header ${has}, and its times are in milliseconds` };
  if (isOwnNdjson(beginning)) return { format: "ndjson", reason: `a line of it is an object that ${has}` };
  return null;
}

/** A first row may be damaged, and is no reason to take the file for another's. */
const ROWS_MAX = 8;

/** Smaller numbers are seconds, which reports never have. */
const MILLISECONDS_MIN = 1e11;

function isOwnCsv({ bytes, isWhole }: Beginning): boolean {
  const csv = new CsvReader();
  csv.push(bytes);
  if (isWhole) csv.end();
  if (!csv.next() || csv.fault !== null) return false;
  const names = csv.texts().map((name) => name ?? "");
  const fields = names.map((name) => OWN_NAMES.get(name) ?? name);
  if (!REQUIRED.every((field) => fields.includes(field))) return false;
  // A column that only others know would be lost, so they shall read it.
  if (names.some((name) => !fields.includes(findMeaning(name)?.field ?? "device_id"))) return false;

  const timeColumn = fields.indexOf("timestamp");
  let rows = 0;
  for (; rows < ROWS_MAX && csv.next(); rows++)
    if (parseDecimal(csv.bytes, csv.starts[timeColumn]!, csv.ends[timeColumn]!) >= MILLISECONDS_MIN)
      return true;
  return rows === 0;
}

/** Names that say the unit, as CSV files of other programs have them, and the fields that they are. */
export const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["timestamp_ms", "timestamp"],
  ["speed_mps", "speed"],
]);

function isOwnNdjson({ text, isWhole }: Beginning): boolean {
  if (!text.includes('"device_id"')) return false;
  const lines = text.split("\n", ROWS_MAX + 1);
  if (!isWhole && lines.length <= ROWS_MAX) lines.pop(); // It goes on.
  return lines.slice(0, ROWS_MAX).some((line) => {
    const report = parseLine(line);
    return isObject(report) && REQUIRED.every((field) => Object.hasOwn(report, field));
  });
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
