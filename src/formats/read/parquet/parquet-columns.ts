import type { Rows } from "../../../archive/duckdb/database.ts";
import { REPORT_FIELDS } from "../../../model/location-fields.ts";
import { parseCellNumber } from "../table/cell-number.ts";
import { findMeaning } from "../table/column-names.ts";
import { type ColumnPlan, planColumns } from "../table/column-plan.ts";
import type { TableRow } from "../table/row-points.ts";
import { parseWkbPoint } from "./wkb-point.ts";

/** A column of a Parquet file, as DuckDB sees it. */
export interface ParquetColumn {
  readonly name: string;
  readonly type: string;
}

/** What is asked for of a file, and how its rows are read then. */
export interface ParquetPlan {
  readonly columns: ColumnPlan;
  /** A select list over columns named by `columnAlias`; nothing that the file says is part of it. */
  readonly selectSql: string;
  /** Rows of an answer, of which `at` says which one is looked at. */
  rowsOf(rows: Rows): RowCursor;
  /** Whether it has what an export of ours has. */
  readonly isOurs: boolean;
}

export interface RowCursor extends TableRow {
  at: number;
  textAt(column: number): string | null;
}

/** The name by which a column is called in statements, whatever its file calls it. */
export const columnAlias = (index: number) => `c${index}`;

/** Longer ones are nobody's name; dictionaries make a small file of very many of them. */
const TEXT_BYTES_MAX = 1024;

const GEOMETRY_NAMES = new Set(["geometry", "geom", "wkb_geometry", "the_geom"]);
const LATITUDE = "latitude";
const LONGITUDE = "longitude";

/** How a column is asked for: as doubles, as texts, or as the hexadecimal digits of a shape. */
type Kind = "number" | "text" | "shape";

/** Throws a `HeaderError` where nobody knows which columns say where and when. */
export function planParquet(
  columns: readonly ParquetColumn[],
  mapped: ReadonlyMap<string, string>,
): ParquetPlan {
  const names = columns.map(({ name }) => name);
  const geometry = columns.findIndex(isGeometry);
  const fields = [...names, ...mapped.keys()].map((name) => findMeaning(name)?.field);
  const usesShape = geometry >= 0 && !(fields.includes(LATITUDE) && fields.includes(LONGITUDE));
  // A shape stands for two columns behind all others.
  const plan = planColumns(usesShape ? [...names, LATITUDE, LONGITUDE] : names, mapped);
  const wanted = new Map<number, Kind>();
  const want = (index: number | null | undefined, kind: Kind) => {
    if (index !== null && index !== undefined && index < names.length) wanted.set(index, kind);
  };
  want(plan.timestamp, isText(columns[plan.timestamp]!) || plan.date !== null ? "text" : "number");
  for (const index of [plan.date, plan.device?.index, plan.user?.index]) want(index, "text");
  // Numbers that are kept as texts are read here, where those that can't be are noticed.
  const wantNumber = (index: number) => want(index, columns[index]?.type === "VARCHAR" ? "text" : "number");
  for (const index of [plan.latitude, plan.longitude]) wantNumber(index);
  for (const { index, type } of plan.details) {
    if (type === "number") wantNumber(index);
    else want(index, "text");
  }
  if (usesShape) wanted.set(geometry, "shape");
  const selected = [...wanted];
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

/** Times that tell no zone are read as texts, like dates, which then are no times. */
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
