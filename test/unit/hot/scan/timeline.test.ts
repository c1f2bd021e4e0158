import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import type { MemoryScan } from "../../../../src/hot/scan/memory-scan.ts";
import { countRecords, findTimeline } from "../../../../src/hot/scan/timeline.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/*
 * Pages of a crowd: thousands of devices, of which many report in the same millisecond, so that a page may lie anywhere
 * within one. A page is what sorting all records gives, also at offsets that are found by counting spans of time.
 */

const DAY_MS = 86_400_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const random = seededRandom(5);

/** Three records for each of 6,000 devices: at one instant, in one second, and anywhere in the day. */
const CROWD: readonly Report[] = Array.from(
  { length: 6000 },
  (_, number) => `d${(number * 7919) % 6000}`,
).flatMap((device_id) =>
  [3_600_000, 7_200_000 + Math.floor(random() * 1000), 9_000_000 + Math.floor(random() * 70_000_000)].map(
    (ms, index) => ({
      device_id,
      timestamp: BASE_MS + ms,
      latitude: index,
      longitude: 2,
      horizontal_accuracy: index === 1 ? 50 : 5,
    }),
  ),
);

function storeWith(reports: readonly Report[]) {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  const apply = (more: readonly Report[]) => hot.apply(APP, batchOf(more), ++sequence);
  apply(reports);
  const scanOf = (more: Partial<MemoryScan> = {}): MemoryScan => ({
    devices: hot.findApp(APP)!.list,
    range: { startMs: BASE_MS, endMs: BASE_MS + DAY_MS },
    filter: () => ({ accuracyMetersMax: null, user: null, originals: false }),
    dictionary: hot.dictionary,
    ...more,
  });
  return { apply, scanOf };
}

/** The value of work, and how many steps it took; `between` runs after each. */
function finish<Value>(work: Steps<Value>, between: (step: number) => void = () => {}) {
  for (let steps = 0; ; steps++) {
    const next = work.next();
    if (next.done === true) return { value: next.value, steps };
    between(steps);
  }
}

const keyOf = ({ device_id, timestamp }: Report) => `${timestamp} ${device_id}`;

function keysOf({
  page,
}: {
  page: { count: number; deviceIds: readonly string[]; timestampMs: Float64Array };
}) {
  return page.deviceIds.map((id, row) => `${page.timestampMs[row]} ${id}`);
}

function plain(reports: readonly Report[], order: "asc" | "desc", accuracyMetersMax: number | null) {
  const matching = reports.filter(
    ({ horizontal_accuracy }) =>
      accuracyMetersMax === null || !((horizontal_accuracy as number) > accuracyMetersMax),
  );
  const sorted = matching.toSorted(
    (a, b) =>
      (a.timestamp as number) - (b.timestamp as number) ||
      (String(a.device_id) < String(b.device_id) ? -1 : 1),
  );
  return (order === "asc" ? sorted : sorted.reverse()).map(keyOf);
}

test("findTimeline() has the page that sorting all records gives, at any depth of a crowd", () => {
  const { scanOf } = storeWith(CROWD);
  const offsets = fc.oneof(
    fc.constantFrom(0, 3995, 4000, 5990, 6000, 11_995, 17_990, 18_000),
    fc.nat(19_000),
  );
  fc.assert(
    fc.property(
      fc.constantFrom<"asc" | "desc">("asc", "desc"),
      fc.constantFrom(null, 10),
      offsets,
      fc.constantFrom(0, 1, 100, 1001),
      (order, accuracyMetersMax, offset, limit) => {
        const scan = scanOf({ filter: () => ({ accuracyMetersMax, user: null, originals: false }) });
        const all = plain(CROWD, order, accuracyMetersMax);
        const { value } = finish(findTimeline(scan, order, offset, limit));
        expect(keysOf(value)).toEqual(all.slice(offset, offset + limit));
        expect([value.total, value.devices]).toEqual([all.length, 6000]);
        expect(finish(countRecords(scan)).value).toBe(all.length);
      },
    ),
    { numRuns: 80 },
  );
});

test("findTimeline() looks at few devices a step, and at few records of one that has many", () => {
  const { scanOf } = storeWith(CROWD);
  expect(finish(findTimeline(scanOf(), "asc", 0, 100)).steps).toBeGreaterThan(20);
  const busy = Array.from({ length: 100_000 }, (_, row) => ({
    ...CROWD[0]!,
    device_id: "busy",
    timestamp: BASE_MS + row,
  }));
  const { scanOf: busyScan } = storeWith(busy);
  const filtered = busyScan({ filter: () => ({ accuracyMetersMax: 10, user: null, originals: false }) });
  expect(finish(findTimeline(filtered, "desc", 0, 100)).steps).toBeGreaterThan(10);
  expect(finish(findTimeline(busyScan(), "desc", 0, 100)).steps).toBe(0);
});

test("a page that takes several turns is in order and has what was there before, whatever comes meanwhile", () => {
  const { apply, scanOf } = storeWith(CROWD);
  const known = new Set(CROWD.map(keyOf));
  let device = 0;
  for (const order of ["asc", "desc"] as const) {
    for (const offset of [0, 5000, 9000]) {
      const during: Report[] = [];
      const { value } = finish(findTimeline(scanOf(), order, offset, 1000), () => {
        const more = ["d17", `new-${device++}`].map((device_id) => {
          const timestamp = BASE_MS + Math.floor(random() * DAY_MS);
          return { device_id, timestamp, latitude: 1, longitude: 2, horizontal_accuracy: 5 };
        });
        during.push(...more);
        apply(more);
      });
      const found = keysOf(value);
      expect(found).toHaveLength(1000);
      const sorted = found.toSorted(
        (a, b) => Number(a.split(" ")[0]) - Number(b.split(" ")[0]) || (a < b ? -1 : 1),
      );
      expect(found).toEqual(order === "asc" ? sorted : sorted.reverse());
      expect(new Set(found).size).toBe(1000);
      const seen = new Set([...known, ...during.map(keyOf)]);
      expect(found.filter((key) => !seen.has(key))).toEqual([]);
      expect(value.total).toBeGreaterThanOrEqual(known.size);
      expect(value.total).toBeLessThanOrEqual(seen.size);
      for (const report of during) known.add(keyOf(report));
      if (offset > 0) continue;
      // Between the first and the last record of a first page nothing that was there before is left out.
      const before = plain(CROWD, order, null).slice(0, 400);
      expect(before.filter((key) => !found.includes(key))).toEqual([]);
    }
  }
});
