import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { dayFolder } from "../../../../src/archive/archive-files.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import type { ArchiveScan, HiddenKeys, OverlayRows } from "../../../../src/archive/read/archive-scan.ts";
import type { ArchiveSession } from "../../../../src/archive/read/archive-session.ts";
import { FEW_ROWS_MAX } from "../../../../src/archive/read/few-late-rows.ts";
import type { PartReader } from "../../../../src/archive/read/part-reader.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { RANDOM_SEED, randomRuns } from "../../../support/random-runs.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { deviceOf, type PlainRow, plainScan, timeOf, writePart } from "../write/plain-parts.ts";
import { createFolderReader } from "./reader-of-folder.ts";

/*
 * Pages and counts with few late rows are those of a loop over all rows, and need no table of late rows or of hidden
 * keys: late rows lie over records, stand alone, take the place of hidden records, and come before and after all of
 * them, also on days without files. `part-reader.test.ts` has late rows in tables.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-few-late-"));
const APP = "app" as AppId;
const DEVICES = ["a", "\uFF21", "\u{1F68C}"];
const FIRST_DAY = utcDayOf(Date.UTC(2026, 0, 14));
const FIRST_MS = utcDayStartMs(FIRST_DAY);
/** Records of each device a day; one day has none. */
const RECORDS_OF_DAYS = [120, 5, 0, 120, 1, 1, 1, 40];

const random = seededRandom(RANDOM_SEED);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

const rows: PlainRow[] = [];
const parts: Part[] = [];
let reader: PartReader;

beforeAll(async () => {
  const plain = await (await DuckDBInstance.create(":memory:")).connect();
  for (const [day, records] of RECORDS_OF_DAYS.entries()) {
    const ofDay = DEVICES.flatMap((device) =>
      Array.from({ length: records }, (_, index) => {
        const report = arbitraryReport(device, FIRST_MS + day * MS_PER_DAY + index * 1000);
        return { app: APP, report: { user_id: pick(["u", "v"]), ...report } };
      }),
    );
    if (ofDay.length === 0) continue;
    const file = `${dayFolder((FIRST_DAY + day) as UtcDay)}/00000001-000.parquet`;
    parts.push(await writePart(plain, DIRECTORY, file, ofDay));
    rows.push(...ofDay);
  }
  reader = createFolderReader(DIRECTORY);
});

afterAll(() => {
  reader.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

function arbitraryReport(device: string, timestamp: number): Report {
  const carried = <Value>(name: string, values: readonly Value[]) =>
    random() < 0.4 ? {} : { [name]: pick(values) };
  return {
    device_id: device,
    timestamp,
    latitude: pick([42.36, 0]),
    longitude: -71.05,
    ...carried("horizontal_accuracy", [0, 4.8, 50]),
    ...carried("speed", [0, 8.3]),
    ...carried("battery_level", [0, 55]),
    ...carried("type", ["", "MOVING"]),
    ...carried("is_mock", [true, false]),
    ...carried("brand", ['q"uote', "\\u0000", "[null]", "\u{1F68C}"]),
  };
}

/** Some late rows of a day or two, each of up to three reports. */
function arbitraryLate(devices: readonly string[]): Report[] {
  const late = new Map<string, Report[]>();
  const offsetMs = pick([0, 0, 0, 500]);
  const days = pick([[0], [0, 1], [1, 2], [0, 3], [4, 5, 6], [2]]);
  for (let count = Math.ceil(random() * pick([5, 100, 100])); count > 0; count--) {
    const timestamp = FIRST_MS + pick(days) * MS_PER_DAY + Math.floor(random() * 125) * 1000 + offsetMs;
    const device = pick(devices);
    const reports = Array.from({ length: pick([1, 1, 1, 3]) }, () => {
      const user = random() < 0.5 ? {} : { user_id: pick(["u", "w"]) };
      return { ...arbitraryReport(device, timestamp), ...user };
    });
    late.set(`${device} ${timestamp}`, reports);
  }
  return [...late.values()].flat();
}

let versions = 0;

/** Late rows that can be in no table, unless they may. */
function overlayOf(late: readonly Report[], mayBeTable = false): OverlayRows {
  return {
    days: [...new Set(late.map((report) => utcDayOf(timeOf(report))))].sort((a, b) => a - b),
    *batches() {
      for (const reports of Map.groupBy(late, deviceOf).values()) yield rowBatchOf(reports);
      yield rowBatchOf([]);
    },
    version() {
      if (!mayBeTable) throw new Error("few late rows need no table");
      return `late ${++versions}`;
    },
  };
}

function hiddenOf(hidden: readonly PlainRow[], mayBeTable: boolean): HiddenKeys | null {
  if (hidden.length === 0) return null;
  const keys = overlayOf(
    hidden.map(({ report }) => report),
    mayBeTable,
  );
  return {
    ...keys,
    timesOf(deviceId) {
      const times = hidden
        .filter(({ report }) => deviceOf(report) === deviceId)
        .map(({ report }) => timeOf(report));
      return times.length === 0 ? null : Float64Array.from(times).sort();
    },
  };
}

function arbitraryHidden(deviceId: DeviceId | null): PlainRow[] {
  const share = pick(deviceId === null ? [0, 0.03, 0.4] : [0, 0.1, 0.9, 1]);
  const isOfScan = ({ report }: PlainRow) => deviceId === null || deviceOf(report) === deviceId;
  return rows.filter((row) => isOfScan(row) && random() < share);
}

const FIELDS = ["speed", "horizontal_accuracy", "is_mock", "user_id"];

test("page() and count() agree with a loop over all rows", async () => {
  for (let round = 0; round < randomRuns(600); round++) {
    const deviceId = pick([null, ...DEVICES]) as DeviceId | null;
    const late = arbitraryLate(deviceId === null ? [...DEVICES, "new"] : [deviceId]);
    const hidden = arbitraryHidden(deviceId);
    // Pages of several devices of which many records are hidden need tables.
    const mayBeTable = deviceId === null && hidden.length > 16;
    const keys = { late: overlayOf(late, mayBeTable), hidden: hiddenOf(hidden, mayBeTable) };
    const scan = scanOf({ deviceId, ...keys });
    const chosen = pick([null, FIELDS.filter(() => random() < 0.4)]);
    const order = pick(["asc", "desc"] as const);
    const leftOut = new Set(hidden);
    const shown = rows.filter((row) => !leftOut.has(row));
    const all = plainScan(shown, scan, late, order).map((record) => choose(record, chosen));
    const offset = deviceId === null ? 0 : pick([0, 0, 1, 10, 70, 150, all.length, 300]);
    const limit = pick([1, 7, 60, 200]);
    const { page, count } = await ask(async (session) => {
      const fields = chosen === null ? scan : { ...scan, fields: new FieldChoice("deviceHistory", chosen) };
      const page = await session.page(fields, order, offset, limit);
      return { page, count: deviceId === null ? all.length : await session.count(fields) };
    });
    const records = recordsOf(page).map((record) => choose(record, chosen));
    expect(records).toEqual(all.slice(offset, offset + limit));
    expect(count).toBe(all.length);
  }
});

test("late rows that are many are merged by a statement", async () => {
  const [deviceId] = DEVICES as DeviceId[];
  const late = Array.from({ length: FEW_ROWS_MAX + 1 }, (_, index) =>
    arbitraryReport(deviceId!, FIRST_MS + index * 1500),
  );
  const scan = scanOf({ deviceId: deviceId!, late: overlayOf(late, true) });
  const all = plainScan(rows, scan, late, "asc");
  const page = await ask((session) => session.page(scan, "asc", 0, 3000));
  expect(recordsOf(page)).toEqual(all);
});

function choose(record: Report, chosen: readonly string[] | null): Report {
  const isChosen = (name: string) => chosen === null || ["device_id", "timestamp", ...chosen].includes(name);
  return Object.fromEntries(Object.entries(record).filter(([name]) => isChosen(name)));
}

function scanOf(scan: Partial<ArchiveScan>): ArchiveScan {
  const range = { startMs: FIRST_MS, endMs: FIRST_MS + RECORDS_OF_DAYS.length * MS_PER_DAY };
  const ofAll = { appId: APP, deviceId: null, userId: null, accuracyMetersMax: null };
  return { ...ofAll, range, parts, late: null, ...scan };
}

async function ask<Value>(use: (session: ArchiveSession) => Promise<Value>): Promise<Value> {
  const answer = await reader.withSession(APP, new AbortController().signal, use);
  if (!answer.ok) throw new Error(`refused: ${answer.error.kind}`);
  return answer.value;
}
