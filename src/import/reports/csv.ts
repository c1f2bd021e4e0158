import { CsvReader } from "../../lib/csv/csv-reader.ts";
import { parseCsvHeader } from "./csv-header.ts";
import { CsvRows } from "./csv-rows.ts";
import { type ReportReader, type ReportReaderOptions, ReportRows, ROW_BYTES_MAX, tooLong } from "./reader.ts";

/** Reads CSV with a header, row by row into batches. */
export function createCsvReports(
  options: ReportReaderOptions,
  onIgnoredColumns: (names: readonly string[]) => void,
): ReportReader {
  const csv = new CsvReader();
  const reports = new ReportRows(options);
  let columnCount = 0;
  let rows: CsvRows | null = null;
  let fault: string | null = null;

  /** The rows, once the header is read; null where it is not there yet, or no use. */
  function readHeader(): CsvRows | null {
    if (!csv.next()) return null;
    const parsed = parseCsvHeader(csv);
    if (!parsed.ok) {
      fault = parsed.error;
      return null;
    }
    const { columns, ignored } = parsed.value;
    columnCount = parsed.value.columnCount;
    if (ignored.length > 0) onIgnoredColumns(ignored);
    return new CsvRows(csv, columns, options.rules.userId);
  }

  /** What keeps the reader's row from being looked at, or null. */
  function faultOfRow(): string | null {
    if (csv.fault !== null || csv.fieldCount === columnCount) return csv.fault;
    return `it has ${csv.fieldCount} fields, the header has ${columnCount}`;
  }

  function readRows(): void {
    if (fault !== null) return;
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
    },
    end() {
      csv.end();
      readRows();
      if (rows === null) fault ??= "it is empty: a header line is expected";
    },
    get line() {
      return csv.line;
    },
    get fault() {
      return fault ?? (csv.waitingBytes > ROW_BYTES_MAX ? tooLong(csv.nextLine) : null);
    },
  };
}
