import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { dayFolder } from "../../../../src/archive/archive-files.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import type { ArchiveScan, HiddenKeys } from "../../../../src/archive/read/archive-scan.ts";
import type { ArchiveSession } from "../../../../src/archive/read/archive-session.ts";
import type { PartReader } from "../../../../src/archive/read/part-reader.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { RANDOM_SEED } from "../../../support/random-runs.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { type PlainRow, timeOf, writePart } from "../write/plain-parts.ts";
import { createFolderReader } from "./reader-of-folder.ts";

/*
 * Pages of one device whose corrections hide few and many of its records, in long runs and here and there, are those
 * of a loop over the rest. `part-reader.test.ts` has the same for few records of many devices.
 */

const DIRECTORY = mkdtempSync(join(tmpdir(), "wherehouse-shown-"));
const APP = "app" as AppId;
const DEVICE = "device" as DeviceId;
const FIRST_DAY = utcDayOf(Date.UTC(2026, 0, 14));
const FIRST_MS = utcDayStartMs(FIRST_DAY);
const DAYS = 20;
/** Records of a day; their times follow each other by a second. */
const RECORDS = 700;

const rows: PlainRow[] = [];
const parts: Part[] = [];
let reader: PartReader;

beforeAll(async () => {
  const plain = await (await DuckDBInstance.create(":memory:")).connect();
  for (let day = 0; day < DAYS; day++) {
    const ofDay: PlainRow[] = [];
    for (let i = 0; i < RECORDS; i++) {
      const timestamp = FIRST_MS + day * MS_PER_DAY + i * 1000;
      ofDay.push({ app: APP, report: { device_id: DEVICE, timestamp, latitude: i / 100, longitude: day } });
    }
    const name = `${dayFolder((FIRST_DAY + day) as UtcDay)}/00000001-000.parquet`;
    parts.push(await writePart(plain, DIRECTORY, name, ofDay));
    rows.push(...ofDay);
  }
  reader = createFolderReader(DIRECTORY);
});

afterAll(() => {
  reader.close();
  rmSync(DIRECTORY, { recursive: true, force: true });
});

const random = seededRandom(RANDOM_SEED);

/** Whether it hides a record, by the number of its day and its place in the day. */
const SELECTIONS: readonly [string, (day: number, place: number) => boolean][] = [
  ["the first of a day", (day, place) => day === 0 && place < 400],
  ["a long run within a day", (day, place) => day === 3 && place > 50 && place < 640],
  ["a whole day", (day) => day === 5],
  ["some of each day", () => random() < 0.1],
  ["nearly all of many days", (day) => day > 1 && random() < 0.99],
  ["all", () => true],
];

test.each(SELECTIONS)("page() and count() agree with a loop: hidden is %s", async (_name, isHidden) => {
  const hiddenMs: number[] = [];
  const shown: number[] = [];
  for (const { report } of rows) {
    const timeMs = timeOf(report);
    const day = utcDayOf(timeMs) - FIRST_DAY;
    const place = (timeMs - FIRST_MS - day * MS_PER_DAY) / 1000;
    (isHidden(day, place) ? hiddenMs : shown).push(timeMs);
  }
  const scan = scanOf(hiddenMs);
  expect(await ask((session) => session.count(scan))).toBe(shown.length);
  for (const order of ["asc", "desc"] as const) {
    const all = order === "asc" ? shown : shown.toReversed();
    for (const offset of [0, 1, 50, 300, 699, 700, 5000, all.length - 1, all.length]) {
      if (offset < 0) continue;
      const page = await ask((session) => session.page(scan, order, offset, 200));
      expect(recordsOf(page).map(timeOf)).toEqual(all.slice(offset, offset + 200));
    }
  }
});

function scanOf(hiddenMs: readonly number[]): ArchiveScan {
  const hidden: HiddenKeys = {
    days: [...new Set(hiddenMs.map(utcDayOf))],
    batches: () => {
      throw new Error("the keys of one device need no table");
    },
    timesOf: () => Float64Array.from(hiddenMs),
  };
  const range = { startMs: FIRST_MS, endMs: FIRST_MS + DAYS * MS_PER_DAY };
  const ofDevice = { appId: APP, deviceId: DEVICE, userId: null, accuracyMetersMax: null };
  return { ...ofDevice, range, parts, late: null, hidden };
}

async function ask<Value>(use: (session: ArchiveSession) => Promise<Value>): Promise<Value> {
  const answer = await reader.withSession(APP, new AbortController().signal, use);
  if (!answer.ok) throw new Error(`refused: ${answer.error.kind}`);
  return answer.value;
}
