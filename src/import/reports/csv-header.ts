import type { CsvReader } from "../../lib/csv/csv-reader.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type LocationField, REPORT_FIELDS } from "../../model/location-fields.ts";

/** What a CSV file's header says: which field each column holds, and which columns hold none. */
export interface CsvHeader {
  readonly columnCount: number;
  readonly columns: readonly CsvColumn[];
  /** Names of columns that are not fields of a report. */
  readonly ignored: readonly string[];
}

export interface CsvColumn {
  /** Position in a row, from 0. */
  readonly index: number;
  readonly field: LocationField;
}

/** Names that say the unit, as files of others have them, for the fields that they are. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["timestamp_ms", "timestamp"],
  ["speed_mps", "speed"],
]);

/** What an export says of the timestamp beside it, for people. */
const TIMESTAMP_AGAIN: ReadonlySet<string> = new Set(["time", "local_time"]);

/** Reads the header from the reader's record; fails with what makes the file unusable. */
export function parseCsvHeader(csv: CsvReader): Result<CsvHeader, string> {
  if (csv.fault !== null) return fail(`the header can't be read: ${csv.fault}`);
  const columns: CsvColumn[] = [];
  const ignored: string[] = [];
  for (let index = 0; index < csv.fieldCount; index++) {
    const name = csv.text(index);
    if (name === null) return fail("the header is not valid UTF-8");
    const fieldName = OTHER_NAMES.get(name) ?? name;
    const field = REPORT_FIELDS.find((candidate) => candidate.name === fieldName);
    if (field === undefined) ignored.push(name);
    else if (columns.some((column) => column.field === field))
      return fail(`the header has ${fieldName} twice`);
    else columns.push({ index, field });
  }
  const missing = REPORT_FIELDS.filter(
    (field) => field.required && !columns.some((column) => column.field === field),
  );
  if (missing.length > 0) {
    const lacks = `the header on line ${csv.line} lacks ${missing.map(({ name }) => name).join(", ")}`;
    return fail(`${lacks}${strangersText(ignored)}; a header looks like this: ${EXAMPLE}`);
  }
  const strangers = ignored.filter((name) => !TIMESTAMP_AGAIN.has(name));
  return ok({ columnCount: csv.fieldCount, columns, ignored: strangers });
}

/** What every report needs, and a field that it may carry. */
const EXAMPLE = "device_id,timestamp,latitude,longitude,speed";
const STRANGERS_SHOWN_MAX = 8;

/** Names that may have been meant for the missing ones. */
function strangersText(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length - STRANGERS_SHOWN_MAX;
  const shown = names.slice(0, STRANGERS_SHOWN_MAX).map((name) => `"${name}"`);
  const what = names.length === 1 ? "is not a field" : "are not fields";
  return `, and ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${what} of a report`;
}
