import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { ARCHIVE_COLUMNS, columnsMark } from "../../../../src/archive/columns.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import type { ArchiveScan } from "../../../../src/archive/read/archive-scan.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { Order } from "../../../../src/model/time/range.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../../reference/records.ts";
import type { Report } from "../../../support/reports/batches.ts";

/*
 * Parts made by plain statements, and what a loop over the same rows finds: nothing here is shared with the code
 * that makes and reads parts, but for the names of columns.
 */

/** A record of the archive. */
export interface PlainRow {
  readonly app: string;
  readonly report: Report;
}

/** Writes rows as a part, of the given columns alone, and says of it what a manifest would. */
export async function writePart(
  connection: DuckDBConnection,
  directory: string,
  file: string,
  rows: readonly PlainRow[],
  columns: readonly string[] = ARCHIVE_COLUMNS.map(({ name }) => name),
): Promise<Part> {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  const json = join(directory, "rows.json");
  writeFileSync(json, rows.map(({ app, report }) => JSON.stringify({ app_id: app, ...report })).join("\n"));
  const types = ARCHIVE_COLUMNS.map(({ name, type }) => `${name}: '${type}'`).join(", ");
  await connection.run(
    `COPY (SELECT ${columns.join(", ")} FROM read_json('${json}', format = 'newline_delimited', columns = {${types}})
      ORDER BY app_id, device_id, timestamp)
     TO '${path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048, PARQUET_VERSION v2)`,
  );
  return { ...partOf(file, statSync(path).size, rows), columns: columnsMark(columns) };
}

function partOf(file: string, bytes: number, rows: readonly PlainRow[]): Omit<Part, "columns"> {
  const apps = new Map<AppId, number>();
  for (const { app } of rows) apps.set(app as AppId, (apps.get(app as AppId) ?? 0) + 1);
  return { file, rows: rows.length, bytes, crc: 0, apps };
}

/** The obvious way: every row is looked at, late ones are laid over those of the same device and time, one by one. */
export function plainScan(
  rows: readonly PlainRow[],
  scan: Omit<ArchiveScan, "late" | "parts">,
  late: readonly Report[],
  order: Order,
): Report[] {
  const records = new Map<string, Report>();
  for (const { app, report } of rows) if (app === scan.appId) records.set(keyOf(report), report);
  for (const report of late) {
    const before = (records.get(keyOf(report)) as ReferenceRecord | undefined) ?? null;
    records.set(keyOf(report), laidOver(before, report as ReferenceReport) as unknown as Report);
  }
  const matching = [...records.values()].filter((record) => matches(record, scan));
  matching.sort((a, b) => timeOf(a) - timeOf(b) || compareUtf8(deviceOf(a), deviceOf(b)));
  return order === "asc" ? matching : matching.reverse();
}

function matches(record: Report, scan: Omit<ArchiveScan, "late" | "parts">): boolean {
  const { range, deviceId, userId, accuracyMetersMax } = scan;
  if (timeOf(record) < range.startMs || timeOf(record) >= range.endMs) return false;
  if (deviceId !== null && record.device_id !== deviceId) return false;
  if (userId !== null && record.user_id !== userId) return false;
  const accuracy = (record.horizontal_accuracy ?? null) as number | null;
  return accuracyMetersMax === null || accuracy === null || accuracy <= accuracyMetersMax;
}

export function timeOf({ timestamp }: Report): number {
  return timestamp as number;
}

export function deviceOf({ device_id }: Report): string {
  return device_id as string;
}

function keyOf(record: Report): string {
  return `${timeOf(record)} ${deviceOf(record)}`;
}
