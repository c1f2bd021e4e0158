import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { dayFolder } from "../../../../src/archive/archive-files.ts";
import type { Database } from "../../../../src/archive/duckdb/database.ts";
import { statementsUnderWay } from "../../../../src/archive/duckdb/running-statements.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import { type Masks, NO_MASKS } from "../../../../src/archive/masks.ts";
import type { ArchiveScan, HiddenKeys, OverlayRows } from "../../../../src/archive/read/archive-scan.ts";
import type { ArchiveSession, RecordKeys } from "../../../../src/archive/read/archive-session.ts";
import type { PartReader } from "../../../../src/archive/read/part-reader.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { LOCATION_FIELDS } from "../../../../src/model/location-fields.ts";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { drawSome, RANDOM_SEED, randomRuns } from "../../../support/random-runs.ts";
import { outcome } from "../../../support/rejection.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";
import { drawMasks } from "../write/plain-masks.ts";
import { deviceOf, type PlainRow, plainScan, timeOf, writePart } from "../write/plain-parts.ts";
import { createFolderReader, openFolderDatabase } from "./reader-of-folder.ts";

/*
 * What the reader finds in files is what a loop over their rows finds, whatever rows of memory lie over them. The
 * rows crowd few instants, so that devices tie and late rows meet records; days differ in how many files and rows
 * they have; users change from row to row; ids would break a statement that has them in its text.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-reader-"));
const FIRST_DAY = utcDayOf(Date.UTC(2026, 0, 14));
const FIRST_MS = utcDayStartMs(FIRST_DAY);
const APPS = ["app", "other", "'; DROP TABLE late; --"] as AppId[];
const DEVICES = ["a", "'; DROP TABLE late; --", 'q"uote', "$1", "$device", "ä", "\uFF21", "\u{1F68C}"];
const USERS = ["u", "v", "' OR true --"];
const ALL: TimeRange = { startMs: FIRST_MS, endMs: FIRST_MS + 12 * MS_PER_DAY };
const PATIENT = new AbortController().signal;
const APP = APPS[0]!;

const random = seededRandom(RANDOM_SEED);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

/** Files a day; day 3 has none, and days 5 to 9 have few rows. */
const FILES_OF_DAYS = [2, 1, 3, 0, 1, 1, 1, 1, 1, 1, 2, 1];
const INSTANTS_OF_DAYS = [12, 20, 7, 0, 30, 1, 0.3, 1, 2, 0.1, 8, 3];
const INSTANT_MS = [0, 1, 500, 59_999, 60_000, 1_800_000, MS_PER_DAY - 1];

let plain: DuckDBConnection;
let reader: PartReader;
/** What readers leave out. */
let masks: Masks = NO_MASKS;
let rows: readonly PlainRow[];
let parts: readonly Part[];

beforeAll(async () => {
  plain = await (await DuckDBInstance.create(":memory:")).connect();
  const byFile = arbitraryFiles();
  rows = [...byFile.values()].flat();
  const written: Part[] = [];
  for (const [file, ofFile] of byFile) {
    written.push(await writePart(plain, join(DIRECTORY, "days"), file, ofFile));
  }
  parts = written.sort(() => random() - 0.5); // The caller promises no order.
  reader = openReader("days");
});

afterAll(() => {
  reader.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

function arbitraryFiles(): Map<string, PlainRow[]> {
  const byFile = new Map<string, PlainRow[]>();
  FILES_OF_DAYS.forEach((files, day) => {
    const names = Array.from({ length: files }, (_, file) => fileName(FIRST_DAY + day, file));
    for (const name of names) byFile.set(name, []);
    for (const app of APPS) {
      for (const device of DEVICES) {
        for (const ms of arbitraryInstants(INSTANTS_OF_DAYS[day]!)) {
          const report = arbitraryReport(device, FIRST_MS + day * MS_PER_DAY + ms);
          byFile.get(pick(names))?.push({ app, report: { user_id: pick(USERS), ...report } });
        }
      }
    }
  });
  return byFile;
}

function fileName(day: number, file: number): string {
  return `${dayFolder(day as UtcDay)}/00000001-${String(file).padStart(3, "0")}.parquet`;
}

function arbitraryInstants(count: number): Set<number> {
  const whole = Math.floor(count) + (random() < count % 1 ? 1 : 0);
  return new Set(
    Array.from({ length: whole }, () => Math.min(pick(INSTANT_MS) + pick([0, 0, 1, 2, 3]), MS_PER_DAY - 1)),
  );
}

function arbitraryReport(device: string, timestamp: number): Report {
  const carried = <Value>(name: string, values: readonly Value[]) =>
    random() < 0.4 ? {} : { [name]: pick(values) };
  return {
    device_id: device,
    timestamp,
    latitude: pick([-90, 42.36, 0, 90]),
    longitude: pick([-180, -71.05, 180]),
    ...carried("horizontal_accuracy", [0, 4.8, 50]),
    ...carried("speed", [0, 8.3]),
    ...carried("type", ["", "MOVING"]),
    ...carried("is_mock", [true, false]),
    ...carried("brand", ['q"uote', "\\u0000", "[null]"]),
  };
}

function openReader(folder: string, { slots = 2, queueMax = 8 } = {}): PartReader {
  return createFolderReader(join(DIRECTORY, folder), { masks: () => masks, slots, queueMax });
}

async function ask<Value>(use: (session: ArchiveSession) => Promise<Value>, of = reader): Promise<Value> {
  const answer = await of.withSession(APP, PATIENT, use);
  if (!answer.ok) throw new Error(`refused: ${answer.error.kind}`);
  return answer.value;
}

async function devicesOf(session: ArchiveSession, scan: ArchiveScan): Promise<readonly DeviceId[]> {
  return (await Array.fromAsync(session.devices(scan))).flat();
}

async function pathOf(session: ArchiveSession, scan: ArchiveScan) {
  const pieces = await Array.fromAsync(session.path(scan));
  return {
    count: pieces.reduce((sum, { count }) => sum + count, 0),
    deviceIds: pieces.flatMap(({ deviceIds }) => deviceIds),
    latitude: pieces.flatMap(({ latitude }) => [...latitude]),
    longitude: pieces.flatMap(({ longitude }) => [...longitude]),
  };
}

/** Late rows in batches of a few; all reports of an instant are of one. */
function lateOf(reports: readonly Report[]): OverlayRows {
  const instants = [...Map.groupBy(reports, (report) => `${deviceOf(report)} ${timeOf(report)}`).values()];
  return {
    days: [...new Set(reports.map((report) => utcDayOf(timeOf(report))))].sort((a, b) => a - b),
    *batches() {
      for (let start = 0; start < instants.length; start += 7)
        yield rowBatchOf(instants.slice(start, start + 7).flat());
      yield rowBatchOf([]);
    },
  };
}

/** The keys of rows to leave out. */
function hiddenOf(hidden: readonly PlainRow[]): HiddenKeys | null {
  if (hidden.length === 0) return null;
  const keys = hidden.map(({ report }) => report);
  const version = `hidden ${++hiddenCount}`;
  return {
    days: [...new Set(keys.map((key) => utcDayOf(timeOf(key))))].sort((a, b) => a - b),
    *batches() {
      for (let start = 0; start < keys.length; start += 1000)
        yield rowBatchOf(keys.slice(start, start + 1000));
    },
    version: () => version,
    timesOf(deviceId) {
      const times = keys.filter((key) => deviceOf(key) === deviceId).map(timeOf);
      return times.length === 0 ? null : Float64Array.from(times).sort();
    },
  };
}

let hiddenCount = 0;

/** Some of the app's rows that a scan may find, or all of a day. */
function arbitraryHidden({ appId, deviceId, range }: ArchiveScan): readonly PlainRow[] {
  const share = pick([0.01, 0.3, 1]);
  const days = pick([null, new Set([0, 1, 4].map((day) => FIRST_DAY + day))]);
  return rows.filter(
    ({ app, report }) =>
      app === appId &&
      (deviceId === null || deviceOf(report) === deviceId) &&
      timeOf(report) >= range.startMs &&
      timeOf(report) < range.endMs &&
      days?.has(utcDayOf(timeOf(report))) !== false &&
      random() < share,
  );
}

function scanOf(scan: Partial<ArchiveScan> = {}): ArchiveScan {
  const filters = { appId: APPS[0]!, deviceId: null, userId: null, accuracyMetersMax: null };
  return { ...filters, range: ALL, parts, late: null, ...scan };
}

/** Parts of days that the range touches, as a caller chooses them. */
function partsWithin({ startMs, endMs }: TimeRange): readonly Part[] {
  return parts.filter(({ file }) => {
    const dayMs = Date.parse(file.slice("day=".length, "day=2026-01-14".length));
    return dayMs < endMs && dayMs + MS_PER_DAY > startMs;
  });
}

function arbitraryScan(lateRows: readonly Report[]): { scan: ArchiveScan; late: readonly Report[] } {
  const startMs = FIRST_MS + pick([0, 0, 1, 2, 4, 10]) * MS_PER_DAY + pick([0, 0, 1, 60_000]);
  const range = {
    startMs,
    endMs: startMs + pick([1, 2, 61_000, MS_PER_DAY, 5 * MS_PER_DAY, 12 * MS_PER_DAY]),
  };
  const deviceId = pick([null, null, ...DEVICES, "nobody"]) as DeviceId | null;
  const late = lateRows.filter(
    (row) =>
      timeOf(row) >= range.startMs &&
      timeOf(row) < range.endMs &&
      (deviceId === null || deviceOf(row) === deviceId),
  );
  const scan = scanOf({
    appId: pick(APPS),
    deviceId,
    range,
    userId: pick([null, null, ...USERS, "ANONYMOUS", "nobody"]) as UserId | null,
    accuracyMetersMax: pick([null, null, 0, 4.8, 49.9]),
    parts: partsWithin(range),
    late: late.length === 0 ? null : lateOf(late),
  });
  return { scan, late };
}

function arbitraryLateRows(ofInstantMax: number): Report[] {
  const late: Report[] = [];
  const instants = new Set<string>();
  for (let i = 0; i < 60; i++) {
    const day = pick([0, 0, 1, 3, 3, 4, 11]);
    const device = pick([...DEVICES, "new"]);
    const timestamp = FIRST_MS + day * MS_PER_DAY + pick(INSTANT_MS);
    if (instants.has(`${device} ${timestamp}`)) continue;
    instants.add(`${device} ${timestamp}`);
    for (let count = Math.ceil(random() * ofInstantMax); count > 0; count--) {
      const user = random() < 0.5 ? {} : { user_id: pick(USERS) };
      late.push({ ...arbitraryReport(device, timestamp), ...user });
    }
  }
  return late;
}

async function expectAgreement(
  scan: ArchiveScan,
  late: readonly Report[],
  hidden: readonly PlainRow[] = [],
): Promise<void> {
  const order = pick(["asc", "desc"] as const);
  const leftOut = new Set(hidden);
  const shown = rows.filter((row) => !leftOut.has(row));
  const all = plainScan(shown, scan, late, order);
  const offset = pick([0, 0, 1, 5, Math.floor(all.length / 2), all.length - 1, all.length, 10_000]);
  const limit = pick([0, 1, 7, 40, 1000]);
  const from = Math.max(0, offset);
  const found = await ask(async (session) => ({
    page: await session.page(scan, order, from, limit),
    count: await session.count(scan),
    devices: await devicesOf(session, scan),
    path: await pathOf(session, scan),
    keys: await Array.fromAsync(session.keys(scan)),
    tracks: await Array.fromAsync(session.tracks(scan)),
  }));
  expect(recordsOf(found.page)).toEqual(all.slice(from, from + limit));
  expect(found.count).toBe(all.length);
  expect(found.devices).toEqual(
    [...new Set(all.map((record) => deviceOf(record) as DeviceId))].sort(compareUtf8),
  );
  const path = all.toSorted((a, b) => compareUtf8(deviceOf(a), deviceOf(b)) || timeOf(a) - timeOf(b));
  expect(found.path.count).toBe(all.length);
  expect(found.path.deviceIds).toEqual(path.map((record) => deviceOf(record) as DeviceId));
  expect([...found.path.latitude]).toEqual(path.map(({ latitude }) => latitude as number));
  expect([...found.path.longitude]).toEqual(path.map(({ longitude }) => longitude as number));
  const keys = path.map((record) => `${deviceOf(record)} ${timeOf(record)}`);
  expect(textsOf(found.keys).sort()).toEqual(keys.toSorted());
  const ofDevices = Map.groupBy(textsOf(found.tracks), (text) => text.slice(0, text.lastIndexOf(" ")));
  const tracks = Map.groupBy(keys, (text) => text.slice(0, text.lastIndexOf(" ")));
  expect([...ofDevices].sort()).toEqual([...tracks].sort());
}

function textsOf(found: readonly RecordKeys[]): string[] {
  return found.flatMap(({ deviceIds, timestampMs }) =>
    deviceIds.map((id, row) => `${id} ${timestampMs[row]}`),
  );
}

describe("a session agrees with a loop over all rows", () => {
  test("where nothing is late", async () => {
    for (let round = 0; round < randomRuns(150); round++) await expectAgreement(arbitraryScan([]).scan, []);
  });

  test("where late rows replace records, add to them, and are new", async () => {
    for (let round = 0; round < randomRuns(100); round++) {
      const { scan, late } = arbitraryScan(arbitraryLateRows(1));
      await expectAgreement(scan, late);
    }
  });

  test("where late rows have several fixes of an instant, which are laid over its record in order", async () => {
    for (let round = 0; round < randomRuns(100); round++) {
      const { scan, late } = arbitraryScan(arbitraryLateRows(5));
      await expectAgreement(scan, late);
    }
  });

  test("where records are left out", async () => {
    for (let round = 0; round < randomRuns(150); round++) {
      const { scan } = arbitraryScan([]);
      const hidden = arbitraryHidden(scan);
      await expectAgreement({ ...scan, hidden: hiddenOf(hidden) }, [], hidden);
    }
  });

  test("where records are left out, and late rows lie over others or take their place", async () => {
    for (let round = 0; round < randomRuns(100); round++) {
      const { scan, late } = arbitraryScan(arbitraryLateRows(1));
      const hidden = arbitraryHidden(scan);
      await expectAgreement({ ...scan, hidden: hiddenOf(hidden) }, late, hidden);
    }
  });

  describe("where records are masked", () => {
    let masked: readonly PlainRow[];

    function mask(): void {
      const days = FILES_OF_DAYS.map((_, day) => (FIRST_DAY + day) as UtcDay);
      const drawn = drawMasks(random, { apps: APPS, devices: DEVICES, users: USERS, days });
      masks = drawn.masks;
      masked = rows.filter((row) => drawn.isMasked(row));
    }

    afterEach(() => {
      masks = NO_MASKS;
    });

    test("alone", async () => {
      for (let round = 0; round < randomRuns(150); round++) {
        mask();
        await expectAgreement(arbitraryScan([]).scan, [], masked);
      }
    });

    test("and whole days are counted", async () => {
      for (let round = 0; round < randomRuns(10); round++) {
        mask();
        const shown = rows.filter((row) => !masked.includes(row));
        for (const appId of APPS) {
          const expected = shown.filter(({ app }) => app === appId).length;
          expect(await ask((session) => session.count(scanOf({ appId })))).toBe(expected);
        }
      }
    });

    test("and late rows lie over others, or take the place of masked ones", async () => {
      for (let round = 0; round < randomRuns(40); round++) {
        mask();
        const { scan, late } = arbitraryScan(arbitraryLateRows(3));
        await expectAgreement(scan, late, masked);
      }
    });

    test("and others are left out", async () => {
      for (let round = 0; round < randomRuns(50); round++) {
        mask();
        const { scan, late } = arbitraryScan(pick([[], arbitraryLateRows(1)]));
        const hidden = arbitraryHidden(scan);
        await expectAgreement({ ...scan, hidden: hiddenOf(hidden) }, late, [...masked, ...hidden]);
      }
    });

    test("positions() and repeats() leave them out, too", async () => {
      for (let round = 0; round < randomRuns(40); round++) {
        mask();
        const deviceId = pick(DEVICES) as DeviceId;
        const isShown = new Set(rows).difference(new Set(masked));
        const shown = plainScan([...isShown], scanOf({ deviceId }), [], "asc");
        const found = await ask(async (session) => ({
          positions: await Array.fromAsync(session.positions(scanOf({ deviceId }), ["speed"])),
          repeats: await Array.fromAsync(
            session.repeats(
              scanOf({ deviceId, late: lateOf(plainScan(rows, scanOf({ deviceId }), [], "asc")) }),
            ),
          ),
        }));
        expect(found.positions.flatMap(({ timestampMs }) => [...timestampMs])).toEqual(shown.map(timeOf));
        expect(found.repeats.flatMap(({ timestampMs }) => [...timestampMs]).sort((a, b) => a - b)).toEqual(
          shown.map(timeOf),
        );
      }
    });

    test("and a session that has begun goes on with what was masked then", async () => {
      do mask();
      while (!masked.some(({ app }) => app === APP));
      const scan = scanOf();
      const expected = plainScan(
        rows.filter((row) => !masked.includes(row)),
        scan,
        [],
        "asc",
      ).length;
      const counts = await ask(async (session) => {
        masks = NO_MASKS;
        return [await session.count(scan), await session.count(scanOf())];
      });
      expect(counts).toEqual([expected, expected]);
    });
  });

  test("where nothing but late rows is there", async () => {
    const late = [{ device_id: "a", timestamp: FIRST_MS, latitude: 1, longitude: 2 }];
    const page = await ask((session) => session.page(scanOf({ parts: [], late: lateOf(late) }), "asc", 0, 9));
    expect(recordsOf(page)).toEqual([{ ...late[0]!, user_id: "ANONYMOUS" }]);
  });

  test("where nothing is there at all", async () => {
    await expectAgreement(scanOf({ parts: [], range: { startMs: 0, endMs: 1 } }), []);
  });
});

test("page() after page() gives every record once, in either direction", async () => {
  for (const order of ["asc", "desc"] as const) {
    for (const deviceId of [null, DEVICES[1]!] as (DeviceId | null)[]) {
      const scan = scanOf({ deviceId });
      const found: Report[] = [];
      for (let offset = 0; ; offset += 37) {
        const page = await ask((session) => session.page(scan, order, offset, 37));
        found.push(...recordsOf(page));
        if (page.count === 0) break;
      }
      expect(found).toEqual(plainScan(rows, scan, [], order));
    }
  }
});

/** A day of enough records that times are looked at before records are: hundreds of them share a millisecond. */
describe("on a busy day", () => {
  const DAY_FILE = fileName(FIRST_DAY, 0);
  const busyRows: PlainRow[] = [];
  let busy: PartReader;
  let scan: ArchiveScan;

  beforeAll(async () => {
    for (let device = 0; device < 250; device++) {
      for (let step = 0; step < 100; step++) {
        // Minutes of 3,250 records; the first eight milliseconds are everybody's.
        const inMinute = step % 13;
        const ms = inMinute < 8 ? inMinute : 20 * inMinute + (device % 7);
        const report = {
          device_id: `device-${device}`,
          timestamp: FIRST_MS + Math.floor(step / 13) * 60_000 + ms,
          latitude: device / 8,
          longitude: step / 8,
          user_id: device % 3 === 0 ? "third" : "other",
          horizontal_accuracy: device % 5,
        };
        busyRows.push({ app: APPS[0]!, report });
      }
    }
    const part = await writePart(plain, join(DIRECTORY, "busy"), DAY_FILE, busyRows);
    busy = openReader("busy");
    scan = scanOf({ parts: [part], range: { startMs: FIRST_MS, endMs: FIRST_MS + MS_PER_DAY } });
  });

  afterAll(() => busy.close());

  const filters: [string, Partial<ArchiveScan>][] = [
    ["all records", {}],
    ["accurate ones", { accuracyMetersMax: 2 }],
    ["those of a user", { userId: "third" as UserId }],
    ["some minutes", { range: { startMs: FIRST_MS + 60_003, endMs: FIRST_MS + 6 * 60_000 + 22 } }],
  ];
  for (const [name, filter] of filters) {
    test(`page() finds its place among ${name}`, async () => {
      const asked = { ...scan, ...filter };
      for (const order of ["asc", "desc"] as const) {
        const all = plainScan(busyRows, asked, [], order);
        for (const offset of [0, 1, 249, 250, 2399, 2401, 9999, 20_011, all.length - 3, all.length, 99_999]) {
          const page = await ask((session) => session.page(asked, order, offset, 130), busy);
          expect(keysOf(recordsOf(page))).toEqual(keysOf(all.slice(offset, offset + 130)));
        }
      }
    });
  }

  const selections: [string, (report: Report, row: number) => boolean][] = [
    ["here and there", (report, row) => row % 11 === 0 || timeOf(report) % 60_000 === 3],
    ["for the first minutes", (report) => timeOf(report) < FIRST_MS + 2 * 60_000],
  ];
  for (const [name, isHidden] of selections) {
    test(`page() finds its place where records are left out ${name}`, async () => {
      const hidden = busyRows.filter(({ report }, row) => isHidden(report, row));
      const leftOut = new Set(hidden);
      const shown = busyRows.filter((row) => !leftOut.has(row));
      const asked = { ...scan, hidden: hiddenOf(hidden) };
      for (const order of ["asc", "desc"] as const) {
        const all = plainScan(shown, asked, [], order);
        for (const offset of [0, 240, 2399, 9999, all.length - 3, all.length]) {
          const page = await ask((session) => session.page(asked, order, offset, 130), busy);
          expect(keysOf(recordsOf(page))).toEqual(keysOf(all.slice(offset, offset + 130)));
        }
      }
    });
  }
});

/** A train whose track is asked for. */
const TRACKED = "G-10167";

test("page(), count() and path() agree with a loop over a night of Boston's buses and trains", async () => {
  const csv = readTestData("tracks/gtfsrt_mbta_20221122.csv.gz");
  if (csv === null) return;
  const all = csvRows(csv);
  // All devices in the system tier.
  const devices = [...new Set(all.map(([device]) => device!))];
  const chosen = new Set([TRACKED, ...drawSome(devices, randomRuns(devices.length))]);
  const taken = all.filter(([device]) => chosen.has(device!));
  const night = taken.map(([device_id, timestamp, latitude, longitude]): PlainRow => {
    const report = { device_id, timestamp: Number(timestamp), latitude: Number(latitude) };
    return { app: APPS[0]!, report: { ...report, longitude: Number(longitude), user_id: "mbta" } };
  });
  const day = utcDayOf(timeOf(night[0]!.report));
  const directory = join(DIRECTORY, "boston");
  // By two files of one day, whose row groups hold some 20 devices each.
  const files = [0, 1].map((file) => night.filter((_, row) => (row % 3 === 0) === (file === 0)));
  const written: Part[] = [];
  for (const [index, ofFile] of files.entries()) {
    written.push(await writePart(plain, directory, fileName(day, index), ofFile));
  }
  const boston = openReader("boston");
  const range = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(day) + MS_PER_DAY };
  const scan = scanOf({ parts: written, range });
  for (const order of ["asc", "desc"] as const) {
    const all = plainScan(night, scan, [], order);
    for (const offset of [0, 1234, Math.floor(all.length * 0.6), all.length - 50, all.length]) {
      const page = await ask((session) => session.page(scan, order, offset, 101), boston);
      expect(keysOf(recordsOf(page))).toEqual(keysOf(all.slice(offset, offset + 101)));
    }
  }
  const device = scanOf({ ...scan, deviceId: TRACKED as DeviceId });
  const track = plainScan(night, device, [], "asc");
  const [count, path] = await ask(
    async (session) => [await session.count(device), await pathOf(session, device)] as const,
    boston,
  );
  expect(count).toBe(track.length);
  expect([...path.latitude]).toEqual(track.map(({ latitude }) => latitude as number));
  boston.close();
});

function keysOf(records: readonly Report[]): string[] {
  return records.map((record) => `${timeOf(record)} ${deviceOf(record)} ${record.latitude}`);
}

test("page() leaves out what the named response does not show, and nothing else", async () => {
  const page = await ask((session) =>
    session.page(scanOf({ fields: new FieldChoice("appHistory") }), "asc", 0, 1000),
  );
  const shown = new Set(
    LOCATION_FIELDS.filter(({ responses }) => (responses as readonly string[]).includes("appHistory")).map(
      ({ name }) => name as string,
    ),
  );
  const expected = plainScan(rows, scanOf(), [], "asc").slice(0, 1000);
  expect(recordsOf(page)).toEqual(
    expected.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => shown.has(name)))),
  );
});

test("page() uses one dictionary for many pages", async () => {
  const pages = await ask(async (session) => [
    await session.page(scanOf(), "asc", 0, 5),
    await session.page(scanOf(), "desc", 0, 5),
  ]);
  expect(pages[0]!.dictionary).toBe(pages[1]!.dictionary);
});

test("files that are too old to have a column are read as having none of it", async () => {
  const old = ["app_id", "device_id", "timestamp", "latitude", "longitude", "user_id", "horizontal_accuracy"];
  const directory = join(DIRECTORY, "old");
  const oldRows = rows.filter(({ report }) => timeOf(report) < FIRST_MS + MS_PER_DAY);
  const newRows = rows.filter(({ report }) => utcDayOf(timeOf(report)) === FIRST_DAY + 1);
  const oldPart = await writePart(plain, directory, fileName(FIRST_DAY, 0), oldRows, old);
  const newPart = await writePart(plain, directory, fileName(FIRST_DAY + 1, 0), newRows);
  const ofOld = openReader("old");
  const cut = oldRows.map(({ app, report }) => ({
    app,
    report: Object.fromEntries(Object.entries(report).filter(([name]) => old.includes(name))),
  }));
  for (const written of [[oldPart], [oldPart, newPart], [newPart, oldPart]]) {
    const scan = scanOf({ parts: written });
    const page = await ask((session) => session.page(scan, "asc", 0, 1000), ofOld);
    const expected = plainScan(written.length === 1 ? cut : [...cut, ...newRows], scan, [], "asc");
    expect(recordsOf(page)).toEqual(expected.slice(0, 1000));
  }
  ofOld.close();
});

describe("scannedBytes", () => {
  const FILE = fileName(FIRST_DAY, 0);
  let wide: PartReader;
  let scan: ArchiveScan;

  beforeAll(async () => {
    const many = Array.from({ length: 10_000 }, (_, row) => ({
      device_id: `device-${String(row >> 8).padStart(3, "0")}`,
      timestamp: FIRST_MS + row,
      latitude: random() * 90,
      longitude: random() * 90,
    }));
    const manyRows = many.map((report) => ({ app: APPS[0]!, report }));
    const part = await writePart(plain, join(DIRECTORY, "wide"), FILE, manyRows);
    wide = openReader("wide");
    scan = scanOf({ parts: [part] });
  });

  afterAll(() => wide.close());

  function bytesOf(use: (session: ArchiveSession) => Promise<unknown>): Promise<number> {
    return ask(async (session) => {
      await use(session);
      return session.scannedBytes;
    }, wide);
  }

  async function sizeOf(columns: string): Promise<number> {
    const result = await plain.runAndReadAll(
      `SELECT sum(total_compressed_size)::DOUBLE FROM parquet_metadata('${join(DIRECTORY, "wide", FILE)}') WHERE ${columns}`,
    );
    return result.getRows()[0]![0] as number;
  }

  test("is the size of all columns that a whole scan reads, each counted once", async () => {
    const records = await sizeOf("path_in_schema <> 'h3_cell'");
    expect(await bytesOf((session) => session.page(scan, "asc", 0, 10))).toBe(records);
    const keys = await sizeOf("path_in_schema IN ('app_id', 'device_id', 'timestamp')");
    expect(await bytesOf((session) => devicesOf(session, scan))).toBe(keys);
    expect(
      await bytesOf(async (session) => {
        await devicesOf(session, scan);
        await session.page(scan, "asc", 0, 10);
        await session.page(scan, "desc", 5, 10);
      }),
    ).toBe(records);
  });

  test("leaves out row groups that can't hold the device, the app or the time", async () => {
    const all = await bytesOf((session) => session.page(scan, "asc", 0, 10));
    const device = { ...scan, deviceId: "device-020" as DeviceId };
    const ofDevice = await bytesOf((session) => session.page(device, "asc", 0, 10));
    expect(ofDevice).toBeGreaterThan(0);
    expect(ofDevice).toBeLessThan(all / 4);
    const early = { ...scan, range: { startMs: FIRST_MS, endMs: FIRST_MS + 10 } };
    expect(await bytesOf((session) => pathOf(session, early))).toBeLessThan(all / 4);
    expect(await bytesOf((session) => devicesOf(session, { ...scan, appId: "zzz" as AppId }))).toBe(0);
  });

  test("leaves out no row group for an id too long for its statistics", async () => {
    const long = ["a", "b"].map((end) => `${"\u{1F68C}".repeat(127)}${end}`);
    const longRows = long.map((device_id) => ({
      app: APPS[0]!,
      report: { device_id, timestamp: FIRST_MS, latitude: 1, longitude: 2 },
    }));
    const part = await writePart(plain, join(DIRECTORY, "wide"), fileName(FIRST_DAY, 1), longRows);
    for (const deviceId of long as DeviceId[]) {
      const ofDevice = { ...scan, parts: [part], deviceId };
      expect(await bytesOf((session) => session.page(ofDevice, "asc", 0, 10))).toBeGreaterThan(0);
    }
  });

  test("is nothing where the manifest tells", async () => {
    expect(await bytesOf((session) => session.count(scan))).toBe(0);
  });
});

test("a file that has records of another app alone has none of the scan's", async () => {
  const row = { app: APPS[1]!, report: { device_id: "a", timestamp: FIRST_MS, latitude: 1, longitude: 2 } };
  const part = await writePart(plain, join(DIRECTORY, "other"), fileName(FIRST_DAY, 1), [row]);
  const ofOther = openReader("other");
  const scan = scanOf({ parts: [part] });
  const found = await ask(
    async (session) => ({
      page: (await session.page(scan, "asc", 0, 10)).count,
      keys: textsOf(await Array.fromAsync(session.keys(scan))),
      tracks: textsOf(await Array.fromAsync(session.tracks(scan))),
    }),
    ofOther,
  );
  expect(found).toEqual({ page: 0, keys: [], tracks: [] });
  ofOther.close();
});

describe("withSession()", () => {
  test("ends a running statement once its client has gone, and the slot serves the next", async () => {
    const alone = openReader("days", { slots: 1 });
    const gone = new AbortController();
    const slow = scanOf({ parts: Array.from({ length: 400 }, () => parts).flat() });
    let pieces = 0;
    const asked = alone.withSession(APP, gone.signal, async (session) => {
      for await (const piece of session.path(slow)) {
        pieces++;
        expect(piece.count).toBeGreaterThan(0);
        expect(alone.running).toBe(1);
        gone.abort();
      }
    });
    expect(((await asked.catch((error) => error)) as Error).name).toBe("AbortError");
    expect(pieces).toBe(1); // Of about ten.
    expect(alone.running).toBe(0);
    expect(await ask((session) => session.count(scanOf()), alone)).toBe(
      plainScan(rows, scanOf(), [], "asc").length,
    );
    alone.close();
  });

  test("fails where the queue is full, and takes the waiting in their order", async () => {
    const alone = openReader("days", { slots: 1, queueMax: 2 });
    const order: number[] = [];
    const question = (name: number) => async (session: ArchiveSession) => {
      order.push(name);
      return (await devicesOf(session, scanOf())).length;
    };
    const answers = [1, 2, 3].map((name) => alone.withSession(APP, PATIENT, question(name)));
    expect([alone.running, alone.waiting]).toEqual([1, 2]);
    expect(await alone.withSession(APP, PATIENT, question(4))).toMatchObject({
      ok: false,
      error: { kind: "unavailable", retryAfterSeconds: 1 },
    });
    for (const answer of await Promise.all(answers))
      expect(answer).toEqual({ ok: true, value: DEVICES.length });
    expect(order).toEqual([1, 2, 3]);
    alone.close();
  });

  test("rejects where a file is missing, cut or damaged, and the next question is answered", async () => {
    const damaged = openReader("days");
    const folder = join(DIRECTORY, "days", dayFolder((FIRST_DAY + 40) as UtcDay));
    mkdirSync(folder, { recursive: true });
    const good = await Bun.file(join(DIRECTORY, "days", parts[0]!.file)).bytes();
    writeFileSync(join(folder, "1.parquet"), good.subarray(0, good.length / 2));
    writeFileSync(join(folder, "2.parquet"), good.with(10, 0xff).fill(0x55, 4, good.length - 2000));
    writeFileSync(join(folder, "3.parquet"), "");
    for (const name of ["1", "2", "3", "4"]) {
      const file = `${dayFolder((FIRST_DAY + 40) as UtcDay)}/${name}.parquet`;
      const ofFile = scanOf({ parts: [{ ...parts[0]!, file }], range: { startMs: 0, endMs: 2e12 } });
      const failed = await damaged
        .withSession(APP, PATIENT, (session) => session.page(ofFile, "asc", 0, 9))
        .then(
          () => "answered",
          () => "rejected",
        );
      expect([name, failed]).toEqual([name, "rejected"]);
      expect(await ask((session) => devicesOf(session, scanOf()), damaged)).toHaveLength(DEVICES.length);
    }
    damaged.close();
  });

  test("leaves nothing of late rows behind, even where their statement failed", async () => {
    const alone = openReader("days", { slots: 1 });
    const late = lateOf([{ device_id: "a", timestamp: FIRST_MS, latitude: 1, longitude: 2 }]);
    const missing = { ...parts[0]!, file: fileName(FIRST_DAY, 9) };
    await ask(async (session) => {
      await devicesOf(session, scanOf({ parts: [missing], late })).catch(() => undefined);
      await devicesOf(session, scanOf({ late }));
      await devicesOf(session, scanOf({ late }));
    }, alone);
    alone.close();
  });

  test("opens the database once, with the first question, and again after it failed to open", async () => {
    let opened = 0;
    const directory = join(DIRECTORY, "days");
    const lazy = createFolderReader(directory, {
      openDatabase: async (): Promise<Database> => {
        if (opened++ === 0) throw new Error("not yet");
        return openFolderDatabase(directory);
      },
      slots: 3,
      queueMax: 3,
    });
    expect(opened).toBe(0);
    const question = (session: ArchiveSession) => devicesOf(session, scanOf());
    expect(await lazy.withSession(APP, PATIENT, question).catch(({ message }) => message)).toBe("not yet");
    await Promise.all([1, 2, 3, 4].map(() => ask(question, lazy)));
    expect(opened).toBe(2);
    lazy.close();
  });

  test("starts over once it remembers more files than it may, and answers go on", async () => {
    let opened = 0;
    const directory = join(DIRECTORY, "days");
    const forgetful = createFolderReader(directory, {
      openDatabase: () => {
        opened++;
        return openFolderDatabase(directory);
      },
      slots: 1,
      queueMax: 2,
      rememberedFilesMax: 3,
    });
    const found: number[] = [];
    for (const file of [0, 1, 0, 2, 1, 3, 4, 5, 6, 4, 7, 8]) {
      const scan = scanOf({ parts: parts.slice(file, file + 1) });
      const devices = await ask((session) => devicesOf(session, scan), forgetful);
      expect(devices).toEqual(await ask((session) => devicesOf(session, scan)));
      found.push(opened);
    }
    expect(found).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]);
    forgetful.close();
  });

  test("asks another database after renew(), and lets a running question end on the old one", async () => {
    let opened = 0;
    const directory = join(DIRECTORY, "days");
    const renewed = createFolderReader(directory, {
      openDatabase: () => {
        opened++;
        return openFolderDatabase(directory);
      },
      slots: 3,
      queueMax: 2,
    });
    await ask(async (session) => {
      await devicesOf(session, scanOf({ parts: parts.slice(0, 1) }));
      renewed.renew();
      expect(await devicesOf(session, scanOf())).toHaveLength(DEVICES.length);
      expect(await ask((other) => devicesOf(other, scanOf()), renewed)).toHaveLength(DEVICES.length);
      expect(opened).toBe(2);
    }, renewed);
    expect(await ask((session) => devicesOf(session, scanOf()), renewed)).toHaveLength(DEVICES.length);
    expect(opened).toBe(2);
    renewed.close();
  });

  test("breaks a running question off at close(), and takes no more", async () => {
    const closed = openReader("days", { slots: 1 });
    const running = ask(async (session) => {
      await devicesOf(session, scanOf());
      const underWay = devicesOf(session, scanOf());
      closed.close();
      await underWay.catch(() => undefined); // It may have been about to end.
      return devicesOf(session, scanOf());
    }, closed);
    expect(await outcome(running)).toThrow(expect.objectContaining({ name: "AbortError" }));
    expect(statementsUnderWay()).toEqual([]);
    expect(
      await outcome(closed.withSession(APP, PATIENT, (session) => devicesOf(session, scanOf()))),
    ).toThrow("closed");
  });
});
