import type { DeviceId } from "../../../model/ids.ts";
import { type LocalDate, parseDate } from "../../../time/range.ts";
import type { Split } from "../../arguments/export/export-command.ts";
import { distinctNames, fileNameOf } from "./file-name.ts";

/** One file of an export. */
export interface PlannedFile {
  /** Without folder and ending. */
  readonly name: string;
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** None for all. */
  readonly deviceIds: readonly DeviceId[];
}

export interface ExportedRange {
  readonly from: LocalDate;
  readonly to: LocalDate;
}

/** The files that an export is split into, in order; `deviceIds` are all that it has where it is split by them. */
export function planFiles(
  split: Split,
  { from, to }: ExportedRange,
  deviceIds: readonly DeviceId[],
): PlannedFile[] {
  if (split === "device") {
    const names = distinctNames(deviceIds.map(fileNameOf));
    return deviceIds.map((deviceId, index) => ({ name: names[index]!, from, to, deviceIds: [deviceId] }));
  }
  const files: PlannedFile[] = [];
  const last = split === "day" ? (date: LocalDate) => date : lastOfMonth;
  for (let start = from; start <= to; ) {
    const end = last(start) < to ? last(start) : to;
    files.push({ name: split === "day" ? start : start.slice(0, 7), from: start, to: end, deviceIds });
    start = dayAfter(end);
  }
  return files;
}

function lastOfMonth(date: LocalDate): LocalDate {
  const first = new Date(`${date.slice(0, 7)}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + 1, 0);
  return dateOf(first);
}

function dayAfter(date: LocalDate): LocalDate {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return dateOf(day);
}

/** Behind the last day that can be named comes none that is before another. */
function dateOf(day: Date): LocalDate {
  return parseDate(day.toISOString().slice(0, 10)) ?? ("~" as LocalDate);
}
