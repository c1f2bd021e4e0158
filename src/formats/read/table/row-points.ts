import { metersPerSecond, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { percentOf, readBoolean, readNumber } from "../../../clients/reading/values.ts";
import { ANONYMOUS } from "../../../model/ids.ts";
import type { FileDetails, FilePoint } from "../file-point.ts";
import type { ColumnPlan, DetailColumn, NameColumn } from "./column-plan.ts";

/** One row of somebody's table, by column. */
export interface TableRow {
  /** Null where the cell is empty, NaN where it holds no number. */
  numberAt(column: number): number | null;
  /** Null where the cell is empty, undefined where it holds no text. */
  textAt(column: number): string | null | undefined;
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
  const scale = plan.isE7 || isE7(latitude ?? Number.NaN, longitude ?? Number.NaN) ? E7 : 1;
  const unreadable: string[] = [];
  const details = readDetails(row, plan.details, rules, unreadable);
  return {
    timestampMs,
    latitude: latitude === null ? null : latitude / scale,
    longitude: longitude === null ? null : longitude / scale,
    device: nameAt(row, plan.device),
    user: userAt(row, plan.user),
    details,
    unreadable: unreadable.length === 0 ? undefined : unreadable,
  };
}

function readTime(row: TableRow, { timestamp, date }: ColumnPlan): unknown {
  if (date === null) return row.timeAt(timestamp);
  const [day, time] = [row.textAt(date), row.textAt(timestamp)];
  return day === null && time === null ? null : `${day?.trim()} ${time?.trim()}`;
}

/** Where columns don't say it, both must be whole and one too large for degrees. */
function isE7(latitude: number, longitude: number): boolean {
  const largest = Math.max(Math.abs(latitude), Math.abs(longitude));
  return largest > SURELY_E7_MIN && Number.isInteger(latitude) && Number.isInteger(longitude);
}

function nameAt(row: TableRow, column: NameColumn | null): string | null {
  if (column === null) return null;
  const name = row.textAt(column.index);
  if (name === undefined) return UNREADABLE_NAME;
  return (column.isOurs ? name : name?.trim()) || null;
}

/** No device or user can be called so, and none shall take the place of one whose name can't be read. */
const UNREADABLE_NAME = "\0";

/** We write so that nobody had the device. */
function userAt(row: TableRow, column: NameColumn | null): string | null {
  const user = nameAt(row, column);
  return user === ANONYMOUS ? null : user;
}

/** Names what can't be read in `unreadable`. */
function readDetails(
  row: TableRow,
  columns: readonly DetailColumn[],
  rules: RowRules,
  unreadable: string[],
): FileDetails {
  const details: Record<string, number | string | boolean> = {};
  for (const column of columns) {
    const value = readDetail(row, column, rules);
    if (value === undefined) unreadable.push(column.field);
    else if (value !== null) details[column.field] = value;
  }
  return details;
}

/** Null where there is none, undefined where there is one that can't be read. */
function readDetail(
  row: TableRow,
  { index, type, minimum, isSpeed, speedUnit, isBattery }: DetailColumn,
  rules: RowRules,
): number | string | boolean | null | undefined {
  if (type !== "number") {
    const text = row.textAt(index);
    if (text === null || text === undefined || type === "string") return text;
    const word = text.trim().toLowerCase();
    return word === "" ? null : (readBoolean(word) ?? undefined);
  }
  const value = row.numberAt(index);
  if (value === null) return null;
  if (Number.isNaN(value)) return undefined;
  if (minimum === 0 && value < 0) return null; // Programs say so that they don't know.
  if (isSpeed) return metersPerSecond(value, rules.saidSpeedUnit ?? speedUnit ?? rules.speedUnit);
  return isBattery && value < 1 ? percentOf(value) : value;
}

/** A coordinate with the letter of its hemisphere before or behind it. */
const LETTERED = /^([NSEW])? ?(\d[\d.,]*) ?°? ?([NSEW])?$/i;
const CHARACTERS_MAX = 64;

/** The number that a cell says, as people write it; NaN where it says none. */
export function parseCellNumber(text: string, commaIsDecimal: boolean): number {
  const cell = text.trim();
  if (cell === "" || cell.length > CHARACTERS_MAX) return Number.NaN;
  const number = readNumber(withDot(cell, commaIsDecimal));
  if (number !== null) return number;
  const [, before, digits, behind] = LETTERED.exec(cell) ?? [];
  const letter = before ?? behind;
  if (digits === undefined || letter === undefined || (before ?? letter) !== (behind ?? letter))
    return Number.NaN;
  const degrees = readNumber(withDot(digits, commaIsDecimal)) ?? Number.NaN;
  return /[SW]/i.test(letter) ? -degrees : degrees;
}

/** A number with both dot and comma stays as it is, which is none. */
function withDot(text: string, commaIsDecimal: boolean): string {
  return commaIsDecimal && !text.includes(".") ? text.replace(",", ".") : text;
}
