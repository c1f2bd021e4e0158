import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { NumberFieldName } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order } from "../../model/time/range.ts";
import type { Connection, Rows } from "../duckdb/database.ts";
import { type ArchiveScan, scanDays } from "./archive-scan.ts";
import { findRecords, stretchOf } from "./find-records.ts";
import { createPageDictionary, deviceIdsOf, recordPage } from "./record-rows.ts";
import { columnsOf, createScanRunner, type SharedResources } from "./scan-runner.ts";
import {
  COUNT_STATEMENT,
  coordinatesStatement,
  DEVICES_STATEMENT,
  KEYS_STATEMENT,
  PATH_STATEMENT,
  positionsStatement,
  REPEATS_STATEMENT,
  recordsStatement,
  type ScanStatement,
  TRACKS_STATEMENT,
} from "./scan-sql.ts";

/** Identifies records within an app. */
export interface RecordKeys {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly timestampMs: Float64Array;
}

/** Records at the keys of late rows; `isRepeat` is 1 if the late row leaves the record as it is, else 0. */
export interface RepeatedKeys extends RecordKeys {
  readonly isRepeat: Float64Array;
}

/** Positions, ordered by device, then time. */
export interface PathPoints {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** Positions of one device in order of time, with some of their fields; NaN if a record lacks the field. */
export interface PositionRows {
  readonly count: number;
  readonly timestampMs: Float64Array;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly numbers: readonly Float64Array[];
}

/** Positions of all devices, those of each in order of time. */
export interface TrackRows extends RecordKeys {
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** Positions of records, in degrees. */
export interface CoordinateRows {
  readonly count: number;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** Answers one query after another. Rejects with DuckDB's error if a file can't be read. */
export interface ArchiveSession {
  /** Records in order of time, then device id (UTF-8); newest first reverses both. */
  page(scan: ArchiveScan, order: Order, offset: number, limit: number): Promise<RecordPage>;
  count(scan: ArchiveScan): Promise<number>;
  /** Devices with a matching record, in UTF-8 order, some thousand at a time. */
  devices(scan: ArchiveScan): AsyncIterable<readonly DeviceId[]>;
  /** Devices and times of all matching records, in no order, some thousand at a time. */
  keys(scan: ArchiveScan): AsyncIterable<RecordKeys>;
  /** The archived records at the keys of the scan's late rows, which must have one fix each. In no order. */
  repeats(scan: ArchiveScan): AsyncIterable<RepeatedKeys>;
  /** All matching positions, some thousand at a time. */
  path(scan: ArchiveScan): AsyncIterable<PathPoints>;
  /** The matching positions of the scan's one device, oldest first, some thousand at a time. */
  positions(scan: ArchiveScan, fields: readonly NumberFieldName[]): AsyncIterable<PositionRows>;
  /** The positions of all matching records with their devices; those of a device come oldest first. */
  tracks(scan: ArchiveScan): AsyncIterable<TrackRows>;
  /** The positions of all matching records, within a box if one is given, in no order, some thousand at a time. */
  coordinates(scan: ArchiveScan, box: BoundingBox | null): AsyncIterable<CoordinateRows>;
  /** Compressed bytes of the column chunks that the session had to read, each counted once. */
  readonly scannedBytes: number;
}

/** Days whose positions are sorted together, if they must be: a year may have tens of millions. */
const POSITION_DAYS = 32;

/** Runs statements over one connection, with the late rows of a scan merged in. */
function createStatements(connection: Connection, signal: AbortSignal, shared: SharedResources) {
  const runner = createScanRunner(connection, signal, shared);

  /** Runs `work` while the late rows are in a table with all columns that the statement needs. */
  function overLate<Value>(
    scan: ArchiveScan,
    statement: ScanStatement,
    work: (tabled: ArchiveScan) => AsyncIterable<Value>,
  ): AsyncIterable<Value> {
    signal.throwIfAborted();
    if (scan.late === null) return work(scan);
    const columns = statement.columns(columnsOf(scan));
    return shared.lateTables.over({ connection, signal }, scan.late, columns, (upper) =>
      work({ ...scan, upper }),
    );
  }

  /** The statement's rows of all days. */
  async function* read(scan: ArchiveScan, statement: ScanStatement): AsyncIterable<Rows> {
    const days = scanDays(scan);
    if (days.length === 0) return;
    yield* overLate(scan, statement, (tabled) => runner.stream(stretchOf(tabled, days), statement));
  }

  /** Like `read()`, some days after the others, for statements that sort. */
  function readInTime(scan: ArchiveScan, statement: ScanStatement, daysAtOnce: number): AsyncIterable<Rows> {
    const days = scanDays(scan);
    return overLate(scan, statement, async function* (tabled) {
      for (let from = 0; from < days.length; from += daysAtOnce)
        yield* runner.stream(stretchOf(tabled, days.slice(from, from + daysAtOnce)), statement);
    });
  }

  return { runner, overLate, read, readInTime };
}

/** Answers queries over one connection, until `signal` aborts. */
export function createArchiveSession(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ArchiveSession {
  const { runner, overLate, read, readInTime } = createStatements(connection, signal, shared);

  return {
    async page(scan, order, offset, limit) {
      const results: Rows[] = [];
      const records = (tabled: ArchiveScan) => findRecords(runner, tabled, order, offset, limit);
      for await (const rows of overLate(scan, recordsStatement(order), records)) results.push(rows);
      if (shared.dictionary.isFull) shared.dictionary = createPageDictionary();
      return recordPage(results, scan.deviceId, shared.dictionary);
    },
    async count(scan) {
      const days = scanDays(scan);
      let count = days.reduce((sum, { matching }) => sum + (matching ?? 0), 0);
      const unknown = days.filter(({ matching }) => matching === null);
      if (unknown.length === 0) return count;
      const countRows = async function* (tabled: ArchiveScan) {
        yield await runner.run(stretchOf(tabled, unknown), COUNT_STATEMENT);
      };
      for await (const rows of overLate(scan, COUNT_STATEMENT, countRows)) count += rows.numbers(0)[0]!;
      return count;
    },
    async *devices(scan) {
      for await (const rows of read(scan, DEVICES_STATEMENT)) yield rows.texts(0) as DeviceId[];
    },
    async *keys(scan) {
      for await (const rows of read(scan, KEYS_STATEMENT)) {
        yield { count: rows.count, deviceIds: rows.texts(0) as DeviceId[], timestampMs: rows.numbers(1) };
      }
    },
    async *repeats(scan) {
      for await (const rows of read(scan, REPEATS_STATEMENT)) {
        const [deviceIds, timestampMs] = [rows.texts(0) as DeviceId[], rows.numbers(1)];
        yield { count: rows.count, deviceIds, timestampMs, isRepeat: rows.numbers(2) };
      }
    },
    async *path(scan) {
      for await (const rows of read(scan, PATH_STATEMENT)) {
        const [latitude, longitude] = [rows.numbers(0), rows.numbers(1)];
        yield { count: rows.count, deviceIds: deviceIdsOf(rows, 2, scan.deviceId), latitude, longitude };
      }
    },
    async *positions(scan, fields) {
      for await (const rows of readInTime(scan, positionsStatement(fields), POSITION_DAYS)) {
        yield {
          count: rows.count,
          timestampMs: rows.numbers(0),
          latitude: rows.numbers(1),
          longitude: rows.numbers(2),
          numbers: fields.map((_name, index) => rows.numbers(3 + index)),
        };
      }
    },
    async *tracks(scan) {
      for await (const rows of readInTime(scan, TRACKS_STATEMENT, 1)) {
        const [deviceIds, timestampMs] = [rows.texts(0) as DeviceId[], rows.numbers(1)];
        const [latitude, longitude] = [rows.numbers(2), rows.numbers(3)];
        yield { count: rows.count, deviceIds, timestampMs, latitude, longitude };
      }
    },
    async *coordinates(scan, box) {
      for await (const rows of read(scan, coordinatesStatement(box)))
        yield { count: rows.count, latitude: rows.numbers(0), longitude: rows.numbers(1) };
    },
    get scannedBytes() {
      return runner.scannedBytes;
    },
  };
}
