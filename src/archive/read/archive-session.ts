import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import type { NumberFieldName } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { Connection, Rows } from "../duckdb/database.ts";
import { type Masks, NO_MASKS } from "../masks.ts";
import { type ArchiveScan, scanDays, withMask } from "./archive-scan.ts";
import { findRecords, stretchOf } from "./find-records.ts";
import { createPageDictionary, deviceIdsOf, recordPage } from "./record-rows.ts";
import { columnsOf, createScanRunner, type SharedResources } from "./scan-runner.ts";
import {
  COUNT_STATEMENT,
  coordinatesStatement,
  DEVICE_COUNTS_STATEMENT,
  DEVICES_STATEMENT,
  FIXES_STATEMENT,
  KEYS_STATEMENT,
  newestStatement,
  PATH_STATEMENT,
  positionsStatement,
  REPEATS_STATEMENT,
  recordsStatement,
  type ScanStatement,
  TRACKS_STATEMENT,
  WATCHED_STATEMENT,
} from "./scan-sql.ts";
import {
  type DroppedKeys,
  droppedKeysOf,
  type FindInTable,
  ShownRecords,
  withoutHidden,
} from "./shown-records.ts";

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

/** Track rows with what decides whether a device is in an area. */
export interface FixRows extends TrackRows {
  /** Meters; NaN if a record has none. */
  readonly accuracyMeters: Float64Array;
  readonly userIds: readonly UserId[];
}

/** Fix rows with what else alerts read; NaN if a record has none. */
export interface WatchedRows extends FixRows {
  readonly metersPerSecond: Float64Array;
  readonly batteryPercent: Float64Array;
}

/** Positions of records, in degrees. */
export interface CoordinateRows {
  readonly count: number;
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
}

/** What was reported with a user in a range of time. */
export interface UserRange extends TimeRange {
  readonly userId: UserId;
}

/** Answers one query after another. Rejects with DuckDB's error if a file can't be read. */
export interface ArchiveSession {
  /** Records in order of time, then device id (UTF-8); newest first reverses both. */
  page(scan: ArchiveScan, order: Order, offset: number, limit: number): Promise<RecordPage>;
  /** Counts a scan once. */
  count(scan: ArchiveScan): Promise<number>;
  /** Devices with a matching record, in UTF-8 order, some thousand at a time. */
  devices(scan: ArchiveScan): AsyncIterable<readonly DeviceId[]>;
  /** Devices and times of all matching records, in no order, some thousand at a time. */
  keys(scan: ArchiveScan): AsyncIterable<RecordKeys>;
  /** The archived records at the keys of the scan's late rows, which must have one fix each. In no order. */
  repeats(scan: ArchiveScan): AsyncIterable<RepeatedKeys>;
  /** The newest matching record of each of some devices, perhaps beside a user's, some thousand at a time. */
  newest(
    scan: ArchiveScan,
    deviceIds: readonly DeviceId[],
    beside: UserRange | null,
  ): AsyncIterable<RecordPage>;
  /** All matching positions, some thousand at a time. */
  path(scan: ArchiveScan): AsyncIterable<PathPoints>;
  /** The matching positions of the scan's one device, oldest first, some thousand at a time. */
  positions(scan: ArchiveScan, fields: readonly NumberFieldName[]): AsyncIterable<PositionRows>;
  /** The positions of all matching records with their devices; those of a device come oldest first. */
  tracks(scan: ArchiveScan): AsyncIterable<TrackRows>;
  /** Like `tracks()`, with accuracies and users. */
  fixes(scan: ArchiveScan): AsyncIterable<FixRows>;
  /** Like `fixes()`, with speeds and charges. */
  watched(scan: ArchiveScan): AsyncIterable<WatchedRows>;
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
    if (scan.hidden !== undefined && scan.hidden !== null && scan.hiddenTable === undefined)
      return shared.lateTables.over({ connection, signal }, scan.hidden, [], ({ rows }) =>
        overLate({ ...scan, hiddenTable: rows }, statement, work),
      );
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

/** Reads what is visible, with hidden records left out by the statements or dropped from their rows. */
function createVisibleReads({ runner, overLate, read, readInTime }: ReturnType<typeof createStatements>) {
  const findInTable: FindInTable = (scan, order, offset, limit) => {
    const records = (tabled: ArchiveScan) => findRecords(runner, tabled, order, offset, limit);
    return overLate(scan, recordsStatement(order), records);
  };
  const shownRecords = new ShownRecords(runner, findInTable);

  async function* readDevices(scan: ArchiveScan, keys: DroppedKeys): AsyncIterable<DeviceId[]> {
    const whole = { ...scan, hidden: null };
    const deviceIds: DeviceId[] = [];
    const hidden = new Set<DeviceId>();
    for await (const rows of read(whole, DEVICE_COUNTS_STATEMENT)) {
      const [ids, counts] = [rows.texts(0) as DeviceId[], rows.numbers(1)];
      ids.forEach((id, row) => {
        deviceIds.push(id);
        if (counts[row]! <= (keys.timesOf(id)?.length ?? 0)) hidden.add(id);
      });
    }
    // Not each hidden key is that of an archived record.
    if (hidden.size > 0)
      for await (const rows of read(whole, KEYS_STATEMENT))
        for (const id of withoutHidden(rows, keys, null, 1, 0).texts(0)) hidden.delete(id as DeviceId);
    yield deviceIds.filter((id) => !hidden.has(id));
  }

  /** Rows of a statement with these columns. */
  async function* readRows(
    scan: ArchiveScan,
    [timeColumn, deviceColumn]: readonly [number, number],
    readPlain: (scan: ArchiveScan) => AsyncIterable<Rows>,
  ): AsyncIterable<Rows> {
    const keys = droppedKeysOf(scan);
    if (keys === null) yield* readPlain(scan);
    else
      for await (const rows of readPlain({ ...scan, hidden: null }))
        yield withoutHidden(rows, keys, scan.deviceId, timeColumn, deviceColumn);
  }

  return {
    findInTable,
    /** Null if `findInTable()` must find them. */
    page: shownRecords.page.bind(shownRecords),
    /** Null if a statement must count them. */
    count: shownRecords.count.bind(shownRecords),
    async *devices(scan: ArchiveScan): AsyncIterable<DeviceId[]> {
      const keys = droppedKeysOf(scan);
      if (keys !== null) yield* readDevices(scan, keys);
      else for await (const rows of read(scan, DEVICES_STATEMENT)) yield rows.texts(0) as DeviceId[];
    },
    keys: (scan: ArchiveScan) => readRows(scan, [1, 0], (plain) => read(plain, KEYS_STATEMENT)),
    tracks: (scan: ArchiveScan) => readRows(scan, [1, 0], (plain) => readInTime(plain, TRACKS_STATEMENT, 1)),
    fixes: (scan: ArchiveScan) => readRows(scan, [1, 0], (plain) => readInTime(plain, FIXES_STATEMENT, 1)),
    watched: (scan: ArchiveScan) =>
      readRows(scan, [1, 0], (plain) => readInTime(plain, WATCHED_STATEMENT, 1)),
    positions: (scan: ArchiveScan, fields: readonly NumberFieldName[]) =>
      readRows(scan, [0, 0], (plain) => readInTime(plain, positionsStatement(fields), POSITION_DAYS)),
  };
}

/** Counts what is visible, each scan once. */
function createCount(
  { runner, overLate }: ReturnType<typeof createStatements>,
  visible: ReturnType<typeof createVisibleReads>,
): ArchiveSession["count"] {
  const counts = new WeakMap<ArchiveScan, Promise<number>>();

  async function count(scan: ArchiveScan): Promise<number> {
    const known = await visible.count(scan);
    if (known !== null) return known;
    const days = scanDays(scan);
    const unknown = days.filter(({ matching }) => matching === null);
    let sum = days.reduce((rows, { matching }) => rows + (matching ?? 0), 0);
    if (unknown.length === 0) return sum;
    const countRows = async function* (tabled: ArchiveScan) {
      yield await runner.run(stretchOf(tabled, unknown), COUNT_STATEMENT);
    };
    for await (const rows of overLate(scan, COUNT_STATEMENT, countRows)) sum += rows.numbers(0)[0]!;
    return sum;
  }

  return (scan) => {
    const known = counts.get(scan) ?? count(scan);
    counts.set(scan, known);
    return known;
  };
}

/**
 * Answers queries over one connection, until `signal` aborts. The caller's scans are of the manifest of this moment.
 */
export function createArchiveSession(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ArchiveSession {
  const session = createUnmaskedSession(connection, signal, shared);
  const masks = shared.masks(); // Later ones may be without what older files still have.
  return masks === NO_MASKS ? session : maskedSession(session, masks);
}

/** A session whose answers lack what is masked. */
function maskedSession(session: ArchiveSession, masks: Masks): ArchiveSession {
  /** A page and its count are of one scan, so that days are looked at once. */
  const masked = new WeakMap<ArchiveScan, ArchiveScan>();
  function over(scan: ArchiveScan): ArchiveScan {
    const known = masked.get(scan) ?? withMask(scan, masks);
    masked.set(scan, known);
    return known;
  }
  return {
    page: (scan, order, offset, limit) => session.page(over(scan), order, offset, limit),
    count: (scan) => session.count(over(scan)),
    devices: (scan) => session.devices(over(scan)),
    keys: (scan) => session.keys(over(scan)),
    repeats: (scan) => session.repeats(over(scan)),
    newest: (scan, deviceIds, beside) => session.newest(over(scan), deviceIds, beside),
    path: (scan) => session.path(over(scan)),
    positions: (scan, fields) => session.positions(over(scan), fields),
    tracks: (scan) => session.tracks(over(scan)),
    fixes: (scan) => session.fixes(over(scan)),
    watched: (scan) => session.watched(over(scan)),
    coordinates: (scan, box) => session.coordinates(over(scan), box),
    get scannedBytes() {
      return session.scannedBytes;
    },
  };
}

function besideValues({ userId, startMs, endMs }: UserRange, range: TimeRange) {
  return {
    besideUser: userId,
    besideStart: String(Math.max(startMs, range.startMs)),
    besideEnd: String(Math.min(endMs, range.endMs)),
  };
}

function createUnmaskedSession(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ArchiveSession {
  const statements = createStatements(connection, signal, shared);
  const { runner, overLate, read } = statements;
  const visible = createVisibleReads(statements);
  const count = createCount(statements, visible);

  return {
    async page(scan, order, offset, limit) {
      const results: Rows[] = [];
      const batches = await visible.page(scan, order, offset, limit);
      // Counting is cheaper than a page that turns out to be empty.
      const isCounted = batches === null && scan.late !== null && offset > 0;
      if (!isCounted || offset < (await count(scan)))
        for await (const rows of batches ?? visible.findInTable(scan, order, offset, limit))
          results.push(rows);
      if (shared.dictionary.isFull) shared.dictionary = createPageDictionary();
      return recordPage(results, scan.deviceId, shared.dictionary);
    },
    count,
    devices: visible.devices,
    async *keys(scan) {
      for await (const rows of visible.keys(scan)) {
        yield { count: rows.count, deviceIds: rows.texts(0) as DeviceId[], timestampMs: rows.numbers(1) };
      }
    },
    async *repeats(scan) {
      for await (const rows of read(scan, REPEATS_STATEMENT)) {
        const [deviceIds, timestampMs] = [rows.texts(0) as DeviceId[], rows.numbers(1)];
        yield { count: rows.count, deviceIds, timestampMs, isRepeat: rows.numbers(2) };
      }
    },
    async *newest(scan, deviceIds, beside) {
      const days = scanDays(scan);
      if (days.length === 0) return;
      const statement = newestStatement(beside !== null);
      const values = { devices: deviceIds, ...(beside === null ? {} : besideValues(beside, scan.range)) };
      const readTabled = (tabled: ArchiveScan) => runner.stream(stretchOf(tabled, days), statement, values);
      for await (const rows of overLate(scan, statement, readTabled)) {
        if (shared.dictionary.isFull) shared.dictionary = createPageDictionary();
        yield recordPage([rows], null, shared.dictionary);
      }
    },
    async *path(scan) {
      if (scan.deviceId !== null && droppedKeysOf(scan) !== null) {
        for await (const rows of visible.positions(scan, []))
          yield {
            count: rows.count,
            deviceIds: deviceIdsOf(rows, 0, scan.deviceId),
            latitude: rows.numbers(1),
            longitude: rows.numbers(2),
          };
        return;
      }
      for await (const rows of read(scan, PATH_STATEMENT)) {
        const [latitude, longitude] = [rows.numbers(0), rows.numbers(1)];
        yield { count: rows.count, deviceIds: deviceIdsOf(rows, 2, scan.deviceId), latitude, longitude };
      }
    },
    async *positions(scan, fields) {
      for await (const rows of visible.positions(scan, fields)) {
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
      for await (const rows of visible.tracks(scan)) yield trackRows(rows);
    },
    async *fixes(scan) {
      for await (const rows of visible.fixes(scan)) yield fixRows(rows);
    },
    async *watched(scan) {
      for await (const rows of visible.watched(scan))
        yield { ...fixRows(rows), metersPerSecond: rows.numbers(6), batteryPercent: rows.numbers(7) };
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

function fixRows(rows: Rows): FixRows {
  return { ...trackRows(rows), accuracyMeters: rows.numbers(4), userIds: rows.texts(5) as UserId[] };
}

function trackRows(rows: Rows): TrackRows {
  return {
    count: rows.count,
    deviceIds: rows.texts(0) as DeviceId[],
    timestampMs: rows.numbers(1),
    latitude: rows.numbers(2),
    longitude: rows.numbers(3),
  };
}
