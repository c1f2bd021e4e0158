import { compareUtf8 } from "../lib/utf8.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { TimeRange } from "../time/range.ts";
import type { Connection } from "./duckdb.ts";

/** What a statement looks for: row groups that can't hold any of it are not read. */
export interface ScanKeys {
  readonly appId: AppId;
  readonly deviceId: DeviceId | null;
  readonly range: TimeRange;
}

/** Sizes of the column chunks of files, as their own metadata give them. */
export interface ChunkSizes {
  /** Reads the metadata of files that are not known yet. */
  load(connection: Connection, paths: readonly string[]): Promise<void>;
  /** Bytes of the columns in the row groups that may hold what is looked for. The files' metadata must be loaded. */
  sum(paths: readonly string[], keys: ScanKeys, columns: ReadonlySet<string>): number;
}

interface RowGroup {
  minApp: string;
  maxApp: string;
  minDevice: string;
  maxDevice: string;
  minMs: number;
  maxMs: number;
  readonly bytes: Map<string, number>;
}

/** Row groups remembered, of about a kilobyte each: those of a year of 200,000 records a day, ten times over. */
const ROW_GROUPS_MAX = 40_000;

const METADATA = `SELECT file_name, row_group_id::DOUBLE, path_in_schema, total_compressed_size::DOUBLE,
  coalesce(stats_min_value, stats_min), coalesce(stats_max_value, stats_max)
  FROM parquet_metadata($files)`;

export function createChunkSizes(): ChunkSizes {
  const files = new Map<string, RowGroup[]>(); // The file used longest ago comes first.
  let rowGroups = 0;

  function put(path: string, groups: RowGroup[]): void {
    files.set(path, groups);
    rowGroups += groups.length;
    for (const [oldest, { length }] of files) {
      if (rowGroups <= ROW_GROUPS_MAX || oldest === path) break;
      files.delete(oldest);
      rowGroups -= length;
    }
  }

  return {
    async load(connection, paths) {
      const unknown = paths.filter((path) => !files.has(path));
      if (unknown.length === 0) return;
      const found = await readRowGroups(connection, unknown);
      for (const path of unknown) if (!files.has(path)) put(path, found.get(path) ?? []);
    },
    sum(paths, keys, columns) {
      let bytes = 0;
      for (const path of paths) {
        const groups = files.get(path) ?? [];
        files.delete(path);
        files.set(path, groups);
        for (const group of groups) {
          if (!mayHold(group, keys)) continue;
          for (const [column, size] of group.bytes) if (columns.has(column)) bytes += size;
        }
      }
      return bytes;
    },
  };
}

async function readRowGroups(
  connection: Connection,
  paths: readonly string[],
): Promise<ReadonlyMap<string, RowGroup[]>> {
  const rows = await connection.run(METADATA, { files: paths });
  const [names, columns, lows, highs] = [0, 2, 4, 5].map((column) => rows.texts(column)) as [
    (string | null)[],
    (string | null)[],
    (string | null)[],
    (string | null)[],
  ];
  const [ids, sizes] = [rows.numbers(1), rows.numbers(3)];
  const found = new Map<string, RowGroup[]>();
  for (let row = 0; row < rows.count; row++) {
    const path = names[row]!;
    const groups = found.get(path) ?? [];
    found.set(path, groups);
    const id = ids[row]!;
    groups[id] ??= unboundedGroup();
    const group = groups[id];
    const column = columns[row]!;
    group.bytes.set(column, sizes[row]!);
    const [low, high] = [lows[row] ?? null, highs[row] ?? null];
    if (low === null || high === null) continue;
    if (column === "app_id") [group.minApp, group.maxApp] = [low, high];
    if (column === "device_id") [group.minDevice, group.maxDevice] = [low, high];
    if (column === "timestamp") [group.minMs, group.maxMs] = [Number(low), Number(high)];
  }
  return found;
}

/** No Unicode text comes after it. */
const LAST_TEXT = "\u{10FFFF}".repeat(4);

function unboundedGroup(): RowGroup {
  const bytes = new Map<string, number>();
  const [minMs, maxMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return { minApp: "", maxApp: LAST_TEXT, minDevice: "", maxDevice: LAST_TEXT, minMs, maxMs, bytes };
}

function mayHold(group: RowGroup, { appId, deviceId, range }: ScanKeys): boolean {
  if (range.startMs > group.maxMs || range.endMs <= group.minMs) return false;
  if (!isWithin(appId, group.minApp, group.maxApp)) return false;
  return deviceId === null || isWithin(deviceId, group.minDevice, group.maxDevice);
}

/** Long texts are cut in statistics: what begins with the upper bound may be below the true one. */
function isWithin(text: string, low: string, high: string): boolean {
  return compareUtf8(text, low) >= 0 && (compareUtf8(text, high) <= 0 || text.startsWith(high));
}
