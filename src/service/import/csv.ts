import { CsvReader } from "../../lib/text/csv.ts";
import { parseCsvHeader } from "./csv-header.ts";
import { CsvRows } from "./csv-rows.ts";
import {
  isFull,
  type ReportReader,
  type ReportReaderOptions,
  ROW_BYTES_MAX,
  shiftedBuilder,
  tooLong,
  unshiftedTimes,
} from "./reader.ts";

/** Reads CSV with a header, row by row into batches. */
export function createCsvReports(
  { userId, shiftMs, from }: ReportReaderOptions,
  onIgnoredColumns: (names: readonly string[]) => void,
): ReportReader {
  const csv = new CsvReader();
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
    if (from !== null) csv.skipTo(from);
    return new CsvRows(csv, columns, userId);
  }

  /** What keeps the reader's row from being looked at, or null. */
  function faultOfRow(): string | null {
    if (csv.fault !== null || csv.fieldCount === columnCount) return csv.fault;
    return `it has ${csv.fieldCount} fields, the header has ${columnCount}`;
  }

  return {
    push: (piece) => csv.push(piece),
    end() {
      csv.end();
      if (rows === null && fault === null) rows = readHeader();
      if (rows === null) fault ??= "it is empty: a header line is expected";
    },
    fill(open, times) {
      if (fault !== null) return false;
      rows ??= readHeader();
      if (rows === null) return false;
      const builder = shiftedBuilder(open.builder, shiftMs);
      const fileTimes = unshiftedTimes(times, shiftMs);
      rows.use(builder);
      while (!isFull(open)) {
        if (!csv.next()) return false;
        const row = builder.count;
        const message = faultOfRow() ?? rows.add(builder, fileTimes);
        if (message === null) open.lines[row] = csv.line;
        else open.rejected.push({ line: csv.line, message });
      }
      return true;
    },
    get position() {
      return csv.position;
    },
    get fault() {
      return fault ?? (csv.waitingBytes > ROW_BYTES_MAX ? tooLong(csv.position.line) : null);
    },
  };
}
