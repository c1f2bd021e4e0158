import type { Connection } from "../../duckdb/database.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../time/range.ts";
import { ARCHIVE_COLUMNS } from "../columns.ts";

/** What a statement looks for by the columns that files are sorted by. */
export interface ScanKeys {
  readonly appId: AppId;
  readonly deviceId: DeviceId | null;
  readonly range: TimeRange;
}

/** What the files' own metadata say of their column chunks. */
export interface ChunkSizes {
  /** Gets to know files; those that are known already cost nothing. */
  learn(paths: readonly string[]): Promise<void>;
  /** How many files are known. */
  readonly count: number;
  /** What is known of a file: nothing where it can't be read, or was forgotten. */
  find(path: string): FileChunks | null;
  /** Closes its connection, once nobody waits for it; who asks later opens another. */
  close(): void;
}

/** The row groups of a file, and the compressed size of each of their columns. */
export interface FileChunks {
  readonly rowGroups: readonly Readonly<RowGroup>[];
  /** By row group, then column as in `ARCHIVE_COLUMNS`. */
  readonly bytes: Uint32Array;
}

/** Bounds of what a row group holds. A text may be cut short, so that it only begins as the true bound does. */
interface RowGroup {
  appMin: string | null;
  appMax: string | null;
  deviceMin: string | null;
  deviceMax: string | null;
  startMs: number;
  lastMs: number;
}

/** About 300 bytes each. A year of 10 M records a day has 180,000. */
const ROW_GROUPS_MAX = 200_000;

/** Copying a file's metadata out of DuckDB takes about a millisecond, and other work goes on in between. */
const FILES_A_STATEMENT = 8;

const WIDTH = ARCHIVE_COLUMNS.length;
const COLUMN_INDEXES = new Map(ARCHIVE_COLUMNS.map(({ name }, index) => [name, index]));

/** Texts cost more than numbers to copy out of DuckDB, so that files and columns come by their places. */
const METADATA = `SELECT list_position($files, file_name)::DOUBLE, row_group_id::DOUBLE,
    list_position($columns, path_in_schema)::DOUBLE, total_compressed_size::DOUBLE,
    CASE WHEN path_in_schema IN ('app_id', 'device_id', 'timestamp') THEN coalesce(stats_min_value, stats_min) END,
    CASE WHEN path_in_schema IN ('app_id', 'device_id', 'timestamp') THEN coalesce(stats_max_value, stats_max) END
  FROM parquet_metadata($files)`;

export function createChunkSizes(connect: () => Promise<Connection>): ChunkSizes {
  const files = new Map<string, FileChunks>(); // The file that was asked for longest ago comes first.
  let rowGroups = 0;
  let connection: Connection | null = null;
  let queue: Promise<void> = Promise.resolve(); // Few files at a time, so that who needs few waits little.

  function put(path: string, chunks: FileChunks): void {
    files.set(path, chunks);
    rowGroups += chunks.rowGroups.length;
    for (const [oldest, { rowGroups: gone }] of files) {
      if (rowGroups <= ROW_GROUPS_MAX || oldest === path) return;
      files.delete(oldest);
      rowGroups -= gone.length;
    }
  }

  async function learnNow(paths: readonly string[]): Promise<void> {
    const unknown = paths.filter((path) => !files.has(path));
    if (unknown.length === 0) return;
    connection ??= await connect();
    for (const [path, chunks] of await readChunks(connection, unknown)) put(path, chunks);
  }

  return {
    async learn(paths) {
      const unknown = [...new Set(paths)].filter((path) => !files.has(path));
      for (let start = 0; start < unknown.length; start += FILES_A_STATEMENT) {
        const some = unknown.slice(start, start + FILES_A_STATEMENT);
        const learned = queue.then(() => learnNow(some));
        queue = learned.catch(() => undefined); // The next in line is not to blame.
        await learned;
      }
    },
    get count() {
      return files.size;
    },
    find(path) {
      const chunks = files.get(path);
      if (chunks === undefined) return null;
      files.delete(path);
      files.set(path, chunks);
      return chunks;
    },
    close() {
      queue = queue.then(() => {
        connection?.close();
        connection = null;
      });
    },
  };
}

async function readChunks(
  connection: Connection,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileChunks>> {
  const columns = ARCHIVE_COLUMNS.map(({ name }) => name);
  const rows = await connection.run(METADATA, { files: paths, columns });
  const [file, rowGroup, column, bytes] = [0, 1, 2, 3].map((index) => rows.numbers(index));
  const [min, max] = [rows.texts(4), rows.texts(5)];
  const files = paths.map((): { rowGroups: RowGroup[]; sizes: number[] } => ({ rowGroups: [], sizes: [] }));
  for (let row = 0; row < rows.count; row++) {
    const { rowGroups, sizes } = files[file![row]! - 1]!;
    const group = rowGroup![row]!;
    rowGroups[group] ??= { ...UNBOUNDED };
    const index = column![row]! - 1;
    if (Number.isNaN(index)) continue; // A column that this program does not know.
    sizes[group * WIDTH + index] = bytes![row]!;
    setBounds(rowGroups[group], columns[index]!, min[row]!, max[row]!);
  }
  return new Map(
    files.map(({ rowGroups, sizes }, index) => {
      const all = Uint32Array.from({ length: rowGroups.length * WIDTH }, (_, chunk) => sizes[chunk] ?? 0);
      return [paths[index]!, { rowGroups, bytes: all }];
    }),
  );
}

const UNBOUNDED: RowGroup = {
  appMin: null,
  appMax: null,
  deviceMin: null,
  deviceMax: null,
  startMs: Number.NEGATIVE_INFINITY,
  lastMs: Number.POSITIVE_INFINITY,
};

function setBounds(group: RowGroup, column: string, min: string | null, max: string | null): void {
  if (column === "app_id") Object.assign(group, { appMin: min, appMax: max });
  if (column === "device_id") Object.assign(group, { deviceMin: min, deviceMax: max });
  if (column !== "timestamp") return;
  if (min !== null) group.startMs = Number(min);
  if (max !== null) group.lastMs = Number(max);
}

/** Adds up what the statements of a session read, each column chunk once. */
export class ScannedBytes {
  #sum = 0;
  readonly #seen = new Map<FileChunks, Uint8Array>();

  get sum(): number {
    return this.#sum;
  }

  add(chunks: FileChunks, keys: ScanKeys, columns: readonly string[]): void {
    const { rowGroups, bytes } = chunks;
    let seen = this.#seen.get(chunks);
    if (seen === undefined) {
      seen = new Uint8Array(bytes.length);
      this.#seen.set(chunks, seen);
    }
    const indexes = columns.map((name) => COLUMN_INDEXES.get(name)!);
    for (let group = 0; group < rowGroups.length; group++) {
      if (!mayHold(rowGroups[group]!, keys)) continue;
      for (const index of indexes) {
        const chunk = group * WIDTH + index;
        if (seen[chunk] === 1) continue;
        seen[chunk] = 1;
        this.#sum += bytes[chunk]!;
      }
    }
  }
}

/** Bounds that a file lacks rule nothing out. */
function mayHold(group: Readonly<RowGroup>, { appId, deviceId, range }: ScanKeys): boolean {
  if (group.lastMs < range.startMs || group.startMs >= range.endMs) return false;
  if (!mayLieWithin(appId, group.appMin, group.appMax)) return false;
  return deviceId === null || mayLieWithin(deviceId, group.deviceMin, group.deviceMax);
}

function mayLieWithin(text: string, min: string | null, max: string | null): boolean {
  if (min !== null && compareUtf8(text, min) < 0) return false;
  return max === null || compareUtf8(text, max) <= 0 || text.startsWith(max);
}
