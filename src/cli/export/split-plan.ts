import { fileNamesOf } from "../../formats/device-file-name.ts";
import type { DeviceId } from "../../model/ids.ts";
import { type LocalDate, parseDate } from "../../model/time/range.ts";

/** One file of an export. */
export interface PlannedFile {
  /** Without folder and extension. */
  readonly name: string;
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** Empty for all devices. */
  readonly deviceIds: readonly DeviceId[];
}

/** Earlier than every record. */
export const FIRST_DAY = "1970-01-01" as LocalDate;

export interface ExportedRange {
  readonly from: LocalDate;
  readonly to: LocalDate;
}

export function planDevices({ from, to }: ExportedRange, deviceIds: readonly DeviceId[]): PlannedFile[] {
  const names = fileNamesOf(deviceIds);
  return deviceIds.map((deviceId, index) => ({ name: names[index]!, from, to, deviceIds: [deviceId] }));
}

/** The file of the day or month that contains the date, clipped to the range. */
export function planPeriod(
  split: "day" | "month",
  date: LocalDate,
  { from, to }: ExportedRange,
  deviceIds: readonly DeviceId[],
): PlannedFile {
  if (split === "day") return { name: date, from: date, to: date, deviceIds };
  const name = date.slice(0, 7);
  const first = `${name}-01` as LocalDate;
  const last = lastOfMonth(date);
  return { name, from: first > from ? first : from, to: last < to ? last : to, deviceIds };
}

function lastOfMonth(date: LocalDate): LocalDate {
  const first = new Date(`${date.slice(0, 7)}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1, 0);
  return dateOf(first);
}

/** The next date. After the last date that can be written it returns "~", which is greater than every date. */
export function dayAfter(date: LocalDate): LocalDate {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return dateOf(day);
}

function dateOf(day: Date): LocalDate {
  return parseDate(day.toISOString().slice(0, 10)) ?? ("~" as LocalDate);
}
