import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { dayFolder } from "../../../../src/archive/archive-files.ts";
import type { Database } from "../../../../src/archive/duckdb/database.ts";
import { hasOldParts, type Part } from "../../../../src/archive/manifest.ts";
import { type Masks, NO_MASKS } from "../../../../src/archive/masks.ts";
import { type AllRecords, readAllRecords } from "../../../../src/archive/read/all-records.ts";
import type { ArchiveScan, OverlayRows } from "../../../../src/archive/read/archive-scan.ts";
import type { ArchiveSession } from "../../../../src/archive/read/archive-session.ts";
import { createLateTable, dropLateTable } from "../../../../src/archive/read/late-tables.ts";
import type { PartReader } from "../../../../src/archive/read/part-reader.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import { type DeviceAlias, deviceOf as deviceOfStage, stageOf } from "../../../../src/model/device-alias.ts";
import { BoundingBox } from "../../../../src/model/geo/bounding-box.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import type { RowBatch } from "../../../../src/model/report-batch.ts";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { RANDOM_SEED, randomRuns } from "../../../support/random-runs.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { drawMasks } from "../write/plain-masks.ts";
import { deviceOf, type PlainRow, plainScan, timeOf, writePart } from "../write/plain-parts.ts";
import { createFolderReader, openFolderDatabase } from "./reader-of-folder.ts";

/*
 * Records of a device that shows as another are read as a loop reads them that renames each row. The rows crowd few
 * instants, so devices that become one have records of the same time; late rows and hidden keys meet both.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-aliases-"));
const FIRST_DAY = utcDayOf(Date.UTC(2026, 0, 14));
const FIRST_MS = utcDayStartMs(FIRST_DAY);
const APP = "app" as AppId;
const DEVICES = ["a", "b", "c", "ä", "\uFF21", "\u{1F68C}"] as DeviceId[];
const USERS = ["u", "v"] as UserId[];
const FILES_OF_DAYS = [2, 1, 1, 0, 1];
const DAYS = FILES_OF_DAYS.map((_, day) => (FIRST_DAY + day) as UtcDay);
const INSTANT_MS = [0, 1, 2, 500, 60_000, MS_PER_DAY - 1];

const random = seededRandom(RANDOM_SEED);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

let plain: DuckDBConnection;
let database: Database;
let reader: PartReader;
/** What readers leave out, and what is left. */
let masks: Masks = NO_MASKS;
let unmasked: readonly PlainRow[];
let rows: readonly PlainRow[];
let parts: readonly Part[];

beforeAll(async () => {
  plain = await (await DuckDBInstance.create(":memory:")).connect();
  const byFile = new Map<string, PlainRow[]>();
  FILES_OF_DAYS.forEach((files, day) => {
    const names = Array.from({ length: files }, (_, file) => fileName(FIRST_DAY + day, file));
    for (const name of names) byFile.set(name, []);
    for (const app of [APP, "other"])
      for (const device of DEVICES)
        for (const ms of INSTANT_MS) {
          if (random() < 0.4) continue;
          const report = arbitraryReport(device, FIRST_MS + day * MS_PER_DAY + ms);
          byFile.get(pick(names))?.push({ app, report: { user_id: pick(USERS), ...report } });
        }
  });
  rows = [...byFile.values()].flat();
  const written: Part[] = [];
  for (const [file, ofFile] of byFile) written.push(await writePart(plain, DIRECTORY, file, ofFile));
  parts = written;
  database = await openFolderDatabase(DIRECTORY);
  reader = createFolderReader(DIRECTORY, { masks: () => masks, slots: 2, queueMax: 8 });
});

afterAll(() => {
  reader.close();
  database.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

function fileName(day: number, file: number): string {
  return `${dayFolder(day as UtcDay)}/00000001-${String(file).padStart(3, "0")}.parquet`;
}

function arbitraryReport(device: string, timestamp: number): Report {
  return {
    device_id: device,
    timestamp,
    latitude: pick([-90, 42.36, 90]),
    longitude: pick([-71.05, 180]),
    ...(random() < 0.5 ? {} : { horizontal_accuracy: pick([0, 50]) }),
    ...(random() < 0.5 ? {} : { brand: pick(['q"uote', "[null]"]) }),
  };
}

interface Key {
  readonly deviceId: DeviceId;
  readonly timestampMs: number;
}

/** Rows, or keys, in batches of a few, as memory gives them. */
function batchesOf(reports: readonly Report[]): OverlayRows {
  return {
    days: [...new Set(reports.map((report) => utcDayOf(timeOf(report))))].sort((a, b) => a - b),
    *batches() {
      for (let start = 0; start < reports.length; start += 7)
        yield withStage(rowBatchOf(reports.slice(start, start + 7).map(withoutStage)));
    },
  };
}

/** A report may not name a stage, so another text stands for it. */
function withoutStage(report: Report): Report {
  return report.device_id === STAGE ? { ...report, device_id: "stage" } : report;
}

function withStage(batch: RowBatch): RowBatch {
  return { ...batch, texts: batch.texts.map((text) => (text === "stage" ? STAGE : text)) };
}

function keysOf(keys: readonly Key[]): OverlayRows {
  const reports = keys.map(({ deviceId, timestampMs }) => ({
    ...{ device_id: deviceId, timestamp: timestampMs, latitude: 0, longitude: 0 },
  }));
  return batchesOf(reports);
}

function arbitraryKeys(range: TimeRange, share: number): Key[] {
  return [...DEVICES, STAGE]
    .flatMap((deviceId) =>
      FILES_OF_DAYS.flatMap((_, day) =>
        INSTANT_MS.map((ms) => ({ deviceId, timestampMs: FIRST_MS + day * MS_PER_DAY + ms })),
      ),
    )
    .filter(
      ({ timestampMs }) => random() < share && timestampMs >= range.startMs && timestampMs < range.endMs,
    );
}

interface Asked {
  readonly scan: ArchiveScan;
  /** Oldest first. */
  readonly expected: readonly Report[];
}

/** The stage of the only device that may be assigned to a user alone. */
const STAGE = stageOf(DEVICES[0]!);

/** Some devices show as others, in an order of their own. */
function arbitraryAliases(): DeviceAlias[] {
  const targets = DEVICES.slice(0, 2);
  const hasStage = random() < 0.5;
  const ranks = [2, 3, 4, 5].sort(() => random() - 0.5);
  const others = DEVICES.slice(2)
    .map((deviceId, index) => ({ deviceId, index, shownId: pick([...targets, "unknown" as DeviceId]) }))
    .map(({ deviceId, index, shownId }) => ({
      ...{ deviceId, shownId },
      via: [
        ...(random() < 0.7 ? [] : [pick(DEVICES.slice(2))]),
        shownId,
        ...(hasStage && shownId === DEVICES[0] ? [STAGE] : []),
      ],
      userId: pick([null, ...USERS, "w" as UserId]),
      rank: ranks[index]!,
    }))
    .filter(() => random() < 0.7);
  if (!hasStage) return others;
  const itself = { deviceId: DEVICES[0]!, shownId: DEVICES[0]!, via: [STAGE], userId: pick(USERS), rank: 1 };
  return [itself, ...others];
}

function arbitraryAsked(): Asked {
  const startMs = FIRST_MS + pick([0, 0, 1, 2]) * MS_PER_DAY;
  const range = { startMs, endMs: startMs + pick([2, MS_PER_DAY, 5 * MS_PER_DAY]) };
  const drawn = drawMasks(random, { apps: [APP, "other"], devices: DEVICES, users: USERS, days: DAYS });
  masks = random() < 0.5 ? drawn.masks : NO_MASKS;
  unmasked = masks === NO_MASKS ? rows : rows.filter((row) => !drawn.isMasked(row));
  const every = arbitraryAliases();
  const shownIds = DEVICES.filter(
    (id) => !every.some(({ deviceId, shownId }) => deviceId === id && shownId !== id),
  );
  const deviceId = pick([null, null, ...shownIds]);
  const hidden = random() < 0.5 ? [] : arbitraryKeys(range, 0.2);
  const isHidden = (id: string, timestampMs: number) =>
    hidden.some((key) => key.deviceId === id && key.timestampMs === timestampMs);
  // A late row of a hidden key stands for a corrected record, which is shown.
  const late = (random() < 0.5 ? [] : arbitraryKeys(range, 0.2))
    .filter(({ deviceId: id }) => id !== STAGE || every.some(({ via }) => via.includes(STAGE)))
    .map((key) => arbitraryReport(key.deviceId, key.timestampMs));
  const ofScan = {
    ...{ appId: APP, deviceId, range },
    userId: pick([null, null, ...USERS, "w" as UserId]),
    accuracyMetersMax: pick([null, null, 10]),
  };
  const shown = visible(range, late, isHidden, every);
  const expected = shown.filter(
    (record) =>
      (deviceId === null || record.device_id === deviceId) &&
      (ofScan.userId === null || record.user_id === ofScan.userId) &&
      (ofScan.accuracyMetersMax === null ||
        ((record.horizontal_accuracy ?? 0) as number) <= ofScan.accuracyMetersMax),
  );
  const aliases = every.filter(({ shownId }) => deviceId === null || shownId === deviceId);
  const isOfDevice = (id: string) =>
    deviceId === null ||
    id === deviceId ||
    aliases.some((alias) => alias.deviceId === id || alias.via.some((each) => each === id));
  const lateRows = late.filter((row) => isOfDevice(deviceOf(row)));
  const hiddenKeys = hidden.filter((key) => isOfDevice(key.deviceId));
  const scan = {
    ...ofScan,
    parts: parts.filter(({ file }) => isWithin(file, range)),
    aliases,
    late: lateRows.length === 0 ? null : batchesOf(lateRows),
    hidden: hiddenKeys.length === 0 ? null : keysOf(hiddenKeys),
  };
  return { scan, expected };
}

function isWithin(file: string, { startMs, endMs }: TimeRange): boolean {
  const dayMs = Date.parse(file.slice("day=".length, "day=2026-01-14".length));
  return dayMs < endMs && dayMs + MS_PER_DAY > startMs;
}

/** The obvious way: every record gets the name it shows under, and takes its instant if that is free. */
function visible(
  range: TimeRange,
  late: readonly Report[],
  isHidden: (id: string, timestampMs: number) => boolean,
  aliases: readonly DeviceAlias[],
): Report[] {
  const archived = unmasked.filter(({ report }) => !isHidden(deviceOf(report), timeOf(report)));
  const all = { appId: APP, deviceId: null, userId: null, accuracyMetersMax: null, range };
  const aliasOf = (record: Report) => aliases.find(({ deviceId }) => deviceId === record.device_id);
  const byRank = plainScan(archived, all, late, "asc").sort(
    (a, b) => (aliasOf(a)?.rank ?? 0) - (aliasOf(b)?.rank ?? 0),
  );
  const byKey = new Map<string, Report>();
  for (const record of byRank) {
    const alias = aliasOf(record);
    const shownId = alias?.shownId ?? deviceOfStage(deviceOf(record) as DeviceId);
    const key = `${timeOf(record)} ${shownId}`;
    const isOnWay = alias?.via.some((id) => isHidden(id, timeOf(record)));
    if (byKey.has(key) || isOnWay === true) continue;
    byKey.set(key, { ...record, device_id: shownId, user_id: alias?.userId ?? record.user_id! });
  }
  return [...byKey.values()].sort(inOrder);
}

function inOrder(a: Report, b: Report): number {
  return timeOf(a) - timeOf(b) || compareUtf8(deviceOf(a), deviceOf(b));
}

async function ask<Value>(use: (session: ArchiveSession) => Promise<Value>): Promise<Value> {
  const answer = await reader.withSession(APP, new AbortController().signal, use);
  if (!answer.ok) throw new Error(`refused: ${answer.error.kind}`);
  return answer.value;
}

test("a session shows records of one device as those of another, as a loop over all rows does", async () => {
  let renamed = 0;
  for (let round = 0; round < randomRuns(150); round++) {
    const { scan, expected } = arbitraryAsked();
    renamed += scan.aliases?.length ?? 0;
    const order = pick(["asc", "desc"] as const);
    const all = order === "asc" ? expected : expected.toReversed();
    const offset = pick([0, 0, 1, 5]);
    const found = await ask(async (session) => ({
      page: await session.page(scan, order, offset, 12),
      count: await session.count(scan),
      devices: (await Array.fromAsync(session.devices(scan))).flat(),
      keys: await Array.fromAsync(session.keys(scan)),
      path: await Array.fromAsync(session.path(scan)),
    }));
    expect(recordsOf(found.page)).toEqual(all.slice(offset, offset + 12));
    expect(found.count).toBe(all.length);
    const ids = [...new Set(all.map((record) => deviceOf(record) as DeviceId))];
    expect(found.devices).toEqual(ids.sort(compareUtf8));
    const keys = found.keys.flatMap(({ deviceIds, timestampMs }) =>
      deviceIds.map((id, row) => ({ device_id: id, timestamp: timestampMs[row]! })),
    );
    expect(keys.sort(inOrder)).toEqual(
      expected.map((record) => ({ device_id: deviceOf(record) as DeviceId, timestamp: timeOf(record) })),
    );
    const byDevice = expected.toSorted(
      (a, b) => compareUtf8(deviceOf(a), deviceOf(b)) || timeOf(a) - timeOf(b),
    );
    expect(found.path.flatMap(({ latitude }) => [...latitude])).toEqual(
      byDevice.map(({ latitude }) => latitude as number),
    );
  }
  expect(renamed).toBeGreaterThan(0);
});

test("tracks(), positions() and coordinates() show records of one device as those of another", async () => {
  for (let round = 0; round < randomRuns(60); round++) {
    const { scan: any } = arbitraryAsked();
    const scan = { ...any, userId: null, accuracyMetersMax: null };
    const page = await ask(async (session) => recordsOf(await session.page(scan, "asc", 0, 1000)));
    const box = new BoundingBox(-80, 0, 0, 60);
    const found = await ask(async (session) => ({
      tracks: await Array.fromAsync(session.tracks(scan)),
      positions: scan.deviceId === null ? [] : await Array.fromAsync(session.positions(scan, ["speed"])),
      inBox: await Array.fromAsync(session.coordinates(scan, box)),
    }));
    const tracks = found.tracks.flatMap(({ deviceIds, timestampMs, latitude }) =>
      deviceIds.map((id, row) => ({ id, timeMs: timestampMs[row]!, latitude: latitude[row]! })),
    );
    const byKey = tracks.sort((a, b) => a.timeMs - b.timeMs || compareUtf8(a.id, b.id));
    expect(byKey).toEqual(
      page.map((record) => ({
        id: deviceOf(record) as DeviceId,
        timeMs: timeOf(record),
        latitude: record.latitude as number,
      })),
    );
    if (scan.deviceId !== null)
      expect(found.positions.flatMap(({ timestampMs }) => [...timestampMs])).toEqual(page.map(timeOf));
    const inside = page.filter((record) =>
      box.contains(record.latitude as number, record.longitude as number),
    );
    expect(found.inBox.reduce((sum, { count }) => sum + count, 0)).toBe(inside.length);
  }
});

test("an export reads records of one device as those of another", async () => {
  const connection = await database.connect();
  for (let round = 0; round < randomRuns(60); round++) {
    const { scan } = arbitraryAsked();
    const { aliases = [], hidden = null, late, range, deviceId, userId } = scan;
    const [afterDeviceId, lastDeviceId] = pick([
      [null, null],
      ["a", null],
      [null, "b"],
      ["b", "ä"],
    ]) as [DeviceId | null, DeviceId | null];
    const listed = deviceId === null ? pick([null, DEVICES.slice(0, 2)]) : [deviceId];
    const behind = pick([null, { deviceId: "a", timestampMs: range.startMs }]);
    const order = pick(["time", "device"] as const);
    const request: AllRecords = {
      ...{ appId: APP, range, order, deviceIds: listed, afterDeviceId, lastDeviceId, behind, userId },
      paths: scan.parts.map(({ file }) => join(DIRECTORY, file)),
      hasOldFiles: hasOldParts(scan.parts),
      late: late === null ? null : (await createLateTable(connection, late, ALL_COLUMNS)).upper,
      hidden:
        hidden === null
          ? null
          : (await createLateTable(connection, hidden, [], undefined, "hidden_keys")).upper.rows,
      mask: masks.of(APP, DAYS)?.values ?? null,
      aliases,
      isSorted: false,
    };
    const read = await Array.fromAsync(readAllRecords(connection, request));
    await dropLateTable(connection);
    await dropLateTable(connection, "hidden_keys");
    const found = read.flatMap(({ deviceIds, timestampMs }) =>
      deviceIds.map((id, row) => ({ device_id: id as DeviceId, timestamp: timestampMs[row]! })),
    );
    const all = await ask((session) =>
      session.page({ ...scan, accuracyMetersMax: null }, "asc", 0, 1000).then(recordsOf),
    );
    const expected = all
      .filter((record) => {
        const id = deviceOf(record);
        if (listed !== null && !listed.includes(id as DeviceId)) return false;
        if (afterDeviceId !== null && compareUtf8(id, afterDeviceId) <= 0) return false;
        if (lastDeviceId !== null && compareUtf8(id, lastDeviceId) > 0) return false;
        if (behind === null || timeOf(record) > behind.timestampMs) return true;
        return timeOf(record) === behind.timestampMs && compareUtf8(id, behind.deviceId) > 0;
      })
      .map((record) => ({ device_id: deviceOf(record) as DeviceId, timestamp: timeOf(record) }));
    if (order === "device")
      expected.sort((a, b) => compareUtf8(a.device_id, b.device_id) || a.timestamp - b.timestamp);
    expect(found).toEqual(expected);
  }
  connection.close();
});

const ALL_COLUMNS = ["latitude", "longitude", "horizontal_accuracy", "brand", "user_id"];
