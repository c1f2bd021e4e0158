import { expect, test } from "bun:test";
import type { AppDevices } from "../../../src/hot/app-devices.ts";
import type { ListedDevices } from "../../../src/hot/devices/device-list.ts";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { numberAt, profileAt, stateAt, timestampAt } from "../../../src/hot/records/chunk.ts";
import type { RowRef } from "../../../src/hot/records/long-track.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../reference/records.ts";
import * as fc from "../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../support/reports/batches.ts";

/*
 * The store against a map of objects: batches in which devices, instants and texts repeat, with fields left out here
 * and there, are laid over both.
 */

const BASE_MS = Date.UTC(2026, 0, 14);

const maybe = <Value>(values: readonly Value[]) => fc.constantFrom(undefined, undefined, ...values);
const report = fc
  .record({
    device_id: fc.constantFrom("a", "a", "a", "a", "b", "c", "d"), // Of one there are many.
    // Mostly newer than what was there, often of the same instant, sometimes much older.
    timestamp: fc.oneof(fc.nat(8), fc.integer({ min: 0, max: 600 })).map((ms) => BASE_MS + ms),
    latitude: fc.integer({ min: -2, max: 2 }),
    longitude: fc.integer({ min: -2, max: 2 }),
    speed: maybe([0, 1.5]),
    horizontal_accuracy: maybe([3, 8]),
    user_id: maybe(["u", "v", "w"]),
    brand: maybe(["", "b", "u"]),
    type: maybe(["MOVING", "STATIONARY"]),
    is_mock: maybe([true, false]),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Report);
const batches = fc.array(fc.array(report, { minLength: 1, maxLength: 30 }), { maxLength: 12 });

type Plain = Map<string, Map<number, Report>>;

/** Lays a batch over the plain records; returns how many of its reports changed anything. */
function layOver(plain: Plain, reports: readonly Report[]): number {
  let accepted = 0;
  for (const report of reports) {
    const { device_id, timestamp } = report as { device_id: string; timestamp: number };
    const ofDevice = plain.get(device_id) ?? new Map<number, Report>();
    plain.set(device_id, ofDevice);
    const known = ofDevice.get(timestamp);
    const laid = laidOver((known as ReferenceRecord | undefined) ?? null, report as ReferenceReport);
    if (!Bun.deepEquals(laid, known)) accepted++;
    ofDevice.set(timestamp, laid);
  }
  return accepted;
}

function recordOf({ dictionary }: HotStore, device_id: string, { chunk, row }: RowRef): Report {
  const record: Record<string, unknown> = { device_id, timestamp: timestampAt(chunk, row) };
  NUMBER_FIELDS.forEach(({ name }, field) => {
    const value = numberAt(chunk, row, field);
    if (!Number.isNaN(value)) record[name] = value;
  });
  const addText = (name: string, text: string | null) => {
    if (text !== null) record[name] = name === "is_mock" ? text === "true" : text;
  };
  const { profileText, stateText } = dictionary.edition;
  PROFILE_FIELDS.forEach(({ name }, member) => {
    addText(name, profileText(profileAt(chunk, row), member));
  });
  STATE_FIELDS.forEach(({ name }, member) => {
    addText(name, stateText(stateAt(chunk, row), member));
  });
  return record;
}

function newestOf(records: Map<number, Report>): Report {
  return records.get(Math.max(...records.keys()))!;
}

const idsOf = (list: ListedDevices) => [...list].map(({ id }) => String(id));

/** Ids of devices shown on a whole degree. */
function idsAt(app: AppDevices, latitude: number, longitude: number): string[] {
  const { count, devices } = app.positions.find({
    latitude,
    longitude,
    radiusMeters: 10,
    oldestMs: 0,
    accuracyMetersMax: Number.POSITIVE_INFINITY,
    offset: 0,
    limit: 10,
  });
  return Array.from(devices.subarray(0, count), (number) => String(app.table.byNumber(number).id));
}

function expectSame(hot: HotStore, plain: Plain): void {
  const app = hot.findApp(APP)!;
  expect(idsOf(app.list)).toEqual([...plain.keys()].sort());
  for (const [id, records] of plain) {
    const device = app.find(id)!;
    const inOrder = [...records.keys()].sort((a, b) => a - b).map((timestamp) => records.get(timestamp)!);
    const kept = Array.from({ length: device.recordCount }, (_, at) =>
      recordOf(hot, id, device.recordAt(at)),
    );
    expect(kept).toEqual(inOrder);
    const newest = newestOf(records);
    expect(recordOf(hot, id, app.newest(device))).toEqual(newest);
    expect(idsAt(app, newest.latitude as number, newest.longitude as number)).toContain(id);
  }
  for (const user of ["u", "v", "w", "ANONYMOUS"]) {
    const number = hot.dictionary.findUser(user);
    const having = (isUsers: (records: Map<number, Report>) => boolean) =>
      [...plain.keys()].sort().filter((id) => isUsers(plain.get(id)!));
    expect(idsOf(app.users.currentDevices(() => number))).toEqual(
      having((records) => newestOf(records).user_id === user),
    );
    expect(idsOf(app.users.devicesWithRecords(() => number))).toEqual(
      having((records) => [...records.values()].some(({ user_id }) => user_id === user)),
    );
  }
}

test("apply() leaves behind what laying report after report over objects does", () => {
  fc.assert(
    fc.property(batches, (story) => {
      const hot = createHotStore(new Scheduler());
      const plain: Plain = new Map();
      story.forEach((reports, index) => {
        const accepted = layOver(plain, reports);
        const recordsBefore = hot.recordCount;
        const applied = hot.apply(APP, batchOf(reports), index + 1);
        const created = hot.recordCount - recordsBefore;
        expect(applied).toMatchObject({ accepted, duplicates: reports.length - accepted, created });
        if (index % 2 === 0) for (const _ of hot.pack(Number.POSITIVE_INFINITY));
        expectSame(hot, plain);
      });
    }),
  );
});

test("a replay leaves behind what reports do that come one batch after the other", () => {
  fc.assert(
    fc.property(batches, fc.nat(12), (story, replayed) => {
      const hot = createHotStore(new Scheduler());
      const plain: Plain = new Map();
      hot.beginReplay();
      const showAll = () => {
        for (const _ of hot.endReplay());
        if (plain.size > 0) expectSame(hot, plain);
      };
      story.forEach((reports, index) => {
        if (index === replayed) showAll();
        layOver(plain, reports);
        hot.apply(APP, batchOf(reports), index + 1);
        if (index >= replayed) expectSame(hot, plain);
      });
      if (story.length <= replayed) showAll();
    }),
  );
});

test("apply() leaves out reports that the archive covers, and takes in others of the same device and batch", () => {
  const report = (device_id: string, timestamp: number) => ({
    device_id,
    timestamp,
    latitude: 1,
    longitude: 2,
  });
  const [covered, other] = [BASE_MS, BASE_MS + 86_400_000];
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(covered, other)), { minLength: 1 }),
      (rows) => {
        const hot = createHotStore(new Scheduler());
        hot.setSealed(new Map([[utcDayOf(BASE_MS), 1]]), true);
        hot.apply(APP, batchOf(rows.map(([id, timestamp]) => report(id, timestamp))), 1);
        const kept = new Set(rows.filter(([, timestamp]) => timestamp === other).map(([id]) => id));
        expect(idsOf(hot.findApp(APP)!.list)).toEqual([...kept].sort());
        expect(hot.recordCount).toBe(kept.size);
      },
    ),
  );
});
