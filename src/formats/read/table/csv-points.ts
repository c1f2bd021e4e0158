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
  #csv = new CsvReader(null);
  /** What has come before it is known where the header begins; null from then on. */
  #head: Uint8Array | null = new Uint8Array(0);
  #linesBefore = 0;
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

  /** Begins with the header as soon as it is known where that is. */
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

/** What is known of a program's tables that their columns' names don't say. */
interface Dialect {
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
