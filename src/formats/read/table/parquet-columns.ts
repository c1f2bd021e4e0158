import type { Rows } from "../../../archive/duckdb/database.ts";
import { REPORT_FIELDS } from "../../../model/location-fields.ts";
import { findMeaning } from "./column-names.ts";
import { type ColumnPlan, planColumns } from "./column-plan.ts";
import { parseCellNumber, type TableRow } from "./row-points.ts";

/** A column of a Parquet file, with DuckDB's type. */
export interface ParquetColumn {
  readonly name: string;
  readonly type: string;
}

/** The query of a file, and how to read its rows. */
interface ParquetPlan {
  readonly columns: ColumnPlan;
  /** A select list over `columnAlias` names; it contains no text of the file. */
  readonly selectSql: string;
  /** A cursor over the rows of a result; `at` is the current row. */
  rowsOf(rows: Rows): RowCursor;
  /** Whether it has the columns of our exports. */
  readonly isOurs: boolean;
}

interface RowCursor extends TableRow {
  at: number;
  textAt(column: number): string | null;
}

/** The name of a column in SQL, whatever its name in the file. */
export const columnAlias = (index: number) => `c${index}`;

/** The maximum size of a name. With dictionaries a small file may hold very many longer ones. */
const TEXT_BYTES_MAX = 1024;

const GEOMETRY_NAMES = new Set(["geometry", "geom", "wkb_geometry", "the_geom"]);
const LATITUDE = "latitude";
const LONGITUDE = "longitude";

/** How a column is read: as doubles, as texts, or as a shape in hexadecimal digits. */
type Kind = "number" | "text" | "shape";

/** Throws a `HeaderError` if the columns of time or position are unknown. */
export function planParquet(
  columns: readonly ParquetColumn[],
  mapped: ReadonlyMap<string, string>,
): ParquetPlan {
  const names = columns.map(({ name }) => name);
  const geometry = columns.findIndex(isGeometry);
  const fields = [...names, ...mapped.keys()].map((name) => findMeaning(name)?.field);
  const usesShape = geometry >= 0 && !(fields.includes(LATITUDE) && fields.includes(LONGITUDE));
  // A shape replaces two columns after all others.
  const plan = planColumns(usesShape ? [...names, LATITUDE, LONGITUDE] : names, mapped);
  const kinds = new Map<number, Kind>();
  const read = (index: number | null | undefined, kind: Kind) => {
    if (index !== null && index !== undefined && index < names.length) kinds.set(index, kind);
  };
  read(plan.timestamp, isText(columns[plan.timestamp]!) || plan.date !== null ? "text" : "number");
  for (const index of [plan.date, plan.device?.index, plan.user?.index]) read(index, "text");
  // Numbers stored as texts are parsed here, where unreadable ones are noticed.
  const readNumber = (index: number) => read(index, columns[index]?.type === "VARCHAR" ? "text" : "number");
  for (const index of [plan.latitude, plan.longitude]) readNumber(index);
  for (const { index, type } of plan.details) {
    if (type === "number") readNumber(index);
    else read(index, "text");
  }
  if (usesShape) kinds.set(geometry, "shape");
  const selected = [...kinds];
  const isOurs =
    REPORT_FIELDS.every(({ name }) => names.includes(name)) && columns[plan.timestamp]!.type === "BIGINT";
  return {
    columns: plan,
    selectSql: selected
      .map(([index, kind]) => expressionOf(columns[index]!, columnAlias(index), kind))
      .join(", "),
    rowsOf: (rows) => createCursor(rows, selected, usesShape ? { geometry, latitude: plan.latitude } : null),
    isOurs,
  };
}

function isGeometry({ name, type }: ParquetColumn): boolean {
  return type.startsWith("GEOMETRY") || (type === "BLOB" && GEOMETRY_NAMES.has(name.toLowerCase()));
}

/** Times without a zone are read as texts, like dates, which are then not times. */
function isText({ type }: ParquetColumn): boolean {
  return !/^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL.*|TIMESTAMP WITH TIME ZONE)$/.test(
    type,
  );
}

function expressionOf({ type }: ParquetColumn, alias: string, kind: Kind): string {
  if (/[[({]|^(?:LIST|MAP|STRUCT|UNION)/.test(type) && !/^(?:DECIMAL|GEOMETRY)\(/.test(type))
    return `NULL::${SQL_TYPES[kind]}`;
  if (kind === "shape") {
    const binary = type === "BLOB" ? alias : `st_aswkb(${alias})`;
    return `CASE WHEN octet_length(${binary}) <= 64 THEN hex(${binary}) END`;
  }
  if (kind === "text") {
    const text = `TRY_CAST(${alias} AS VARCHAR)`;
    return `CASE WHEN strlen(${text}) <= ${TEXT_BYTES_MAX} THEN ${text} END`;
  }
  return type === "TIMESTAMP WITH TIME ZONE" ? `epoch_ms(${alias})::DOUBLE` : `TRY_CAST(${alias} AS DOUBLE)`;
}

const SQL_TYPES: Readonly<Record<Kind, string>> = { number: "DOUBLE", text: "VARCHAR", shape: "VARCHAR" };

function createCursor(
  rows: Rows,
  selected: readonly (readonly [number, Kind])[],
  shape: { readonly geometry: number; readonly latitude: number } | null,
): RowCursor {
  const numbers = new Map<number, Float64Array>();
  const texts = new Map<number, readonly (string | null)[]>();
  for (const [position, [index, kind]] of selected.entries()) {
    if (kind === "number") numbers.set(index, rows.numbers(position));
    else texts.set(index, rows.texts(position));
  }
  return {
    at: 0,
    numberAt(column) {
      const number = numbers.get(column)?.[this.at];
      if (number !== undefined) return Number.isNaN(number) ? null : number;
      const text = this.textAt(column);
      if (text !== null) return text.trim() === "" ? null : parseCellNumber(text, false);
      const point = shape === null ? null : parseWkbPoint(texts.get(shape.geometry)?.[this.at] ?? null);
      const degrees = column === shape?.latitude ? point?.latitude : point?.longitude;
      return degrees === undefined || Number.isNaN(degrees) ? null : degrees; // Empty points have NaN.
    },
    textAt(column) {
      return texts.get(column)?.[this.at] ?? null;
    },
    timeAt(column) {
      const number = numbers.get(column)?.[this.at];
      if (number === undefined) return this.textAt(column);
      return Number.isNaN(number) ? null : number;
    },
  };
}

const POINT = 1;
/** PostGIS puts a reference system before the coordinates. */
const HAS_SRID = 0x20000000;

/**
 * Parses a point in well-known binary, in hexadecimal digits; null for any other shape.
 *
 *     | byte order, 1 byte | type, 4 bytes | x, 8 bytes | y, 8 bytes | ...
 */
function parseWkbPoint(hex: string | null): { longitude: number; latitude: number } | null {
  if (hex === null || hex.length < 42) return null;
  const bytes = Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  );
  const view = new DataView(bytes.buffer);
  const isLittle = bytes[0] === 1;
  const type = view.getUint32(1, isLittle);
  const xAt = (type & HAS_SRID) !== 0 ? 9 : 5;
  // Altitudes and measures add thousands, or set high bits.
  if ((type & 0x0fffffff) % 1000 !== POINT || bytes.length < xAt + 16) return null;
  return { longitude: view.getFloat64(xAt, isLittle), latitude: view.getFloat64(xAt + 8, isLittle) };
}
