import { COMMA, SEMICOLON, TAB } from "../../../lib/text/ascii.ts";
import { type CsvDelimiter, CsvReader } from "../../../lib/text/csv-reader.ts";
import type { Beginning, Format } from "../format.ts";
import { readPieces } from "../push-reader.ts";
import { findMeaning } from "./column-names.ts";
import { CsvPoints, dialectOf } from "./csv-points.ts";
import { findTableStart } from "./table-start.ts";

/** Tables of any program, with a header line. */
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

/** The minimum number of columns; the operator may map other names. */
const COLUMNS_MIN = 3;

/** A header of known columns, or, with a table's extension, any header with as many cells as the next line. */
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
