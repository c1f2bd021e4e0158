import type { AppId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../time/utc-day.ts";
import { VALUE_COLUMNS } from "../database/columns.ts";
import type { Connection, Rows } from "../database/duckdb.ts";
import { createLateTable, dropLateTable, type LateRows } from "./late-table.ts";
import { orderedRecordsSql } from "./scan-sql.ts";

/*
 * Reads one app's records of a sealed day as answers would show them, some at a time.
 */

const ALL_COLUMNS = VALUE_COLUMNS.map(({ name }) => name);

/** One app's records of a sealed day. */
export interface DayOfApp {
  readonly day: UtcDay;
  readonly appId: AppId;
  /** Where the parts are that have records of the app. */
  readonly paths: readonly string[];
  /** Rows of memory that lie over them. */
  readonly late: LateRows | null;
}

export async function readDay(
  connection: Connection,
  request: DayOfApp,
  onRecords: (records: RecordColumns) => void,
): Promise<void> {
  const { late } = request;
  try {
    if (late !== null) await createLateTable(connection, late, ALL_COLUMNS);
    await readRecords(connection, request, onRecords);
  } finally {
    await dropLateTable(connection);
  }
}

async function readRecords(
  connection: Connection,
  request: DayOfApp,
  onRecords: (records: RecordColumns) => void,
): Promise<void> {
  let isBegun = false;
  const read = async (hasOldFiles: boolean) => {
    const { day, appId, paths, late } = request;
    const hasFiles = paths.length > 0;
    const values = {
      start: BigInt(utcDayStartMs(day)),
      end: BigInt(utcDayStartMs(nextUtcDay(day))),
      ...(hasFiles ? { files: paths, app: appId } : {}),
    };
    // A part is in order already, and DuckDB keeps the order of a file.
    const isSorted = paths.length === 1 && late === null;
    const sql = orderedRecordsSql({ hasFiles, hasLate: late !== null, hasOldFiles, isSorted });
    for await (const rows of connection.stream(sql, values)) {
      isBegun = true;
      onRecords(columnsOf(rows));
    }
  };
  try {
    await read(false);
  } catch (error) {
    if (isBegun || request.paths.length === 0) throw error;
    await read(true).catch(() => {
      throw error; // A file that lacks a column fails the first statement alone.
    });
  }
}

const FIRST_NUMBER = 2;
const PROFILE = FIRST_NUMBER + NUMBER_FIELDS.length;

function columnsOf(rows: Rows): RecordColumns {
  return {
    count: rows.count,
    deviceIds: rows.texts(0) as string[],
    timestampMs: rows.numbers(1),
    numbers: NUMBER_FIELDS.map((_, field) => rows.numbers(FIRST_NUMBER + field)),
    profiles: rows.texts(PROFILE) as string[],
    states: rows.texts(PROFILE + 1) as string[],
  };
}
