import { readBoolean } from "../../../clients/reading/values.ts";
import { CsvReader } from "../../../lib/csv/csv-reader.ts";
import { COMMA } from "../../../lib/csv/delimiter.ts";
import { parseDecimal } from "../../../lib/text/decimal.ts";
import type { PointSink, SkipReason } from "../file-point.ts";
import type { ReadOptions } from "../format.ts";
import { FormatError, HeaderError } from "../format-error.ts";
import type { PushReader } from "../push-reader.ts";
import { type ColumnPlan, planColumns } from "../table/column-plan.ts";
import { type RowRules, readRowPoint, type TableRow } from "../table/row-points.ts";
import { createTableTimes } from "../time/patterned-times.ts";
import { parseCellNumber } from "./cell-number.ts";
import { type Dialect, dialectOf } from "./dialect.ts";

/** No row is longer; what is, has lost a quote or its line ends. */
const ROW_BYTES_MAX = 1024 * 1024;

/** What the header tells of all rows. */
interface Table {
  readonly columnCount: number;
  readonly plan: ColumnPlan;
  readonly dialect: Dialect;
  readonly rules: RowRules;
  readonly commaIsDecimal: boolean;
}

/** Finds the points of a CSV file in whichever dialect: what its columns hold follows from their names. */
export class CsvPoints implements PushReader, TableRow {
  readonly #csv = new CsvReader(null);
  readonly #sink: PointSink;
  readonly #options: ReadOptions;
  #table: Table | null = null;
  /** Cells of the row that can be trusted. */
  #cells = 0;

  constructor(sink: PointSink, options: ReadOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get place(): number {
    return this.#csv.line;
  }

  push(piece: Uint8Array): void {
    const csv = this.#csv;
    csv.push(piece);
    this.#readRows();
    if (csv.waitingBytes > ROW_BYTES_MAX)
      throw new FormatError(`line ${csv.nextLine} goes on for more than ${ROW_BYTES_MAX / 1024 / 1024} MiB`);
  }

  end(): void {
    this.#csv.end();
    this.#readRows();
    if (this.#table === null) throw new FormatError("it is empty: a header line is expected");
  }

  #readRows(): void {
    const csv = this.#csv;
    while (csv.next()) {
      if (this.#table === null) this.#table = this.#readHeader();
      else this.#readRow(this.#table);
    }
  }

  #readHeader(): Table {
    const csv = this.#csv;
    const names: string[] = [];
    for (let index = 0; index < csv.fieldCount; index++) names.push(csv.text(index) ?? "");
    if (csv.fault !== null) throw new HeaderError(`the header can't be read: ${csv.fault}`);
    const dialect = dialectOf(names);
    const { speedUnit: saidSpeedUnit, columns } = this.#options;
    const times = createTableTimes(this.#options, this.#sink);
    return {
      columnCount: csv.fieldCount,
      plan: planColumns(names, columns),
      dialect,
      rules: { readMs: times.readMs, speedUnit: dialect.speedUnit, saidSpeedUnit },
      commaIsDecimal: csv.delimiter !== COMMA || dialect.quotesCommas,
    };
  }

  #readRow(table: Table): void {
    const { fieldCount } = this.#csv;
    const { address } = table.dialect;
    // Behind an address with commas nobody knows which cell is which.
    const isShifted = address !== null && fieldCount > table.columnCount;
    this.#cells = isShifted ? address : fieldCount;
    const reason = fieldCount === table.columnCount || isShifted ? this.#reasonToSkip(table) : "wrong_width";
    if (reason !== null) this.#sink.skip(reason);
    else this.#sink.add(readRowPoint(this, table.plan, table.rules));
  }

  #reasonToSkip({ dialect: { valid } }: Table): SkipReason | null {
    if (this.#csv.fault !== null) return "unreadable";
    const hasFix = valid === null ? null : readBoolean(this.textAt(valid)?.toLowerCase());
    return hasFix === false ? "no_fix" : null;
  }

  numberAt(column: number): number {
    const { bytes, starts, ends } = this.#csv;
    if (column >= this.#cells) return Number.NaN;
    const number = parseDecimal(bytes, starts[column]!, ends[column]!);
    if (!Number.isNaN(number)) return number;
    return parseCellNumber(this.textAt(column) ?? "", this.#table!.commaIsDecimal);
  }

  textAt(column: number): string | null {
    if (column >= this.#cells) return null;
    return this.#csv.text(column) || null;
  }

  timeAt(column: number): string | null {
    return this.textAt(column);
  }
}
