import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import type { LateRows, LateScan } from "../../../../src/hot/late/late-rows.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import type { Order, TimeRange } from "../../../../src/model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";

/*
 * Windows of late rows against a list of all of them: whatever the range, the order and the size of windows, each
 * late row is in exactly one window, none of another day or device is in any, and windows are as small as asked for.
 */

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const DAYS = [0, 1, 2].map((day) => utcDayOf(BASE_MS + day * DAY_MS));
const SEALED = DAYS.slice(0, 2);

/** Crowded milliseconds, crowded minutes, and the edges of days. */
const instant = fc
  .tuple(
    fc.nat(2),
    fc.oneof(fc.constantFrom(0, 1, 59_999, 60_000, DAY_MS - 1), fc.nat(200), fc.nat(DAY_MS - 1)),
  )
  .map(([day, ms]) => BASE_MS + day * DAY_MS + ms);
const report = fc
  .tuple(fc.constantFrom("a", "b", "ä", "\u{1F68C}"), instant)
  .map(([device_id, timestamp]) => ({ device_id, timestamp, latitude: 1, longitude: 2 }));
const reports = fc.array(report, { maxLength: 60 });
const range = fc
  .tuple(instant, instant)
  .map(([a, b]) => ({ startMs: Math.min(a, b), endMs: Math.min(Math.max(a, b) + 1, BASE_MS + 2 * DAY_MS) }))
  .filter(({ startMs, endMs }) => startMs < endMs);

function createSealed(before: readonly Report[]): {
  hot: HotStore;
  apply: (more: readonly Report[]) => void;
} {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  const apply = (more: readonly Report[]) => {
    hot.apply(APP, batchOf(more), ++sequence);
  };
  apply([...before, { device_id: "a", timestamp: BASE_MS + 2 * DAY_MS, latitude: 1, longitude: 2 }]);
  const sealing = hot.seal(SEALED);
  sealing.commit(new Set(SEALED), new Map(SEALED.map((day) => [day, sequence])));
  for (const _ of sealing.drop());
  return { hot, apply };
}

function keysOf(late: LateRows | null): string[] {
  if (late === null) return [];
  return [...late.batches()].flatMap(({ count, device, texts, timestampMs }) =>
    Array.from({ length: count }, (_, row) => `${texts[device[row]!]} ${timestampMs[row]}`),
  );
}

const keyOf = ({ device_id, timestamp }: Report) => `${device_id} ${timestamp}`;

async function windowsOf(
  scan: LateScan,
  { startMs, endMs }: TimeRange,
  order: Order,
  rowsMax: number,
  keepsGaps = false,
) {
  const windows = [];
  for (let rest = { startMs, endMs }; rest.startMs < rest.endMs; ) {
    const window = await scan.window(rest, order, rowsMax, keepsGaps);
    windows.push(window);
    rest =
      order === "asc"
        ? { startMs: window.range.endMs, endMs: rest.endMs }
        : { startMs: rest.startMs, endMs: window.range.startMs };
  }
  return windows;
}

test("window() after window() has every late row once", async () => {
  const orders = fc.constantFrom<Order>("asc", "desc");
  const device = fc.constantFrom(null, null, "a", "ä");
  await fc.assert(
    fc.asyncProperty(
      reports,
      fc.array(reports, { maxLength: 3 }),
      range,
      orders,
      fc.constantFrom(1, 3, 1000),
      device,
      fc.boolean(),
      fc.boolean(),
      async (before, later, asked, order, rowsMax, deviceId, isByKeys, keepsGaps) => {
        const { hot, apply } = createSealed(before);
        const app = hot.findApp(APP)!;
        const known = new Set<string>();
        for (const some of [[], ...later]) {
          apply(some); // The index follows what comes in after it was built.
          for (const late of some) known.add(keyOf(late));
          const of = deviceId === null ? null : app.find(deviceId);
          if (deviceId !== null && of === null) continue;
          const keys = [...known].map((key) => {
            const [id, timestamp] = key.split(" ") as [string, string];
            return { device: app.find(id)!, timestampMs: Number(timestamp) };
          });
          keys.sort((a, b) => a.timestampMs - b.timestampMs);
          const scan = isByKeys && of === null ? hot.lateRowsAt(keys) : hot.lateRows(app, of);
          const windows = await windowsOf(scan, asked, order, rowsMax, keepsGaps);
          const expected = [...known].filter((key) => {
            const [id, timestamp] = key.split(" ") as [string, string];
            const isWithin = Number(timestamp) >= asked.startMs && Number(timestamp) < asked.endMs;
            return isWithin && (deviceId === null || id === deviceId);
          });
          const found = windows.map(({ late }) => keysOf(late));
          expect(found.flat().sort()).toEqual(expected.sort());
          for (const keys of found) {
            const instants = new Set(keys.map((key) => key.split(" ")[1]));
            expect(keys.length <= rowsMax || instants.size === 1).toBe(true);
          }
          const devices = new Set<DeviceId>();
          await scan.addDevices(asked, devices);
          expect([...devices].sort()).toEqual(
            [...new Set(expected.map((key) => key.split(" ")[0] as DeviceId))].sort(),
          );
          const days = expected.map((key) => utcDayOf(Number(key.split(" ")[1])));
          const named = new Set(windows.flatMap(({ late }) => late?.days ?? []));
          expect(days.filter((day) => !named.has(day))).toEqual([] as UtcDay[]);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("window() leaves out what lies before the first late row, and says that nothing is late there, unless it keeps gaps", async () => {
  const { hot, apply } = createSealed([]);
  const [early, late] = [BASE_MS + 3_600_000, BASE_MS + 80_000_000];
  apply([early, late].map((timestamp) => ({ device_id: "a", timestamp, latitude: 1, longitude: 2 })));
  const day = { startMs: BASE_MS, endMs: BASE_MS + DAY_MS };
  const app = hot.findApp(APP)!;
  for (const device of [null, app.find("a")]) {
    const scan = hot.lateRows(app, device);
    const [asc] = await windowsOf(scan, day, "asc", 10);
    expect(asc).toEqual({ range: { startMs: BASE_MS, endMs: early }, late: null });
    const [desc] = await windowsOf(scan, day, "desc", 10);
    expect(desc?.late).toBe(null);
    expect(desc!.range.startMs - late).toBeLessThanOrEqual(60_000);
    const whole = await windowsOf(scan, day, "asc", 10, true);
    expect(whole.map(({ range }) => range)).toEqual([day]);
    expect(keysOf(whole[0]!.late)).toEqual([`a ${early}`, `a ${late}`]);
    scan.bytesRead = 0;
    expect(scan.bytesRead).toBe(0);
  }
});

test("a million late rows cost a page as little as some thousand do", async () => {
  const { hot, apply } = createSealed([]);
  for (let device = 0; device < 100; device++) {
    const rows = Array.from({ length: 10_000 }, (_, row) => BASE_MS + row * 8000 + device);
    apply(rows.map((timestamp) => ({ device_id: `d${device}`, timestamp, latitude: 1, longitude: 2 })));
  }
  const scan = hot.lateRows(hot.findApp(APP)!, null);
  const day = { startMs: BASE_MS, endMs: BASE_MS + DAY_MS };
  const { range: first, late } = await scan.window(day, "asc", 1024);
  expect(keysOf(late).length).toBeGreaterThan(512);
  expect(keysOf(late).length).toBeLessThanOrEqual(1024);
  expect(first.startMs).toBe(BASE_MS);
  expect(scan.bytesRead).toBeLessThan(200_000);
});

test("a question that began while a seal drops what it moved has the rows that stay", async () => {
  const hot = createHotStore(new Scheduler());
  const [gone, stays] = [BASE_MS, BASE_MS + 3_600_000];
  const row = { device_id: "a", latitude: 1, longitude: 2 };
  hot.apply(APP, batchOf([gone, stays].map((timestamp) => ({ ...row, timestamp }))), 1);
  const [day] = SEALED;
  const sealing = hot.seal([day!]);
  hot.apply(APP, batchOf([{ ...row, timestamp: stays, speed: 5 }]), 2);
  sealing.commit(new Set([day!]), new Map([[day!, 1]]));
  const range = { startMs: BASE_MS, endMs: BASE_MS + DAY_MS };
  const scan = hot.lateRows(hot.findApp(APP)!, null);
  const begun = await scan.whole(range);
  for (const _ of sealing.drop());
  expect(keysOf(begun)).toEqual([`a ${stays}`]);
  const devices = new Set<DeviceId>();
  await scan.addDevices(range, devices);
  expect([...devices]).toEqual(["a" as DeviceId]);
});

/** Everything of the rows that shows, in their order. */
function contentOf(late: LateRows): string {
  return JSON.stringify(
    [...late.batches()].flatMap(({ count, device, texts, timestampMs, numbers }) =>
      Array.from({ length: count }, (_, row) => [
        texts[device[row]!],
        timestampMs[row],
        ...numbers.map((column) => column[row]),
      ]),
    ),
  );
}

test("version() is another one whenever rows are others, whatever comes in, changes, is sealed or dropped", async () => {
  const range = { startMs: BASE_MS, endMs: BASE_MS + 2 * DAY_MS };
  const few = fc.tuple(
    fc.constantFrom("a", "b"),
    fc.nat(1),
    fc.nat(2),
    fc.option(fc.nat(2), { nil: undefined }),
  );
  const change = fc.oneof(
    { weight: 4, arbitrary: fc.array(few, { minLength: 1, maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<"seal" | "seal while one comes in">("seal", "seal while one comes in"),
    },
  );
  let repeats = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const { hot, apply } = createSealed([]);
      const seen = new Map<string, string>();
      const look = async () => {
        const app = hot.findApp(APP)!;
        for (const device of [null, app.find("a")]) {
          const late = await hot.lateRows(app, device).whole(range);
          if (late === null) continue;
          const [version, content] = [late.version!(), contentOf(late)];
          if (seen.has(version)) repeats++;
          expect(seen.get(version) ?? content).toBe(content);
          seen.set(version, content);
        }
      };
      const one = { device_id: "a", timestamp: BASE_MS, latitude: 9, longitude: 9 };
      for (const each of changes) {
        if (typeof each === "string") {
          const sealing = hot.seal(SEALED);
          if (each !== "seal") apply([one]);
          await look();
          sealing.commit(new Set(SEALED), new Map(SEALED.map((day) => [day, sealing.sequence])));
          await look();
          for (const _ of sealing.drop()) await look();
        } else {
          apply(
            each.map(([device_id, day, ms, speed]) => ({
              ...{ device_id, timestamp: BASE_MS + day * DAY_MS + ms, latitude: 1, longitude: 2 },
              ...(speed === undefined ? {} : { speed }),
            })),
          );
        }
        await look();
        await look();
      }
    }),
  );
  expect(repeats).toBeGreaterThan(0);
});
