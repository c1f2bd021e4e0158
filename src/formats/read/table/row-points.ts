import { metersPerSecond, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { percentOf, readBoolean } from "../../../clients/reading/values.ts";
import { ANONYMOUS } from "../../../model/ids.ts";
import type { FileDetails, FilePoint } from "../file-point.ts";
import type { ColumnPlan, DetailColumn, NameColumn } from "./column-plan.ts";

/** One row of somebody's table, by column. */
export interface TableRow {
  /** NaN where the cell holds no number. */
  numberAt(column: number): number;
  /** Null where the cell is empty. */
  textAt(column: number): string | null;
  /** What the time is read from. */
  timeAt(column: number): unknown;
}

export interface RowRules {
  /** Reads the table's times. */
  readMs(value: unknown): number | null;
  /** Of a speed whose column doesn't say it. */
  readonly speedUnit: SpeedUnit;
  /** Of all speeds, against what columns say; null where nobody said. */
  readonly saidSpeedUnit: SpeedUnit | null;
}

/** A coordinate beyond is no degrees, whatever it is called: Google's tables hold whole ten-millionths. */
const SURELY_E7_MIN = 1_000_000;
const E7 = 1e7;

/** The point that a row holds. */
export function readRowPoint(row: TableRow, plan: ColumnPlan, rules: RowRules): FilePoint {
  const timestampMs = rules.readMs(readTime(row, plan));
  const latitude = row.numberAt(plan.latitude);
  const longitude = row.numberAt(plan.longitude);
  const scale = plan.isE7 || isE7(latitude, longitude) ? E7 : 1;
  return {
    timestampMs,
    latitude: Number.isNaN(latitude) ? null : latitude / scale,
    longitude: Number.isNaN(longitude) ? null : longitude / scale,
    device: nameAt(row, plan.device),
    user: userAt(row, plan.user),
    details: readDetails(row, plan.details, rules),
  };
}

function readTime(row: TableRow, { timestamp, date }: ColumnPlan): unknown {
  return date === null
    ? row.timeAt(timestamp)
    : `${row.textAt(date)?.trim()} ${row.textAt(timestamp)?.trim()}`;
}

/** Where columns don't say it, both must be whole and one too large for degrees. */
function isE7(latitude: number, longitude: number): boolean {
  const largest = Math.max(Math.abs(latitude), Math.abs(longitude));
  return largest > SURELY_E7_MIN && Number.isInteger(latitude) && Number.isInteger(longitude);
}

function nameAt(row: TableRow, column: NameColumn | null): string | null {
  if (column === null) return null;
  const name = row.textAt(column.index);
  return (column.isOurs ? name : name?.trim()) || null;
}

/** We write so that nobody had the device. */
function userAt(row: TableRow, column: NameColumn | null): string | null {
  const user = nameAt(row, column);
  return user === ANONYMOUS ? null : user;
}

function readDetails(row: TableRow, columns: readonly DetailColumn[], rules: RowRules): FileDetails {
  const details: Record<string, number | string | boolean> = {};
  for (const column of columns) {
    const value = readDetail(row, column, rules);
    if (value !== null) details[column.field] = value;
  }
  return details;
}

function readDetail(
  row: TableRow,
  { index, type, minimum, isSpeed, speedUnit, isBattery }: DetailColumn,
  rules: RowRules,
): number | string | boolean | null {
  if (type === "string") return row.textAt(index);
  if (type === "boolean") return readBoolean(row.textAt(index)?.trim().toLowerCase());
  const value = row.numberAt(index);
  if (!(value >= minimum)) return null; // Below zero programs say that they don't know.
  if (isSpeed) return metersPerSecond(value, rules.saidSpeedUnit ?? speedUnit ?? rules.speedUnit);
  return isBattery && value < 1 ? percentOf(value) : value;
}
