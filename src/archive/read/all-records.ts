import type { DeviceAlias } from "../../model/device-alias.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../model/location-fields.ts";
import type { RecordColumns } from "../../model/record-columns.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { VALUE_COLUMNS } from "../columns.ts";
import type { Connection, Rows, SqlValues } from "../duckdb/database.ts";
import { hasOldParts, type Part } from "../manifest.ts";
import type { Mask, MaskValues } from "../masks.ts";
import type { UpperRows } from "../overlay-sql.ts";
import { aliasShape, aliasValues } from "./alias-sql.ts";
import type { OverlayRows } from "./archive-scan.ts";
import { createLateTable, dropLateTable } from "./late-tables.ts";
import { type AllRecordsShape, allRecordsSql } from "./scan-sql.ts";

// Reads all records of an app in a range, with late rows merged in, some thousand at a time.

/** Which records to read. */
export interface AllRecords {
  readonly appId: AppId;
  readonly range: TimeRange;
  /** The key that is sorted by first. Devices are in UTF-8 order. */
  readonly order: "time" | "device";
  /** Only these devices; null for all. */
  readonly deviceIds: readonly DeviceId[] | null;
  /** Only devices after this one; null for all. */
  readonly afterDeviceId: DeviceId | null;
  /** Only devices up to this one; null for all. */
  readonly lastDeviceId: DeviceId | null;
  /** Only records after this one in order of time; null for all. */
  readonly behind: { readonly deviceId: string; readonly timestampMs: number } | null;
  /** Only records of this user; null for all. */
  readonly userId: UserId | null;
  readonly paths: readonly string[];
  /** Whether any of the files lacks a column. */
  readonly hasOldFiles: boolean;
  /** The connection's tables of late rows, to merge into the files' records; null if there are none. */
  readonly late: UpperRows | null;
  /** The table of the keys whose records are left out; null if there are none. */
  readonly hidden: string | null;
  /** What erasures mask of the files' records; null if nothing. */
  readonly mask: MaskValues | null;
  /** Devices whose records show as those of others; of a single device, those that show as it. */
  readonly aliases: readonly DeviceAlias[];
  /** Whether the files, read one after the other, are sorted. */
  readonly isSorted: boolean;
}

export async function* readAllRecords(
  connection: Connection,
  request: AllRecords,
  signal?: AbortSignal,
): AsyncIterable<RecordColumns> {
  const { sql, values } = recordStatement(request);
  for await (const rows of connection.stream(`SELECT ${COLUMNS} FROM (${sql})`, values, signal))
    yield columnsOf(rows);
}

/** A statement with the records as a table, sorted. */
export function recordStatement(request: AllRecords): { readonly sql: string; readonly values: SqlValues } {
  return { sql: allRecordsSql(shapeOf(request)), values: valuesOf(request) };
}

function shapeOf(request: AllRecords): AllRecordsShape {
  const {
    deviceIds,
    afterDeviceId,
    lastDeviceId,
    behind,
    userId,
    paths,
    order,
    late,
    hidden,
    mask,
    aliases,
  } = request;
  const ofDevice = deviceIds?.length === 1;
  return {
    ofDevice,
    ofUser: userId !== null,
    some: {
      isListed: deviceIds !== null && !ofDevice,
      isAfter: afterDeviceId !== null,
      isUpToLast: lastDeviceId !== null,
      isBehind: behind !== null,
    },
    hasFiles: paths.length > 0,
    late,
    hidden,
    isMasked: mask !== null && paths.length > 0,
    aliases: aliasShape(aliases, ofDevice ? deviceIds[0]! : null),
    hasOldFiles: request.hasOldFiles,
    isSorted: request.isSorted && hidden === null && mask === null && aliases.length === 0,
    order,
  };
}

/** DuckDB accepts only values that the statement names. */
function valuesOf(request: AllRecords): SqlValues {
  const { appId, range, afterDeviceId, lastDeviceId, behind, userId, paths, mask } = request;
  return {
    start: BigInt(range.startMs),
    end: BigInt(range.endMs),
    ...(paths.length > 0 ? { files: paths, app: appId } : {}),
    ...deviceValues(request),
    ...(afterDeviceId === null ? {} : { after: afterDeviceId }),
    ...(lastDeviceId === null ? {} : { last: lastDeviceId }),
    ...(behind === null ? {} : { behindMs: BigInt(behind.timestampMs), behindDevice: behind.deviceId }),
    ...(userId === null ? {} : { user: userId }),
    ...(mask === null || paths.length === 0 ? {} : mask),
  };
}

function deviceValues({ deviceIds, aliases, hidden }: AllRecords): SqlValues {
  const one = deviceIds?.length === 1 ? deviceIds[0]! : null;
  const renaming = aliases.length === 0 ? {} : aliasValues(aliases, one, hidden !== null);
  if (deviceIds === null || (one !== null && aliases.length > 0)) return renaming;
  return { ...renaming, ...(one === null ? { devices: deviceIds } : { device: one }) };
}

const TEXT_COLUMNS = [...PROFILE_FIELDS, ...STATE_FIELDS].map(({ name, type }) =>
  type === "boolean" ? `${name}::VARCHAR` : name,
);
const COLUMNS = [
  ...["device_id", "timestamp::DOUBLE"],
  ...NUMBER_FIELDS.map(({ name }) => name),
  ...TEXT_COLUMNS,
].join(", ");
const FIRST_NUMBER = 2;
const FIRST_TEXT = FIRST_NUMBER + NUMBER_FIELDS.length;
const PROFILE_COLUMNS = PROFILE_FIELDS.map((_, member) => FIRST_TEXT + member);
const STATE_COLUMNS = STATE_FIELDS.map((_, member) => FIRST_TEXT + PROFILE_FIELDS.length + member);

function columnsOf(rows: Rows): RecordColumns {
  return {
    count: rows.count,
    deviceIds: rows.texts(0) as string[],
    timestampMs: rows.numbers(1),
    numbers: NUMBER_FIELDS.map((_, field) => rows.numbers(FIRST_NUMBER + field)),
    profiles: rows.tuples(PROFILE_COLUMNS),
    states: rows.tuples(STATE_COLUMNS),
  };
}

/** Records need all columns of late rows. */
const LATE_COLUMNS = VALUE_COLUMNS.map(({ name }) => name);

/** One app's records of an archived day. */
export interface DayOfApp {
  readonly day: UtcDay;
  readonly appId: AppId;
  /** The day's parts that have records of the app. */
  readonly parts: readonly Part[];
  readonly pathOf: (file: string) => string;
  /** What erasures mask of their records; null if nothing. */
  readonly mask: Mask | null;
  /** Late rows to merge into them. */
  readonly late: OverlayRows | null;
}

/** Reads one app's records of an archived day, some thousand at a time. */
export async function readDay(
  connection: Connection,
  { day, appId, parts, pathOf, mask, late }: DayOfApp,
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
    hidden: null,
    mask: mask?.values ?? null,
    aliases: [],
    isSorted: parts.length === 1, // A part is sorted, and DuckDB keeps the order of a file.
  } as const;
  try {
    const table = late === null ? null : await createLateTable(connection, late, LATE_COLUMNS);
    const all = readAllRecords(connection, { ...request, late: table?.upper ?? null });
    for await (const records of all) onRecords(records);
  } finally {
    await dropLateTable(connection);
  }
}
