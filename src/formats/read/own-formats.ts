import { isObject } from "../../lib/is-object.ts";
import { CsvReader } from "../../lib/text/csv-reader.ts";
import { parseDecimal } from "../../lib/text/decimal.ts";
import type { Beginning } from "./format.ts";
import { findMeaning } from "./table/column-names.ts";

/** Formats of this program. Their reports are validated like those that arrive over HTTP. */
export const OWN_FORMATS = ["csv", "ndjson"] as const;

export type OwnFormat = (typeof OWN_FORMATS)[number];

/** Fields that every report has. */
const REQUIRED = ["device_id", "timestamp", "latitude", "longitude"];

/** Which of our formats a file certainly has, and why; a file that is only similar is left to the other formats. */
export function recogniseOwn(beginning: Beginning): { format: OwnFormat; reason: string } | null {
  const has = `has ${REQUIRED.join(", ")}`;
  if (isOwnCsv(beginning))
    return { format: "csv", reason: `its header ${has}, and its times are in milliseconds` };
  if (isOwnNdjson(beginning)) return { format: "ndjson", reason: `a line of it is an object that ${has}` };
  return null;
}

/** Several rows are checked, since the first may be damaged. */
const ROWS_MAX = 8;

/** Smaller numbers are seconds, which our formats never have. */
const MILLISECONDS_MIN = 1e11;

function isOwnCsv({ bytes, isWhole }: Beginning): boolean {
  const csv = new CsvReader();
  csv.push(bytes);
  if (isWhole) csv.end();
  if (!csv.next() || csv.fault !== null) return false;
  const names = csv.texts().map((name) => name ?? "");
  const fields = names.map((name) => OWN_NAMES.get(name) ?? name);
  if (!REQUIRED.every((field) => fields.includes(field))) return false;
  // A column that only other programs use would be lost, so the general reader gets the file.
  if (names.some((name) => !fields.includes(findMeaning(name)?.field ?? "device_id"))) return false;

  const timeColumn = fields.indexOf("timestamp");
  let rows = 0;
  for (; rows < ROWS_MAX && csv.next(); rows++)
    if (parseDecimal(csv.bytes, csv.starts[timeColumn]!, csv.ends[timeColumn]!) >= MILLISECONDS_MIN)
      return true;
  return rows === 0;
}

/** Names with a unit, as in CSV files of other programs, and our field for each. */
export const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ["timestamp_ms", "timestamp"],
  ["speed_mps", "speed"],
]);

function isOwnNdjson({ text, isWhole }: Beginning): boolean {
  if (!text.includes('"device_id"')) return false;
  const lines = text.split("\n", ROWS_MAX + 1);
  if (!isWhole && lines.length <= ROWS_MAX) lines.pop(); // The last line is cut off.
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
