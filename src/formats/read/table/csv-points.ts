import { Buffer } from "node:buffer";
import type { SpeedUnit } from "../../../clients/reading/speed.ts";
import { readBoolean } from "../../../clients/reading/values.ts";
import { COMMA } from "../../../lib/text/ascii.ts";
import { CsvReader } from "../../../lib/text/csv-reader.ts";
import { parseDecimal } from "../../../lib/text/decimal.ts";
import type { PointSink, SkipReason } from "../file-point.ts";
import { FormatError, HeaderError, type ReadOptions } from "../format.ts";
import { expectRow, type PushReader } from "../push-reader.ts";
import { createTableTimes } from "../time/patterned-times.ts";
import { normalName } from "./column-names.ts";
import { type ColumnPlan, planColumns } from "./column-plan.ts";
import { parseCellNumber, type RowRules, readRowPoint, type TableRow } from "./row-points.ts";
import { findTableStart } from "./table-start.ts";

/** Properties of all rows, from the header. */
interface Table {
  readonly columnCount: number;
  readonly plan: ColumnPlan;
  readonly dialect: Dialect;
  readonly rules: RowRules;
  readonly commaIsDecimal: boolean;
}

/** Reads the points of a CSV file in any dialect, by its column names. */
export class CsvPoints implements PushReader, TableRow {
  #csv = new CsvReader(null);
  /** The bytes before the header is found; null from then on. */
  #head: Uint8Array | null = new Uint8Array(0);
  #linesBefore = 0;
  readonly #sink: PointSink;
  readonly #options: ReadOptions;
  #table: Table | null = null;
  /** The number of reliable cells of the row. */
  #cells = 0;

  constructor(sink: PointSink, options: ReadOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get place(): number {
    return this.#linesBefore + this.#csv.line;
  }

  push(piece: Uint8Array): void {
    if (this.#head === null) this.#csv.push(piece);
    else this.#begin(Buffer.concat([this.#head, piece]), false);
    this.#readRows();
    expectRow(this.#csv.waitingBytes, this.#linesBefore + this.#csv.nextLine);
  }

  end(): void {
    if (this.#head !== null) this.#begin(this.#head, true);
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

  /** Starts reading at the header once it is found. */
  #begin(head: Uint8Array, isWhole: boolean): void {
    const start = findTableStart(head, isWhole, this.#options.columns);
    this.#head = start === null ? head : null;
    if (start === null) return;
    this.#linesBefore = start.linesBefore;
    this.#csv = new CsvReader(start.delimiter);
    this.#csv.push(head.subarray(start.at));
  }

  #readHeader(): Table {
    const csv = this.#csv;
    const names = csv.texts().map((name) => name ?? "");
    if (csv.fault !== null) throw new HeaderError(`the header can't be read: ${csv.fault}`);
    const dialect = dialectOf(names);
    const { speedUnit: givenSpeedUnit, columns } = this.#options;
    const times = createTableTimes(this.#options, this.#sink);
    return {
      columnCount: csv.fieldCount,
      plan: planColumns(names, columns),
      dialect,
      rules: { readMs: times.readMs, speedUnit: dialect.speedUnit, givenSpeedUnit },
      commaIsDecimal: csv.delimiter !== COMMA || dialect.quotesCommas,
    };
  }

  #readRow(table: Table): void {
    const { fieldCount } = this.#csv;
    const { address } = table.dialect;
    // Cells after an address with commas are shifted by an unknown number.
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

  numberAt(column: number): number | null {
    const { bytes, starts, ends } = this.#csv;
    if (column >= this.#cells) return null;
    const start = starts[column]!;
    const end = ends[column]!;
    const number = parseDecimal(bytes, start, end);
    if (!Number.isNaN(number)) return number;
    if (start === end) return null;
    const text = this.#csv.text(column);
    return text?.trim() === "" ? null : parseCellNumber(text ?? "", this.#table!.commaIsDecimal);
  }

  textAt(column: number): string | null | undefined {
    if (column >= this.#cells) return null;
    const text = this.#csv.text(column);
    return text === "" ? null : (text ?? undefined);
  }

  timeAt(column: number): unknown {
    const text = this.textAt(column);
    return text === undefined ? Number.NaN : text;
  }
}

/** Properties of a program's tables that the column names don't show. */
interface Dialect {
  /** The program's name; null if unknown. */
  readonly program: string | null;
  /** The unit of speeds whose column has none. */
  readonly speedUnit: SpeedUnit;
  /** Whether quoted numbers may have decimal commas although commas separate cells. */
  readonly quotesCommas: boolean;
  /** The column that tells whether there was a fix. */
  readonly valid: number | null;
  /** A column with unquoted commas, so that a row may have more cells than the header. */
  readonly address: number | null;
}

const ANY: Dialect = { program: null, speedUnit: "mps", quotesCommas: false, valid: null, address: null };

export function dialectOf(columns: readonly string[]): Dialect {
  const names = columns.map(normalName);
  const hasAll = (...required: readonly string[]) => required.every((name) => names.includes(name));
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
