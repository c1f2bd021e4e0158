import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { findNext, type ReadUpTo } from "../../../../src/hot/scan/next-records.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";

/** Goal: who goes on behind the last record that was read reads all, each once, at a cost that stays the same. */

const BASE_MS = Date.UTC(2026, 0, 14);
const RANGE = { startMs: BASE_MS, endMs: BASE_MS + 86_400_000 };

function readerOf(reports: readonly Report[]) {
  const hot = createHotStore(new Scheduler());
  hot.apply(APP, batchOf(reports), 1);
  const devices = hot.findApp(APP)!.list;
  let steps = 0;
  return {
    get steps() {
      return steps;
    },
    next(after: ReadUpTo | null, count: number, userId: string | null): ReadUpTo[] {
      const scan = hot.scan({ devices, range: RANGE, userId: userId as never, accuracyMetersMax: null });
      for (const work = findNext(scan, after, count); ; steps++) {
        const { done, value } = work.next();
        if (done === true)
          return value.map(({ device, timestampMs }) => ({ deviceId: device.id, timestampMs }));
      }
    },
  };
}

function readAll(reader: ReturnType<typeof readerOf>, count: number, userId: string | null): ReadUpTo[] {
  const all: ReadUpTo[] = [];
  for (;;) {
    const next = reader.next(all.at(-1) ?? null, count, userId);
    all.push(...next);
    if (next.length < count) return all;
  }
}

const report = fc.record({
  device_id: fc.constantFrom("a", "b", "c", "é", "𝄞", "\uffee"),
  timestamp: fc.integer({ min: BASE_MS - 2, max: BASE_MS + 9 }),
  user_id: fc.constantFrom("u", "v"),
  latitude: fc.constant(1),
  longitude: fc.constant(2),
});

test("findNext() goes on behind any record as a sorted list does", () => {
  const reports = fc.uniqueArray(report, {
    minLength: 1,
    maxLength: 60,
    selector: ({ device_id, timestamp }) => `${device_id} ${timestamp}`,
  });
  fc.assert(
    fc.property(
      reports,
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(null, "u"),
      (sent, count, userId) => {
        const expected = sent
          .filter(({ timestamp, user_id }) => timestamp >= BASE_MS && (userId ?? user_id) === user_id)
          .map(({ device_id, timestamp }) => ({ deviceId: device_id, timestampMs: timestamp }))
          .sort(
            (a, b) =>
              a.timestampMs - b.timestampMs ||
              Buffer.compare(Buffer.from(a.deviceId), Buffer.from(b.deviceId)),
          );
        expect(readAll(readerOf(sent), count, userId) as unknown).toEqual(expected);
      },
    ),
  );
});

test("of an instant that all devices share, what comes late costs as much as what came first", () => {
  const reader = readerOf(
    Array.from({ length: 3000 }, (_, number) => {
      return { device_id: `d${number}`, timestamp: BASE_MS, latitude: 1, longitude: 2 };
    }),
  );
  const first = reader.next(null, 100, null);
  const stepsOfFirst = reader.steps;
  const rest = readAll(reader, 100, null);
  expect([first.length, rest.length]).toEqual([100, 3000]);
  expect(reader.steps).toBeLessThanOrEqual(32 * (stepsOfFirst + 1));
});
