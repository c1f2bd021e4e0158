import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { NewestPage } from "../../../../src/hot/scan/newest-page.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { type AppCurrentQuery, createCurrentQueries } from "../../../../src/service/queries/current.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

/** Pages of an app's newest records are those of a sorted array, whatever came, went and reported before. */

const MS_PER_HOUR = 3_600_000;
const NOW_MS = Date.UTC(2026, 0, 14, 12);
const RETAINED_MS = DEFAULT_RETENTION.startMs(NOW_MS);
/** They fill some dozens of blocks. */
const DEVICES = 12_000;
const PATIENT_CALLER = { signal: new AbortController().signal };

/** Ids that share long beginnings, and that UTF-16 has in another order. */
const IDS = Array.from({ length: DEVICES }, (_, device) => {
  const first = ["a", "\uFF21", "\u{1F68C}"][device % 3]!;
  return `${first}${"x".repeat(40)}${device % 997}-${device}`;
});

/** When devices report: two of these are before the retention. */
const times = fc.constantFrom(
  NOW_MS - MS_PER_HOUR,
  NOW_MS - 30 * MS_PER_HOUR,
  RETAINED_MS,
  RETAINED_MS - 1,
  RETAINED_MS - 1000 * MS_PER_HOUR,
);

interface Change {
  readonly act: "report" | "forget";
  readonly from: number;
  readonly count: number;
  readonly timestamp: number;
}

const changes = fc.array(
  fc.record<Change>({
    act: fc.constantFrom("report", "report", "report", "forget"),
    from: fc.nat(DEVICES - 1),
    count: fc.constantFrom(1, 40, 900, 6000),
    timestamp: times,
  }),
  { maxLength: 8 },
);

const bounds = fc.option(
  fc.tuple(times, fc.constantFrom(-1, 0, 1)).map(([timeMs, more]) => timeMs + more),
  { freq: 1 },
);

const queries: fc.Arbitrary<AppCurrentQuery> = fc.record({
  afterMs: bounds,
  beforeMs: bounds,
  offset: fc.oneof(fc.nat(5), fc.nat(DEVICES)),
  limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(DEVICES)),
  view: fc.constant(null),
});

/** An app, and by device the time of its newest record. */
class Fleet {
  readonly hot = createHotStore(new Scheduler());
  readonly newestMs = new Map<string, number>();

  change({ act, from, count, timestamp }: Change): void {
    const ids = Array.from({ length: count }, (_, step) => IDS[(from + step * 7) % DEVICES]!);
    if (act === "report") {
      const place = { timestamp, user_id: "u", latitude: 1, longitude: 2 };
      this.hot.restoreNewest(APP, batchOf(ids.map((device_id) => ({ ...place, device_id }))));
      for (const id of ids) this.newestMs.set(id, Math.max(timestamp, this.newestMs.get(id) ?? timestamp));
    } else {
      const app = this.hot.findApp(APP);
      for (const id of ids) if (this.newestMs.delete(id)) app!.remove(app!.find(id)!);
    }
  }

  /** Ids of devices that match, in order. */
  matching({ afterMs, beforeMs }: AppCurrentQuery): string[] {
    return [...this.newestMs]
      .filter(([, ms]) => ms >= RETAINED_MS && ms > (afterMs ?? 0) && ms < (beforeMs ?? NOW_MS))
      .map(([id]) => id)
      .sort(compareUtf8);
  }
}

test("a page of current positions is the one of a sorted array", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(changes, queries), { maxLength: 6 }), async (steps) => {
      const fleet = new Fleet();
      const { hot } = fleet;
      const current = createCurrentQueries({
        hot,
        clock: createManualClock(NOW_MS),
        retention: DEFAULT_RETENTION,
        scheduler: new Scheduler(),
      });
      for (const [made, query] of steps) {
        for (const change of made) fleet.change(change);
        const matching = fleet.matching(query);
        await current.ofApp(APP, query, PATIENT_CALLER, ({ page: found, total }) => {
          const ids = found?.devices.map((device) => String(found.records.deviceId(device))) ?? [];
          expect(ids).toEqual(matching.slice(query.offset, query.offset + query.limit));
          expect(total).toBe(matching.length);
        });
      }
    }),
    { numRuns: 30 },
  );
});

test("whatever changes while a page is found, it is in order, all on it match, and who stayed as they were is counted", () => {
  fc.assert(
    fc.property(changes, changes, queries, (before, meanwhile, query) => {
      const fleet = new Fleet();
      fleet.change({ act: "report", from: 0, count: 6000, timestamp: NOW_MS - 30 * MS_PER_HOUR });
      for (const change of before) fleet.change(change);
      const app = fleet.hot.findApp(APP)!;
      while (!app.list.sortPending());
      const { afterMs, beforeMs, offset, limit } = query;
      const startMs = Math.max(RETAINED_MS, (afterMs ?? 0) + 1);
      const range = { startMs, endMs: beforeMs ?? Number.POSITIVE_INFINITY };
      const page = new NewestPage(app, { range, accuracyMetersMax: null, offset, limit });
      let stayed = new Set(fleet.matching(query));
      const ever = new Set(stayed);
      const next = app.list.reader();
      for (let block = next(); block !== null; block = next()) {
        page.add(block);
        const change = meanwhile.pop();
        if (change === undefined) continue;
        page.hold();
        fleet.change(change);
        const now = new Set(fleet.matching(query));
        stayed = stayed.intersection(now);
        for (const id of now) ever.add(id);
      }
      const { devices, total } = page.build(() => true);
      const ids = devices.map((device) => String(app.table.byNumber(device).id));
      const matching = new Set(fleet.matching(query));
      expect(ids).toEqual([...new Set(ids)].sort(compareUtf8));
      expect(ids.filter((id) => !matching.has(id))).toEqual([]);
      if (offset === 0 && limit === DEVICES) expect(total).toBe(ids.length);
      expect(total).toBeGreaterThanOrEqual(stayed.size);
      expect(total).toBeLessThanOrEqual(ever.size);
    }),
    { numRuns: 30 },
  );
});

test("who reports while a page is found, so that it doesn't match any more, is neither on it nor counted", () => {
  const fleet = new Fleet();
  const hoursAgo = (hours: number) =>
    ({ act: "report", from: 0, timestamp: NOW_MS - hours * MS_PER_HOUR }) as const;
  fleet.change({ ...hoursAgo(30), count: 3 });
  const app = fleet.hot.findApp(APP)!;
  const range = { startMs: RETAINED_MS, endMs: NOW_MS - 2 * MS_PER_HOUR };
  const page = new NewestPage(app, { range, accuracyMetersMax: null, offset: 0, limit: 9 });
  page.add(app.list.reader()()!);
  page.hold();
  fleet.change({ ...hoursAgo(1), count: 1 });
  const expected = { afterMs: null, beforeMs: range.endMs, offset: 0, limit: 9, view: null };
  const { devices, total } = page.build(() => true);
  expect(devices.map((device) => String(app.table.byNumber(device).id))).toEqual(fleet.matching(expected));
  expect(total).toBe(2);
});

test("devices that are gone or came to lie together don't hide that one of them is old", async () => {
  const hot = createHotStore(new Scheduler());
  const current = createCurrentQueries({
    hot,
    clock: createManualClock(NOW_MS),
    retention: DEFAULT_RETENTION,
    scheduler: new Scheduler(),
  });
  const report = (ids: readonly string[], timestamp: number) =>
    hot.restoreNewest(
      APP,
      batchOf(ids.map((device_id) => ({ device_id, timestamp, latitude: 1, longitude: 2 }))),
    );
  const ids = Array.from({ length: 1200 }, (_, device) => String(device).padStart(4, "0"));
  report(ids.slice(0, 600), NOW_MS - MS_PER_HOUR);
  report(ids.slice(600), NOW_MS - 30 * MS_PER_HOUR);
  const countAfter = (afterMs: number) =>
    current.ofApp(
      APP,
      { afterMs, beforeMs: null, offset: 0, limit: 1, view: null },
      PATIENT_CALLER,
      ({ total }) => total,
    );
  expect([await countAfter(NOW_MS - 99 * MS_PER_HOUR), await countAfter(NOW_MS - 9 * MS_PER_HOUR)]).toEqual([
    1200, 600,
  ]);
  const app = hot.findApp(APP)!;
  for (const id of ids) if (!id.endsWith("50")) app.remove(app.find(id)!);
  expect([await countAfter(NOW_MS - 99 * MS_PER_HOUR), await countAfter(NOW_MS - 9 * MS_PER_HOUR)]).toEqual([
    12, 6,
  ]);
});
