import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import type { Timeline } from "../../../../src/hot/scan/page-builder.ts";
import { findTimeline } from "../../../../src/hot/scan/timeline.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import type { Order, TimeRange } from "../../../../src/model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/*
 * An app's records by time, as its index has them, against a list of all that was reported: while reports come in,
 * repeat and replace each other, days are sealed or not after all, devices are forgotten and their numbers given to
 * others; at rest, and in the middle of all that is done in steps.
 */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BASE_MS = Date.UTC(2026, 0, 14);
const DAYS = 3;
const WHOLE: TimeRange = { startMs: BASE_MS, endMs: BASE_MS + DAYS * DAY_MS };

type Key = readonly [timestampMs: number, deviceId: string];

/** A store, and the keys of the records that should be in it. */
class Fixture {
  readonly hot = createHotStore(new Scheduler());
  readonly keys = new Map<string, Key>();
  #sequence = 0;

  apply(keys: readonly Key[], speed?: number): void {
    const reports = keys.map(([timestamp, device_id]): Report => {
      return { device_id, timestamp, latitude: 1, longitude: 2, ...(speed === undefined ? {} : { speed }) };
    });
    this.hot.apply(APP, batchOf(reports), ++this.#sequence);
    for (const key of keys) this.keys.set(key.join(" "), key);
  }

  plain({ startMs, endMs }: TimeRange, order: Order): Key[] {
    const keys = [...this.keys.values()].filter(([ms]) => ms >= startMs && ms < endMs).sort(byTime);
    return order === "asc" ? keys : keys.reverse();
  }

  find(range: TimeRange, order: Order, offset: number, limit: number): Steps<Timeline> {
    const { hot } = this;
    const devices = hot.findApp(APP)!;
    const scan = hot.scan({ devices, range, userId: null, accuracyMetersMax: null });
    return findTimeline(scan, order, offset, limit);
  }

  check(range: TimeRange, order: Order, offset: number, limit: number): void {
    const found = finish(this.find(range, order, offset, limit));
    const all = this.plain(range, order);
    expect(keysOf(found)).toEqual(all.slice(offset, offset + limit));
    expect([found.total, found.devices]).toEqual([all.length, new Set(all.map(([, id]) => id)).size]);
  }

  /** The archive has the day from here on; its records leave memory step by step. */
  seal(day: UtcDay): Iterator<void> {
    const sealing = this.hot.seal([day]);
    sealing.commit(new Set([day]), new Map([[day, sealing.sequence]]));
    for (const [text, [ms]] of this.keys) if (utcDayOf(ms) === day) this.keys.delete(text);
    return sealing.drop()[Symbol.iterator]();
  }
}

function byTime([a, idA]: Key, [b, idB]: Key): number {
  return a - b || (idA < idB ? -1 : 1);
}

function finish<Value>(work: Steps<Value>, between: (step: number) => void = () => {}): Value {
  for (let step = 0; ; step++) {
    const next = work.next();
    if (next.done === true) return next.value;
    between(step);
  }
}

function keysOf({ page }: Timeline): Key[] {
  return page.deviceIds.map((id, row) => [page.timestampMs[row]!, id]);
}

const random = seededRandom(77);

function drawKeys(count: number, devices: number, drawMs: () => number): Key[] {
  return Array.from({ length: count }, () => [drawMs(), `d${Math.floor(random() * devices)}`] as const);
}

const anyTime = () => WHOLE.startMs + Math.floor(random() * DAYS * DAY_MS);
/** Thousands in a millisecond, and some next to it. */
const crowded = () => BASE_MS + DAY_MS + 5 * HOUR_MS + Math.floor(random() * 1.2);
/** So many that the hour has a set of its devices. */
const busyHour = () => BASE_MS + DAY_MS + 7 * HOUR_MS + Math.floor(random() * HOUR_MS);

function drawRange(): TimeRange {
  const dayMs = BASE_MS + Math.floor(random() * DAYS) * DAY_MS;
  const hours = Math.floor(random() * 24);
  const ranges = [
    WHOLE,
    { startMs: dayMs, endMs: dayMs + DAY_MS },
    { startMs: dayMs + hours * HOUR_MS, endMs: dayMs + hours * HOUR_MS + DAY_MS },
    { startMs: anyTime(), endMs: anyTime() },
    { startMs: BASE_MS + DAY_MS + 5 * HOUR_MS, endMs: BASE_MS + DAY_MS + 5 * HOUR_MS + 1 },
    { startMs: BASE_MS + DAY_MS + 7 * HOUR_MS, endMs: BASE_MS + DAY_MS + 9 * HOUR_MS },
  ];
  const { startMs, endMs } = ranges[Math.floor(random() * ranges.length)]!;
  return { startMs, endMs: Math.max(startMs, endMs) };
}

function drawOrder(): Order {
  return random() < 0.5 ? "asc" : "desc";
}

test("pages and counts are those of a sorted list, in any range and at any offset, beside all that comes in", () => {
  const fixture = new Fixture();
  fixture.apply(drawKeys(12_000, 4000, anyTime));
  fixture.apply(drawKeys(6000, 4000, crowded));
  fixture.apply(drawKeys(9000, 4000, busyHour));
  const change = fc.oneof(
    fc.constant(() => fixture.apply(drawKeys(50, 4000, anyTime))),
    fc.constant(() => fixture.apply(drawKeys(50, 5000, crowded))),
    fc.constant(() => fixture.apply(drawKeys(20, 5000, busyHour))),
    fc.constant(() => fixture.apply([...fixture.keys.values()].slice(-40), Math.floor(random() * 99))),
    fc.constant(() => fixture.hot.findApp(APP)!.times.forgetIdle(Number.POSITIVE_INFINITY)),
    fc.constant(() => {
      const [begun, rest] = [fixture.find(drawRange(), drawOrder(), 0, 10), Math.floor(random() * 20)];
      for (let step = 0; step < rest && begun.next().done !== true; step++);
    }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), fc.nat(20_000), fc.nat(300), (changes, offset, limit) => {
      for (const make of changes) make();
      const range = drawRange();
      const total = fixture.plain(range, "asc").length;
      fixture.check(range, drawOrder(), offset, limit);
      fixture.check(range, drawOrder(), Math.floor(random() * (total + 1)), limit);
    }),
    { numRuns: 150 },
  );
});

test("what comes in while the index is made is in it once, whether or not its device was read already", () => {
  for (const order of ["asc", "desc"] as const) {
    const fixture = new Fixture();
    fixture.apply(drawKeys(9000, 3000, anyTime));
    finish(fixture.find(WHOLE, order, 100, 500), (step) => {
      // To end sometime, reports become fewer.
      if (step < 40) fixture.apply([...drawKeys(30, 3300, anyTime), ...drawKeys(5, 3300, crowded)]);
    });
    for (const offset of [0, 777, 5000]) fixture.check(WHOLE, order, offset, 1000);
  }
});

test("a page that takes turns is in order, and has what was there before, whatever comes meanwhile", () => {
  const fixture = new Fixture();
  fixture.apply(drawKeys(8000, 8000, crowded));
  for (const offset of [0, 1500, 4000]) {
    for (const order of ["asc", "desc"] as const) {
      const before = fixture.keys.size;
      const found = finish(fixture.find(WHOLE, order, offset, 1000), () =>
        fixture.apply(drawKeys(20, 20_000, crowded)),
      );
      const keys = keysOf(found);
      expect(keys).toHaveLength(1000);
      expect(keys).toEqual(order === "asc" ? keys.toSorted(byTime) : keys.toSorted(byTime).reverse());
      expect(new Set(keys.map((key) => key.join(" "))).size).toBe(1000);
      expect(keys.filter((key) => !fixture.keys.has(key.join(" ")))).toEqual([]);
      expect(found.total).toBeGreaterThanOrEqual(before);
      expect(found.total).toBeLessThanOrEqual(fixture.keys.size);
    }
  }
});

test("days that are sealed leave the index, and come back to it with what is reported of them then", () => {
  const day = utcDayOf(BASE_MS + DAY_MS);
  const sealed = { startMs: BASE_MS + DAY_MS, endMs: BASE_MS + 2 * DAY_MS };
  const others = [
    { startMs: BASE_MS, endMs: BASE_MS + DAY_MS },
    { startMs: BASE_MS + 2 * DAY_MS, endMs: WHOLE.endMs },
  ];
  for (let round = 0; round < 6; round++) {
    const fixture = new Fixture();
    fixture.apply(drawKeys(6000, 2500, anyTime));
    if (round % 2 === 0) fixture.check(WHOLE, "asc", 0, 10);
    const begun = fixture.find(WHOLE, "asc", 0, 10);
    for (let step = 0; step < round; step++) begun.next();
    const dropping = fixture.seal(day);
    while (dropping.next().done !== true) {
      finish(fixture.find(sealed, "asc", 0, 500)); // Of what is still there; nobody shows it.
      for (const range of others) fixture.check(range, "asc", 3, 100);
    }
    finish(begun);
    for (const _ of fixture.hot.forgetDevices(BASE_MS + 2 * DAY_MS));
    fixture.apply(drawKeys(500, 3000, () => BASE_MS + 2 * DAY_MS + Math.floor(random() * DAY_MS)));
    for (const range of others) fixture.check(range, "desc", 3, 100);
    // The archive gives the day up: it is memory's again.
    fixture.hot.seal([]).commit(new Set(), new Map());
    fixture.apply(drawKeys(300, 3000, anyTime));
    fixture.check(WHOLE, "asc", 100, 1000);
  }
});

test("a device with more records than are read in a step has all of them in the index", () => {
  const fixture = new Fixture();
  fixture.apply(Array.from({ length: 20_000 }, (_, step) => [BASE_MS + step * 4000, "busy"] as const));
  fixture.apply(drawKeys(100, 10, anyTime));
  fixture.check(WHOLE, "asc", 19_900, 1000);
});

test("the devices of a part of a day are counted in steps", () => {
  const fixture = new Fixture();
  fixture.apply(drawKeys(30_000, 4000, anyTime));
  finish(fixture.find(WHOLE, "asc", 0, 10));
  let steps = 0;
  finish(fixture.find({ startMs: BASE_MS + 1, endMs: BASE_MS + DAY_MS }, "asc", 0, 10), () => steps++);
  expect(steps).toBeGreaterThan(10);
});

test("forgetIdle() gives up what nobody asked for since, and no more", () => {
  const fixture = new Fixture();
  fixture.apply(drawKeys(100, 10, anyTime));
  fixture.check(WHOLE, "asc", 0, 10);
  const { times } = fixture.hot.findApp(APP)!;
  const areWhole = () => times.days(WHOLE)!.map(({ isWhole }) => isWhole);
  times.forgetIdle(0);
  expect(areWhole()).toEqual([true, true, true]);
  times.forgetIdle(Number.POSITIVE_INFINITY);
  expect(areWhole()).toEqual([false, false, false]);
  fixture.check(WHOLE, "desc", 0, 10);
});

test("an index that nobody makes any more is given up before it takes much, and made anew by the next who asks", () => {
  const fixture = new Fixture();
  const range = { startMs: BASE_MS, endMs: BASE_MS + DAY_MS };
  fixture.apply(Array.from({ length: 20_000 }, (_, index) => [BASE_MS + index, `d${index % 7}`] as const));
  const { times } = fixture.hot.findApp(APP)!;
  const [left] = times.days(range)!;
  left!.proceed(); // Whoever asked leaves after a step.
  expect(left!.isWhole).toBe(false);
  for (let count = 0; count < 70_000; count++) times.note(utcDayOf(BASE_MS), BASE_MS, 0);
  expect(times.days(range)![0]).not.toBe(left);
  fixture.check(range, "asc", 100, 10);
});
