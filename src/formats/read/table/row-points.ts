import { metersPerSecond, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { percentOf, readBoolean, readNumber } from "../../../clients/reading/values.ts";
import { ANONYMOUS } from "../../../model/ids.ts";
import type { FileDetails, FilePoint } from "../file-point.ts";
import type { ColumnPlan, DetailColumn, NameColumn } from "./column-plan.ts";

/** A row of a table, by column. */
export interface TableRow {
  /** Null if the cell is empty, NaN if it is not a number. */
  numberAt(column: number): number | null;
  /** Null if the cell is empty, undefined if it is not text. */
  textAt(column: number): string | null | undefined;
  /** The raw value of a time. */
  timeAt(column: number): unknown;
}

export interface RowRules {
  /** Reads the table's times. */
  readMs(value: unknown): number | null;
  /** The unit of speeds whose column has none. */
  readonly speedUnit: SpeedUnit;
  /** The operator's unit of all speeds, which overrides columns; null if not given. */
  readonly givenSpeedUnit: SpeedUnit | null;
}

/** A larger coordinate can't be degrees: Google's tables have integers in units of 1e-7. */
const SURELY_E7_MIN = 1_000_000;
const E7 = 1e7;

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

/** If the columns don't say so, both must be integers and one too large for degrees. */
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

/** An invalid name, so that no other device replaces one with an unreadable name. */
const UNREADABLE_NAME = "\0";

/** Our exports write `ANONYMOUS` for a report without user. */
function userAt(row: TableRow, column: NameColumn | null): string | null {
  const user = nameAt(row, column);
  return user === ANONYMOUS ? null : user;
}

/** Adds the names of unreadable details to `unreadable`. */
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

/** Null if missing, undefined if unreadable. */
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
  if (minimum === 0 && value < 0) return null; // Programs write this for "unknown".
  if (isSpeed) return metersPerSecond(value, rules.givenSpeedUnit ?? speedUnit ?? rules.speedUnit);
  return isBattery && value < 1 ? percentOf(value) : value;
}

/** A coordinate with a letter for its hemisphere. */
const LETTERED = /^([NSEW])? ?(\d[\d.,]*) ?°? ?([NSEW])?$/i;
const CHARACTERS_MAX = 64;

/** Parses a number as people write it; NaN if it is none. */
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

/** A number with both dot and comma stays unchanged, and is invalid. */
function withDot(text: string, commaIsDecimal: boolean): string {
  return commaIsDecimal && !text.includes(".") ? text.replace(",", ".") : text;
}
