import { FormatError } from "../../formats/read/format.ts";
import { OWN_NAMES } from "../../formats/read/own-formats.ts";
import { expectRow, type PushReader } from "../../formats/read/push-reader.ts";
import { CsvReader } from "../../lib/text/csv-reader.ts";
import { REPORT_FIELDS } from "../../model/location-fields.ts";
import { type CsvColumn, CsvRows } from "./csv-rows.ts";
import { type ReportReaderOptions, ReportRows } from "./reader.ts";

/** Reads CSV with a header, row by row into batches. */
export function createCsvReports(
  options: ReportReaderOptions,
  onIgnoredColumns: (names: readonly string[]) => void,
): PushReader {
  const csv = new CsvReader();
  const reports = new ReportRows(options);
  let columnCount = 0;
  let rows: CsvRows | null = null;

  /** The rows once the header is read; null before. */
  function readHeader(): CsvRows | null {
    if (!csv.next()) return null;
    const { columns, ignored } = parseCsvHeader(csv);
    columnCount = csv.fieldCount;
    if (ignored.length > 0) onIgnoredColumns(ignored);
    return new CsvRows(csv, columns, options.rules.userId);
  }

  /** What is wrong with the reader's row as a whole, or null. */
  function faultOfRow(): string | null {
    if (csv.fault !== null || csv.fieldCount === columnCount) return csv.fault;
    return `it has ${csv.fieldCount} fields, the header has ${columnCount}`;
  }

  function readRows(): void {
    rows ??= readHeader();
    if (rows === null) return;
    const inFile = rows;
    while (csv.next()) {
      if (!options.queue.next()) continue;
      const builder = reports.nextBatch();
      if (builder !== null) inFile.use(builder);
      reports.add(csv.line, (batch, times) => faultOfRow() ?? inFile.add(batch, times));
    }
  }

  return {
    push(piece) {
      csv.push(piece);
      readRows();
      expectRow(csv.waitingBytes, csv.nextLine);
    },
    end() {
      csv.end();
      readRows();
      if (rows === null) throw new FormatError("it is empty: a header line is expected");
    },
    get place() {
      return csv.line;
    },
  };
}

/** The header of a CSV file: the field of each column, and the columns that are not fields. */
interface CsvHeader {
  readonly columns: readonly CsvColumn[];
  readonly ignored: readonly string[];
}

/** Columns by which an export repeats the timestamp for people. */
const TIMESTAMP_AGAIN: ReadonlySet<string> = new Set(["time", "local_time"]);

/** Parses the header from the reader's record. Throws a `FormatError` if it makes the file unusable. */
function parseCsvHeader(csv: CsvReader): CsvHeader {
  if (csv.fault !== null) throw new FormatError(`the header can't be read: ${csv.fault}`);
  const columns: CsvColumn[] = [];
  const ignored: string[] = [];
  for (const [index, name] of csv.texts().entries()) {
    if (name === null) throw new FormatError("the header is not valid UTF-8");
    const fieldName = OWN_NAMES.get(name) ?? name;
    const field = REPORT_FIELDS.find((candidate) => candidate.name === fieldName);
    if (field === undefined) ignored.push(name);
    else if (columns.some((column) => column.field === field))
      throw new FormatError(`the header has ${fieldName} twice`);
    else columns.push({ index, field });
  }
  const missing = REPORT_FIELDS.filter(
    (field) => field.required && !columns.some((column) => column.field === field),
  );
  if (missing.length > 0) {
    const lacks = `the header on line ${csv.line} lacks ${missing.map(({ name }) => name).join(", ")}`;
    throw new FormatError(`${lacks}${strangersText(ignored)}; a header looks like this: ${EXAMPLE}`);
  }
  return { columns, ignored: ignored.filter((name) => !TIMESTAMP_AGAIN.has(name)) };
}

/** The required fields and one optional field. */
const EXAMPLE = "device_id,timestamp,latitude,longitude,speed";
const STRANGERS_SHOWN_MAX = 8;

/** Lists unknown names, one of which may be a misspelt field. */
function strangersText(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length - STRANGERS_SHOWN_MAX;
  const quoted = names.slice(0, STRANGERS_SHOWN_MAX).map((name) => `"${name}"`);
  const what = names.length === 1 ? "is not a field" : "are not fields";
  return `, and ${quoted.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${what} of a report`;
}
