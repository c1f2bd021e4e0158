import type { SpeedUnit } from "../../../clients/reading/speed.ts";
import { CsvReader } from "../../../lib/csv/csv-reader.ts";
import { COMMA, type CsvDelimiter, SEMICOLON, TAB } from "../../../lib/csv/delimiter.ts";
import type { Beginning, Format } from "../format.ts";
import { readPieces } from "../push-reader.ts";
import { findMeaning, normalName } from "./column-names.ts";
import { CsvPoints } from "./csv-points.ts";
import { findTableStart } from "./table-start.ts";

/** Tables of anybody, with a header line. */
export const csv: Format = {
  name: "csv",
  title: "CSV",
  extensions: [".csv", ".tsv"],
  placeUnit: "line",
  recognise,
  read: (content, sink, options) => readPieces(content, new CsvPoints(sink, options)),
};

const DELIMITERS: ReadonlyMap<number, string> = new Map([
  [COMMA, "commas"],
  [SEMICOLON, "semicolons"],
  [TAB, "tabs"],
]);

function delimiterName(delimiter: CsvDelimiter): string {
  return DELIMITERS.get(delimiter) ?? `"${String.fromCharCode(delimiter)}"`;
}

/** Columns that a table of positions has at least: what is called otherwise the operator may say. */
const COLUMNS_MIN = 3;

/**
 * A header of known columns; or, in a file whose name says that it is a table, any header that has as many cells as the
 * line below it.
 */
function recognise({ bytes, isWhole, name }: Beginning): string | null {
  const start = findTableStart(bytes, isWhole, new Map());
  if (start === null) return null;
  const reader = new CsvReader(start.delimiter);
  reader.push(bytes.subarray(start.at));
  if (isWhole) reader.end();
  if (!reader.next() || reader.fault !== null || reader.fieldCount < COLUMNS_MIN) return null;
  const columnCount = reader.fieldCount;
  const names = reader.texts().map((name) => name ?? "");

  const known = names.filter((column) => findMeaning(column) !== null);
  const fields = new Set(known.map((column) => findMeaning(column)!.field));
  const { program } = dialectOf(names);
  if (["timestamp", "latitude", "longitude"].every((field) => fields.has(field)))
    return `its header names ${known.join(", ")}${program === null ? "" : `, as ${program} does`}`;
  const saysTable = csv.extensions.some((extension) => name.endsWith(extension));
  if (!saysTable || !reader.next() || reader.fieldCount !== columnCount) return null;
  return `its name, and lines of ${columnCount} cells between ${delimiterName(reader.delimiter!)}`;
}

/** What is known of a program's tables that their columns' names don't say. */
export interface Dialect {
  /** As people know it; null for any other. */
  readonly program: string | null;
  /** Of speeds whose column doesn't say it. */
  readonly speedUnit: SpeedUnit;
  /** Whether quoted numbers may have decimal commas although commas separate them. */
  readonly quotesCommas: boolean;
  /** The column that says whether there was a fix. */
  readonly valid: number | null;
  /** The column whose commas are not quoted, so that a row may have more cells than the header. */
  readonly address: number | null;
}

const ANY: Dialect = { program: null, speedUnit: "mps", quotesCommas: false, valid: null, address: null };

/** The dialect of a table with columns of these names. */
export function dialectOf(columns: readonly string[]): Dialect {
  const names = columns.map(normalName);
  const hasAll = (...wanted: readonly string[]) => wanted.every((name) => names.includes(name));
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : null);
  if (hasAll("servertime", "devicetime", "fixtime", "valid")) {
    const [valid, address] = [indexOf("valid"), indexOf("address")];
    return { ...ANY, program: "Traccar", speedUnit: "kn", valid, address };
  }
  if (hasAll("source_type", "velocity")) return { ...ANY, program: "GeoPulse", speedUnit: "kmh" };
  if (hasAll("timestamp_ms", "satellites", "provider"))
    return { ...ANY, program: "GPSLogger", quotesCommas: true };
  return ANY;
}
