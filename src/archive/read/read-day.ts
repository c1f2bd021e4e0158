import type { AppId } from "../../model/ids.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { VALUE_COLUMNS } from "../columns.ts";
import type { Connection } from "../duckdb/database.ts";
import { hasOldParts, type Part } from "../manifest.ts";
import { readAllRecords } from "./all-records.ts";
import { createLateTable, dropLateTable, type LateRows } from "./late-table.ts";

/*
 * Reads one app's records of a sealed day as answers would show them, some at a time.
 */

const ALL_COLUMNS = VALUE_COLUMNS.map(({ name }) => name);

/** One app's records of a sealed day. */
export interface DayOfApp {
  readonly day: UtcDay;
  readonly appId: AppId;
  /** Those that have records of the app. */
  readonly parts: readonly Part[];
  readonly pathOf: (file: string) => string;
  /** Rows of memory that lie over them. */
  readonly late: LateRows | null;
}

export async function readDay(
  connection: Connection,
  { day, appId, parts, pathOf, late }: DayOfApp,
  onRecords: (records: RecordColumns) => void,
): Promise<void> {
  const request = {
    appId,
    range: { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) },
    order: "device",
    deviceIds: null,
    afterDeviceId: null,
    lastDeviceId: null,
    behind: null,
    userId: null,
    paths: parts.map(({ file }) => pathOf(file)),
    hasOldFiles: hasOldParts(parts),
    isSorted: parts.length === 1, // A part is in order already, and DuckDB keeps the order of a file.
  } as const;
  try {
    const table = late === null ? null : await createLateTable(connection, late, ALL_COLUMNS);
    const all = readAllRecords(connection, { ...request, late: table?.upper ?? null });
    for await (const records of all) onRecords(records);
  } finally {
    await dropLateTable(connection);
  }
}
