import { describe, expect, test } from "bun:test";
import { WatchStore } from "../../../src/geofences/watch-store.ts";
import { Apps, forgetDevices } from "../../../src/hot/apps.ts";
import { BatchWriter } from "../../../src/hot/batch-writer.ts";
import { ChangeMarks } from "../../../src/hot/change-marks.ts";
import { DeviceTable } from "../../../src/hot/devices/device-table.ts";
import { AliasRows } from "../../../src/hot/hidden/alias-rows.ts";
import { Corrections } from "../../../src/hot/hidden/corrections.ts";
import { NewestInDoubt } from "../../../src/hot/hidden/newest-in-doubt.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { DayLedger } from "../../../src/hot/late/day-ledger.ts";
import { LateScan } from "../../../src/hot/late/late-rows.ts";
import { RecordWriter } from "../../../src/hot/record-writer.ts";
import { CHUNK_ROWS_MAX, copyRows, createChunk, openRow, setNumber } from "../../../src/hot/records/chunk.ts";
import { Dictionary } from "../../../src/hot/records/dictionary.ts";
import { Sealing } from "../../../src/hot/sealing.ts";
import { AssertionError } from "../../../src/lib/assert.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { numberIndex } from "../../../src/model/location-fields.ts";
import { type UtcDay, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { outcome } from "../../support/rejection.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

/** Where the store relies on something, a break of it stops us before anything is lost or answered. */

const BASE_MS = Date.UTC(2026, 0, 14);
const DAY = utcDayOf(BASE_MS);
const MOVED: ReadonlySet<UtcDay> = new Set([DAY]);

/** The store's own pieces, with two records of a day. */
function plantStore() {
  const dictionary = new Dictionary();
  const apps = new Apps(dictionary, new DayLedger(), new Scheduler());
  const ledger = new DayLedger();
  const writer = new RecordWriter(dictionary);
  const aliasRows = new AliasRows(apps, ledger, dictionary, writer, new Corrections(), new NewestInDoubt());
  const marks = new ChangeMarks(new WatchStore());
  const batches = new BatchWriter(dictionary, ledger, writer, { of: () => null }, aliasRows, marks);
  const report = (timestamp: number, sequence: number) => {
    const reports = [{ device_id: "a", timestamp, latitude: 1, longitude: 2 }];
    batches.apply(apps.findOrAdd(APP), batchOf(reports), sequence);
  };
  report(BASE_MS, 1);
  report(BASE_MS + 1, 2);
  const begin = () => new Sealing(apps, ledger, dictionary, aliasRows, [DAY], 2);
  return { apps, ledger, dictionary, report, begin, app: apps.find(APP)! };
}

function drain(steps: Iterable<unknown>): void {
  for (const _ of steps);
}

test("an entry of the log that comes after a later one, or twice, is caught", () => {
  const hot = createHotStore(new Scheduler());
  const batch = batchOf([{ device_id: "a", timestamp: BASE_MS, latitude: 1, longitude: 2 }]);
  hot.apply(APP, batch, 2);
  expect(() => hot.apply(APP, batch, 1)).toThrow(AssertionError);
  expect(() => hot.apply(APP, batch, 2)).toThrow(AssertionError);
});

describe("a sealing", () => {
  test("is begun once a day, and ends once", () => {
    const { begin } = plantStore();
    const sealing = begin();
    expect(begin).toThrow(AssertionError);
    expect(() => drain(sealing.drop())).toThrow(AssertionError);
    sealing.commit(MOVED, new Map([[DAY, 2]]));
    expect(() => sealing.commit(MOVED, new Map([[DAY, 2]]))).toThrow(AssertionError);
    expect(() => sealing.abandon()).toThrow(AssertionError);
    expect(() => drain(sealing.rows(DAY))).toThrow(AssertionError);
    drain(sealing.drop());
    expect(() => drain(sealing.drop())).toThrow(AssertionError);
  });

  test("lets go of no day that the archive does not cover, or covers beyond what was read", () => {
    expect(() => plantStore().begin().commit(MOVED, new Map())).toThrow(AssertionError);
    expect(() =>
      plantStore()
        .begin()
        .commit(MOVED, new Map([[DAY, 3]])),
    ).toThrow(AssertionError);
    const days = new Set([DAY, (DAY + 1) as UtcDay]);
    expect(() =>
      plantStore()
        .begin()
        .commit(days, new Map([...days].map((day) => [day, 2]))),
    ).toThrow(AssertionError);
  });

  test("finds what memory lost or kept beside what changed", () => {
    for (const miscount of [-1, 1]) {
      const { begin, ledger, report } = plantStore();
      const sealing = begin();
      report(BASE_MS + 1, 3); // A repeat, which changes nothing.
      report(BASE_MS + 2, 4);
      sealing.commit(MOVED, new Map([[DAY, 2]]));
      ledger.of(DAY).count += miscount;
      expect(() => drain(sealing.drop())).toThrow(AssertionError);
    }
  });

  test("finds an app that counts other records than the days do", () => {
    const { begin, app } = plantStore();
    const sealing = begin();
    sealing.commit(MOVED, new Map([[DAY, 2]]));
    app.recordCount++;
    expect(() => drain(sealing.drop())).toThrow(AssertionError);
  });
});

test("what the archive covers of a day does not shrink", () => {
  const ledger = new DayLedger();
  ledger.setSealed(new Map([[DAY, 2]]));
  expect(() => ledger.setSealed(new Map([[DAY, 1]]))).toThrow(AssertionError);
});

test("neither an app that counts records nor a device that somebody made records of is forgotten", () => {
  const { apps, app, begin, dictionary } = plantStore();
  const sealing = begin();
  sealing.commit(MOVED, new Map([[DAY, 2]]));
  drain(sealing.drop());
  const device = app.find("a")!;
  app.table.columns.userCounts.add(device.number, 1);
  expect(() => drain(forgetDevices(apps, dictionary, new Corrections(), BASE_MS + 2))).toThrow(
    AssertionError,
  );
  app.table.columns.userCounts.remove(device.number, 1);
  app.recordCount++;
  expect(() => drain(forgetDevices(apps, dictionary, new Corrections(), BASE_MS + 2))).toThrow(
    AssertionError,
  );
});

describe("a chunk", () => {
  test("takes no more rows than it has room for", () => {
    const chunk = createChunk(2, 0);
    openRow(chunk, 0);
    expect(() => openRow(chunk, 2)).toThrow(AssertionError);
    openRow(chunk, 1);
    expect(() => openRow(chunk, 0)).toThrow(AssertionError);
    expect(() => copyRows(chunk, 0, 2, 1, 0)).toThrow(AssertionError);
  });

  test("is not given a field that its rows have no cell for, which would be the time's", () => {
    const chunk = createChunk(1, 0);
    openRow(chunk, 0);
    expect(() => setNumber(chunk, 0, numberIndex("battery_level"), 1)).toThrow(AssertionError);
  });
});

test("a track takes one record of an instant, and keeps its chunks in order", () => {
  const device = new DeviceTable().add("a" as DeviceId);
  const { number } = device;
  const { tracks } = device.columns;
  for (let timestampMs = 10; timestampMs <= 3000; timestampMs += 10) {
    const { chunk, row } = tracks.insert(number, timestampMs, 0);
    chunk.f64[row * chunk.width] = timestampMs;
  }
  expect(() => tracks.insert(number, 20, 0)).toThrow(AssertionError);
  const second = device.recordAt(CHUNK_ROWS_MAX);
  second.chunk.f64[second.row * second.chunk.width] = 15;
  const remove = () => tracks.remove(number, { startMs: 20, endMs: 21 }, (timestampMs) => timestampMs !== 20);
  expect(remove).toThrow(AssertionError);
});

test("a window of late rows that leads nowhere is caught, rather than asked for again and again", async () => {
  const { ledger, dictionary } = plantStore();
  const range = { startMs: 0, endMs: 10 };
  const cutAt = (startMs: number, endMs: number) => {
    const cut = { range: { startMs, endMs }, isEmpty: false };
    const source = {
      know: async () => {},
      cut: async () => cut,
      days: () => [],
      deviceRanges: () => [],
    };
    return new LateScan(source, ledger, dictionary, null).window(range, "asc", 1);
  };
  expect((await cutAt(0, 5)).range).toEqual({ startMs: 0, endMs: 5 });
  expect(await outcome(cutAt(0, 0))).toThrow(AssertionError);
  expect(await outcome(cutAt(5, 10))).toThrow(AssertionError);
});
