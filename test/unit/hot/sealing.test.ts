import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { PROFILE_FIELDS, profileIndex } from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import type { TimeRange } from "../../../src/model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { APP, batchOf, type Report } from "../../support/reports/batches.ts";

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const [OLD, NEW] = [utcDayOf(BASE_MS), utcDayOf(BASE_MS + DAY_MS)] as [UtcDay, UtcDay];

function report(device_id: string, timestamp: number, more: Report = {}): Report {
  return { device_id, timestamp, latitude: 1, longitude: 2, ...more };
}

let sequence = 0;

function apply(hot: HotStore, reports: readonly Report[], appId: AppId = APP) {
  return hot.apply(appId, batchOf(reports), ++sequence);
}

function keysOf(rows: Iterable<{ readonly appId: AppId; readonly batch: ReportBatch }>): string[] {
  return [...rows].flatMap(({ appId, batch }) =>
    Array.from(batch.device, (text, row) => `${appId} ${batch.texts[text]} ${batch.timestampMs[row]}`),
  );
}

function drain(steps: Iterable<void>): void {
  for (const _ of steps);
}

function commitAndDrop(hot: HotStore, days: readonly UtcDay[]): void {
  const sealing = hot.seal(days);
  sealing.commit(new Set(days), new Map(days.map((day) => [day, sealing.sequence])));
  drain(sealing.drop());
}

async function lateBatches(hot: HotStore, range: TimeRange): Promise<ReportBatch[]> {
  const late = await hot.lateRows(hot.findApp(APP)!, null).whole(range);
  return late === null ? [] : [...late.batches()];
}

function newestOf(hot: HotStore, deviceId: string): number {
  return hot.findApp(APP)!.find(deviceId)!.newestMs;
}

test("rows() hands over a day's records by app, device and time, and nothing of other days", () => {
  const hot = createHotStore(new Scheduler());
  apply(hot, [report("b", BASE_MS + 5), report("a", BASE_MS + 9), report("a", BASE_MS + 1)]);
  apply(hot, [report("a", BASE_MS - 1), report("a", BASE_MS + DAY_MS), report("\u{1F68C}", BASE_MS)]);
  apply(hot, [report("a", BASE_MS)], "an-app" as AppId);
  expect(keysOf(hot.seal([OLD]).rows(OLD))).toEqual([
    `an-app a ${BASE_MS}`,
    `app a ${BASE_MS + 1}`,
    `app a ${BASE_MS + 9}`,
    `app b ${BASE_MS + 5}`,
    `app \u{1F68C} ${BASE_MS}`,
  ]);
});

test("rows() goes on where it was while reports come in between its batches", () => {
  const hot = createHotStore(new Scheduler());
  const count = 10_000;
  const reports = Array.from({ length: count }, (_, i) => report("a", BASE_MS + i * 2));
  apply(hot, reports);
  const sealing = hot.seal([OLD]);
  const keys: string[] = [];
  for (const rows of sealing.rows(OLD)) {
    keys.push(...keysOf([rows]));
    // Late, into what is left and what is done.
    apply(hot, [report("a", BASE_MS + keys.length * 2 - 1), report("0", BASE_MS)]);
  }
  const before = reports.map(({ timestamp }) => `app a ${timestamp}`);
  expect(keys).toEqual(before); // What came meanwhile is beyond the sealing's sequence.
});

test("drop() frees what was moved and keeps what changed meanwhile, newest positions too", async () => {
  const hot = createHotStore(new Scheduler());
  apply(hot, [
    report("a", BASE_MS),
    report("a", BASE_MS + 1),
    report("b", BASE_MS),
    report("b", BASE_MS + DAY_MS),
  ]);
  const sealing = hot.seal([OLD]);
  apply(hot, [report("a", BASE_MS, { speed: 3 }), report("c", BASE_MS + 7)]);
  sealing.commit(new Set([OLD]), new Map([[OLD, sealing.sequence]]));
  const range = { startMs: BASE_MS, endMs: BASE_MS + DAY_MS };
  const lateKeys = async () =>
    keysOf((await lateBatches(hot, range)).map((batch) => ({ appId: APP, batch })));
  const late = [`app a ${BASE_MS}`, `app c ${BASE_MS + 7}`];
  expect(await lateKeys()).toEqual(late); // The archive has the others, though memory still holds them.
  drain(sealing.drop());
  expect(await lateKeys()).toEqual(late);
  expect(hot.recordCount).toBe(3); // Two late rows, and the newer day's record.
  expect(newestOf(hot, "a")).toBe(BASE_MS + 1);
  expect(newestOf(hot, "b")).toBe(BASE_MS + DAY_MS);
  expect(hot.daysInMemory().map(({ day, records }) => [day, records])).toEqual([
    [OLD, 2],
    [NEW, 1],
  ]);
});

test("abandon() leaves everything as it was", () => {
  const hot = createHotStore(new Scheduler());
  apply(hot, [report("a", BASE_MS)]);
  const sealing = hot.seal([OLD]);
  apply(hot, [report("a", BASE_MS + 1)]);
  sealing.abandon();
  expect(keysOf(hot.seal([OLD]).rows(OLD))).toEqual([`app a ${BASE_MS}`, `app a ${BASE_MS + 1}`]);
});

test("apply() leaves out what the archive covers, and devices that it alone knows", () => {
  const hot = createHotStore(new Scheduler());
  hot.setSealed(new Map([[OLD, 10]]), true);
  const batch = batchOf([report("a", BASE_MS), report("b", BASE_MS + DAY_MS)]);
  hot.apply(APP, batch, 10);
  expect(hot.recordCount).toBe(1);
  expect(hot.findApp(APP)!.find("a")).toBeNull();
  hot.apply(APP, batch, 11);
  expect(hot.recordCount).toBe(2);
});

test("a late row carries its report and no more, where the archive may hold a record of the instant", async () => {
  const hot = createHotStore(new Scheduler());
  apply(hot, [report("a", BASE_MS, { user_id: "u" }), report("a", BASE_MS + 9, { user_id: "u", speed: 4 })]);
  commitAndDrop(hot, [OLD]);
  apply(hot, [
    report("a", BASE_MS, { altitude: 5 }),
    report("a", BASE_MS + 9, { altitude: 6 }),
    report("z", BASE_MS),
  ]);
  const [batch] = (await lateBatches(hot, { startMs: BASE_MS, endMs: BASE_MS + DAY_MS })) as [ReportBatch];
  const userOf = (profile: number) =>
    batch.profiles[profile * PROFILE_FIELDS.length + profileIndex("user_id")]!;
  const users = Array.from(batch.profile, (profile) => batch.texts[userOf(profile)]);
  expect(batch.count).toBe(3);
  expect(users[0]).toBe(""); // Whoever holds the record below; the placeholder text stands for nothing carried.
  // The newest sealed record is known, so its late row is whole; a device that was never sealed has nobody below.
  expect(new Set(users.slice(1))).toEqual(new Set(["u", "ANONYMOUS"]));
});

test("a newest record whose owner the archive may know is no unknown user's meanwhile", () => {
  const hot = createHotStore(new Scheduler());
  hot.setSealed(new Map([[OLD, 0]]), false);
  apply(hot, [report("a", BASE_MS, { user_id: "u" })]);
  apply(hot, [report("a", BASE_MS + 1)]);
  const { dictionary } = hot;
  const shown = (user: string) =>
    hot.findApp(APP)!.users.currentDevices(() => dictionary.findUser(user)).size;
  expect([shown("u"), shown("nobody")]).toEqual([0, 0]);
  apply(hot, [report("a", BASE_MS + 2, { user_id: "u" })]);
  expect(shown("u")).toBe(1);
});

test("forgetDevices() forgets who has nothing left, and gives their numbers to others", () => {
  const hot = createHotStore(new Scheduler());
  apply(hot, [report("a", BASE_MS), report("b", BASE_MS), report("b", BASE_MS + DAY_MS)]);
  commitAndDrop(hot, [OLD]);
  drain(hot.forgetDevices(BASE_MS));
  expect(hot.deviceCount).toBe(2);
  drain(hot.forgetDevices(BASE_MS + 1));
  const app = hot.findApp(APP)!;
  expect([app.find("a"), app.deviceCount, [...app.list].map(({ id }) => String(id))]).toEqual([
    null,
    1,
    ["b"],
  ]);
  const everywhere = {
    latitude: 0,
    longitude: 0,
    radiusMeters: 3e7,
    oldestMs: 0,
    accuracyMetersMax: Number.POSITIVE_INFINITY,
    offset: 0,
    limit: 10,
  };
  const { count, devices } = app.positions.find(everywhere);
  expect([...devices.subarray(0, count)]).toEqual([app.find("b")!.number]);
  apply(hot, [report("new", BASE_MS + DAY_MS)]);
  expect(app.table.byNumber(app.find("new")!.number).id as string).toBe("new");
});

test("drop() looks at some devices in a step, also if none has rows of the seal's days", () => {
  const hot = createHotStore(new Scheduler());
  const count = 20_000;
  const reports = Array.from({ length: count }, (_, i) => report(`device ${i}`, BASE_MS));
  for (let from = 0; from < count; from += 5000) apply(hot, reports.slice(from, from + 5000));
  commitAndDrop(hot, []); // Sorts devices in, which takes steps of its own.
  const sealing = hot.seal([]);
  sealing.commit(new Set(), new Map());
  expect([...sealing.drop()].length).toBeGreaterThanOrEqual(10);
});
