import { assert } from "../lib/assert.ts";
import type { Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { RecordPage } from "../model/record-page.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { Order, TimeRange } from "../time/range.ts";
import { utcDayOf } from "../time/utc-day.ts";
import type { Connection, Database, Rows, SqlValues } from "./duckdb.ts";
import { dropLateRows, putLateRows } from "./late-table.ts";
import type { Part } from "./manifest.ts";
import { createPageDictionary } from "./page-dictionary.ts";
import { parseDayFolder } from "./paths.ts";
import { createQuerySlots } from "./query-slots.ts";
import { RECORD_COLUMNS, recordPage } from "./record-rows.ts";
import { KEY_NAMES, RECORD_NAMES, type ScanShape, scanSql } from "./scan-sql.ts";
import { createChunkSizes } from "./scanned-bytes.ts";

/** Which records of the archive a question is about. */
export interface ArchiveScan {
  readonly appId: AppId;
  /** One device, or null for all of the app. */
  readonly deviceId: DeviceId | null;
  /** Only records of this user. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Leaves out records whose horizontal accuracy is greater; those without one stay. */
  readonly accuracyMetersMax: number | null;
  /** The files that may hold any of them. */
  readonly parts: readonly Part[];
  /** Rows of memory that lie over the files' records, of the same app, device and range; filters come after. */
  readonly late: ReportBatch | null;
}

/** Positions by device, then time. */
export interface PathPoints {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** Answers one question, a statement at a time. Rejects with DuckDB's error, such as that of a damaged file. */
export interface ArchiveSession {
  /** Records ordered by time, then device id (UTF-8 bytes), or all of it reversed. */
  page(scan: ArchiveScan, order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(scan: ArchiveScan): Promise<number>;
  /** Devices with any matching record. */
  devices(scan: ArchiveScan): Promise<readonly DeviceId[]>;
  path(scan: ArchiveScan): Promise<PathPoints>;
  /** Compressed bytes of the column chunks that the statements so far had to read. */
  readonly scannedBytes: number;
}

export interface PartReader {
  /**
   * Asks the archive as soon as it has time; fails where too many wait. Rejects with an `AbortError` once the
   * signal comes, which ends the statement under way.
   */
  withSession<Value>(
    signal: AbortSignal,
    use: (session: ArchiveSession) => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
  /** Forgets what it remembers of files; questions to come are asked of another database. */
  renew(): void;
  close(): void;
}

export interface PartReaderOptions {
  /** Called with the first question, and again after `renew`. */
  openDatabase(): Promise<Database>;
  /** Where DuckDB finds a part. */
  pathOf(part: Part): string;
  /** Questions that run at once, and that wait. */
  readonly slots: number;
  readonly queueMax: number;
}

export function createPartReader({ openDatabase, pathOf, slots, queueMax }: PartReaderOptions): PartReader {
  const queue = createQuerySlots(slots, queueMax);
  let sizes = createChunkSizes();
  let idle: Connection[] = []; // A list for each database.
  let database: Promise<Database> | null = null;
  let dictionary = createPageDictionary();

  async function connect(): Promise<Connection> {
    database ??= openDatabase();
    return idle.pop() ?? (await database).connect();
  }

  function createSession(connection: Connection, metadata: Connection, signal: AbortSignal) {
    let scannedBytes = 0;

    /** Runs statements over one scan: late rows are a table meanwhile, sizes of unknown files are read beside. */
    async function scanning<Value>(
      scan: ArchiveScan,
      columns: ReadonlySet<string>,
      use: (run: Run) => Promise<Value>,
    ): Promise<Value> {
      const paths = scan.parts.map(pathOf);
      const values = valuesOf(scan, paths);
      if (scan.late !== null) await putLateRows(connection, scan.late);
      const sizesKnown = sizes.load(metadata, paths);
      sizesKnown.catch(() => undefined); // It throws again where it is awaited.
      try {
        return await use((statement, more) => connection.run(statement, { ...values, ...more }, signal));
      } finally {
        if (scan.late !== null) await dropLateRows(connection);
        await sizesKnown.catch(() => undefined); // A file that can't be read has told so already.
        scannedBytes += sizes.sum(paths, scan, columns);
      }
    }

    const session: ArchiveSession = {
      page: (scan, order, offset, limit) =>
        scanning(scan, RECORD_NAMES, async (run) => {
          const shape = shapeOf(scan);
          if (dictionary.isFull) dictionary = createPageDictionary();
          if (isInOrder(scan, order)) return recordPage(await run(runSql(shape, offset, limit)), dictionary);
          if (!isWide(scan)) return recordPage(await run(pageSql(shape, order, offset, limit)), dictionary);
          const bounds = await findBounds(run, shape, order, offset, limit);
          if (bounds === null) return recordPage(await run(pageSql(shape, order, 0, 0)), dictionary);
          const { firstMs, lastMs, before } = bounds;
          const files = scan.parts.filter((part) => mayReach(part, firstMs, lastMs)).map(pathOf);
          const within = { files, start: BigInt(firstMs), end: BigInt(lastMs + 1) };
          return recordPage(await run(pageSql(shape, order, offset - before, limit), within), dictionary);
        }),
      count: (scan) =>
        scanning(scan, KEY_NAMES, async (run) => {
          const rows = await run(`SELECT count(*)::DOUBLE FROM ${scanSql(shapeOf(scan))}`);
          return rows.numbers(0)[0]!;
        }),
      devices: (scan) =>
        scanning(scan, KEY_NAMES, async (run) => {
          const rows = await run(`SELECT DISTINCT device_id FROM ${scanSql(shapeOf(scan))}`);
          return rows.texts(0) as DeviceId[];
        }),
      path: (scan) =>
        scanning(scan, new Set([...KEY_NAMES, "latitude", "longitude"]), async (run) => {
          const rows = await run(
            `SELECT device_id, latitude, longitude FROM ${scanSql(shapeOf(scan))} ORDER BY device_id, timestamp`,
          );
          const deviceIds = rows.texts(0) as DeviceId[];
          return { count: rows.count, deviceIds, latitude: rows.numbers(1), longitude: rows.numbers(2) };
        }),
      get scannedBytes() {
        return scannedBytes;
      },
    };
    return session;
  }

  return {
    withSession: (signal, use) =>
      queue.run(signal, async () => {
        const connections = idle;
        const [connection, metadata] = [await connect(), await connect()];
        try {
          return await use(createSession(connection, metadata, signal));
        } finally {
          if (connections === idle) idle.push(connection, metadata);
          else for (const each of [connection, metadata]) each.close();
        }
      }),
    get running() {
      return queue.running;
    },
    get waiting() {
      return queue.waiting;
    },
    renew() {
      for (const connection of idle) connection.close();
      idle = [];
      sizes = createChunkSizes();
      database = null; // Its last connection, in use or not, keeps it alive.
    },
    close() {
      for (const connection of idle.splice(0)) connection.close();
      void database?.then((opened) => opened.close());
    },
  };
}

type Run = (statement: string, more?: SqlValues) => Promise<Rows>;

/** The times of a page's first and last record (by time), and how many records that come before it lie outside them. */
interface Bounds {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly before: number;
}

/** Finds a page's place in time by the keys alone; null where it is empty. */
async function findBounds(
  run: Run,
  shape: ScanShape,
  order: Order,
  offset: number,
  limit: number,
): Promise<Bounds | null> {
  const found = await run(boundsSql(shape, order, offset, limit));
  const [firstMs, lastMs] = [found.numbers(0)[0]!, found.numbers(1)[0]!];
  if (Number.isNaN(firstMs)) return null;
  // Of one device no two records share a time. Of several, those that do may come before the page.
  if (offset === 0 || shape.byDevice) return { firstMs, lastMs, before: offset };
  const edgeMs = order === "asc" ? firstMs : lastMs;
  const counted = await run(beforeSql(shape, order), { edge: BigInt(edgeMs) });
  return { firstMs, lastMs, before: counted.numbers(0)[0]! };
}

/** Whether a part is of a day that the times touch. */
function mayReach(part: Part, firstMs: number, lastMs: number): boolean {
  const day = parseDayFolder(folderOf(part));
  return day === null || (day >= utcDayOf(firstMs) && day <= utcDayOf(lastMs));
}

/** Whether the files, read one after the other, give the records in the order of the answer: nothing needs sorting. */
function isInOrder({ deviceId, parts, late }: ArchiveScan, order: Order): boolean {
  if (order === "desc" || deviceId === null || late !== null) return false;
  const folders = parts.map(folderOf);
  return folders.every((folder, index) => index === 0 || folders[index - 1]! < folder);
}

/** Where a page is a small share of what must be looked at, its place in time is found by the keys alone first. */
function isWide({ deviceId, parts, late }: ArchiveScan): boolean {
  return late === null && (deviceId === null || parts.length > 2);
}

function shapeOf({ deviceId, userId, accuracyMetersMax, parts, late }: ArchiveScan): ScanShape {
  return {
    byDevice: deviceId !== null,
    byUser: userId !== null,
    byAccuracy: accuracyMetersMax !== null,
    hasParts: parts.length > 0,
    hasLate: late !== null,
  };
}

function valuesOf(scan: ArchiveScan, paths: readonly string[]): SqlValues {
  const { appId, deviceId, userId, range, accuracyMetersMax } = scan;
  const ofParts =
    paths.length === 0
      ? {}
      : {
          files: paths,
          app: appId,
          start: BigInt(range.startMs),
          end: BigInt(range.endMs),
          ...(deviceId === null ? {} : { device: deviceId }),
        };
  return {
    ...ofParts,
    ...(userId === null ? {} : { user: userId }),
    ...(accuracyMetersMax === null ? {} : { accuracy: accuracyMetersMax }),
  };
}

/** All records of one device have times of their own, so the device needs no ordering. */
function orderSql({ byDevice }: ScanShape, order: Order): string {
  return byDevice ? `timestamp ${order}` : `timestamp ${order}, device_id ${order}`;
}

function folderOf({ file }: Part): string {
  return file.slice(0, file.indexOf("/"));
}

/** Rows come in the order of the files: `openDatabase` sees to it. */
function runSql(shape: ScanShape, offset: number, limit: number): string {
  return `SELECT ${RECORD_COLUMNS} FROM ${scanSql(shape)} ${slice(offset, limit)}`;
}

function pageSql(shape: ScanShape, order: Order, offset: number, limit: number): string {
  return `SELECT ${RECORD_COLUMNS} FROM ${scanSql(shape)} ORDER BY ${orderSql(shape, order)} ${slice(offset, limit)}`;
}

function boundsSql(shape: ScanShape, order: Order, offset: number, limit: number): string {
  return `SELECT min(timestamp)::DOUBLE, max(timestamp)::DOUBLE
    FROM (SELECT timestamp FROM ${scanSql(shape)} ORDER BY timestamp ${order} ${slice(offset, limit)})`;
}

function beforeSql(shape: ScanShape, order: Order): string {
  return `SELECT count(*)::DOUBLE FROM ${scanSql(shape)} WHERE timestamp ${order === "asc" ? "<" : ">"} $edge`;
}

/** Whole numbers of ours, the one thing that is not bound: a limit that DuckDB sees while it plans saves it a full sort. */
function slice(offset: number, limit: number): string {
  assert(
    Number.isSafeInteger(offset) && Number.isSafeInteger(limit),
    "a page begins and ends at whole numbers",
  );
  return `LIMIT ${limit} OFFSET ${offset}`;
}
