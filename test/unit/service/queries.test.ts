import { expect, test } from "bun:test";
import { LATE_WINDOW } from "../../../src/app/config.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { assert } from "../../../src/lib/assert.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../src/lib/schedule/steps.ts";
import { compareUtf8 } from "../../../src/lib/text/utf8.ts";
import { haversineMeters, initialBearingDegrees } from "../../../src/model/geo/distance.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { createCurrentQueries, type DeviceMatches } from "../../../src/service/queries/current.ts";
import type { QueryDependencies } from "../../../src/service/queries/find-device.ts";
import { createHistoryQueries, type HistoryOutcome } from "../../../src/service/queries/history/history.ts";
import type { HistoryQuery } from "../../../src/service/queries/history/history-query.ts";
import type { HistoryDependencies } from "../../../src/service/queries/history/read-stretches.ts";
import { createNearby } from "../../../src/service/queries/nearby.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../reference/records.ts";
import { recordsOf } from "../../support/answers/page-records.ts";
import { createEmptyArchive } from "../../support/empty-archive.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../support/reports/arbitrary-reports.ts";
import { APP, batchOf, type Report } from "../../support/reports/batches.ts";

/** The real store and the obvious one after the same batches, which must agree on what each batch changed. */
function storesAfter(batches: readonly (readonly Report[])[]) {
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const plain = createReferenceRecords(APP);
  for (const [index, reports] of batches.entries()) {
    const batch = batchOf(reports);
    const changes = plain.report(reports);
    const repeats = hot.findRepeated(APP, batch);
    expect(hot.apply(APP, batch, index + 1)).toMatchObject({
      accepted: changes,
      duplicates: reports.length - changes,
    });
    if (repeats) expect(changes).toBe(0);
  }
  const clock = createManualClock(BASE_MS + 3_600_000);
  return { hot, plain, dependencies: { hot, clock, retention: DEFAULT_RETENTION, scheduler } };
}

/** The newest records of devices that were found, as plain objects. */
function newestOf(found: DeviceMatches | null) {
  return found === null ? [] : found.devices.flatMap((device) => recordsOf(found.records.pageOf(device)));
}

/** The index tells distances and bearings from unit vectors, which are good to a few nanometers. */
const NEAR_METERS = 1e-6;
const NEAR_DEGREES = 1e-6;

function turnBetween(a: number, b: number): number {
  const turn = Math.abs(a - b);
  return Math.min(turn, 360 - turn);
}

const batches = fc.array(fc.array(arbitraryReport, { minLength: 1, maxLength: 30 }), { maxLength: 12 });

const historyQueries: fc.Arbitrary<HistoryQuery> = fc.record({
  range: fc
    .tuple(fc.integer({ min: -70, max: 70 }), fc.integer({ min: 0, max: 140 }))
    .map(([from, length]) => ({ startMs: BASE_MS + from * 1000, endMs: BASE_MS + (from + length) * 1000 })),
  order: fc.constantFrom("asc", "desc"),
  offset: fc.integer({ min: 0, max: 40 }),
  limit: fc.integer({ min: 1, max: 40 }),
  accuracyMetersMax: fc.constantFrom(null, 4.8, 100),
  withDistance: fc.boolean(),
});

/** The whole answer by plain loops over plain objects. */
function expectedHistory(records: ReturnType<ReferenceRecords["records"]>, query: HistoryQuery) {
  const { range, accuracyMetersMax } = query;
  const matching = records.filter(
    (record) =>
      record.timestamp >= range.startMs &&
      record.timestamp < range.endMs &&
      !(accuracyMetersMax !== null && (record.horizontal_accuracy as number) > accuracyMetersMax),
  );
  const ordered = query.order === "asc" ? matching : matching.toReversed();
  const meters = new Map<string, number>();
  const last = new Map<string, (typeof matching)[number]>();
  for (const record of matching) {
    const from = last.get(record.device_id);
    const step =
      from === undefined
        ? 0
        : haversineMeters(
            from.latitude as number,
            from.longitude as number,
            record.latitude as number,
            record.longitude as number,
          );
    meters.set(record.device_id, (meters.get(record.device_id) ?? 0) + step);
    last.set(record.device_id, record);
  }
  return {
    records: ordered.slice(query.offset, query.offset + query.limit),
    total: matching.length,
    devicesMatching: meters.size,
    pathMeters: query.withDistance ? [...meters].sort(([a], [b]) => compareUtf8(a, b)) : null,
  };
}

function historyDependencies(dependencies: QueryDependencies): HistoryDependencies {
  const archive = createEmptyArchive();
  const acknowledgedParts = async () => new Set<string>();
  return { ...dependencies, archive: () => archive, acknowledgedParts, lateWindow: LATE_WINDOW };
}

const PATIENT_CALLER = { signal: new AbortController().signal };

async function shown(asked: HistoryOutcome) {
  const outcome = await asked;
  if (!outcome.ok) throw new Error("memory has an answer");
  const { pages, total, devicesMatching, paths } = outcome.value;
  return {
    records: pages.flatMap(recordsOf),
    total,
    devicesMatching,
    pathMeters: paths as readonly (readonly [string, number])[] | null,
  };
}

test("history of app, user and device agrees with plain loops over plain objects", async () => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.array(historyQueries, { minLength: 1, maxLength: 5 }),
      async (reported, queries) => {
        const { plain, dependencies } = storesAfter(reported);
        const history = createHistoryQueries(historyDependencies(dependencies));
        const all = plain.records();
        for (const query of queries) {
          expect(await shown(history.ofApp(APP, query, PATIENT_CALLER))).toEqual(expectedHistory(all, query));
          for (const user of ["u", "v", "nobody"]) {
            const own = all.filter((record) => record.user_id === user);
            expect(await shown(history.ofUser(APP, user as UserId, query, PATIENT_CALLER))).toEqual(
              expectedHistory(own, query),
            );
          }
          for (const { device_id } of plain.newest()) {
            const own = all.filter((record) => record.device_id === device_id);
            expect(await shown(history.ofDevice(APP, device_id, query, PATIENT_CALLER))).toEqual(
              expectedHistory(own, query),
            );
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});

test("current positions of app and user agree with plain loops over plain objects", async () => {
  const bounds = fc.option(fc.integer({ min: -70, max: 70 }).map((step) => BASE_MS + step * 1000));
  await fc.assert(
    fc.asyncProperty(
      batches,
      bounds,
      bounds,
      fc.nat(5),
      fc.integer({ min: 1, max: 9 }),
      async (reported, afterMs, beforeMs, offset, limit) => {
        const { plain, dependencies } = storesAfter(reported);
        const current = createCurrentQueries(dependencies);
        const matching = plain
          .newest()
          .filter(
            ({ timestamp }) =>
              (afterMs === null || timestamp > afterMs) && (beforeMs === null || timestamp < beforeMs),
          );
        const query = { afterMs, beforeMs, offset, limit, view: null };
        await current.ofApp(APP, query, PATIENT_CALLER, ({ page: found, total }) => {
          expect(newestOf(found)).toEqual(matching.slice(offset, offset + limit));
          expect(total).toBe(matching.length);
        });

        for (const accuracyMetersMax of [null, 10]) {
          const own = plain
            .newest()
            .filter((record) => record.user_id === "u")
            .filter(
              (r) => accuracyMetersMax === null || !((r.horizontal_accuracy as number) > accuracyMetersMax),
            );
          const query = { ageMsMax: null, accuracyMetersMax, limit };
          const shown = await current.ofUser(APP, "u" as UserId, query, PATIENT_CALLER, newestOf);
          expect(shown).toEqual(own.slice(0, limit));
        }
      },
    ),
    { numRuns: 150 },
  );
});

/** Positions crowd the poles and both sides of ±180°, where boxes and cells go wrong first. */
const degrees = (bound: number) =>
  // No -0: reports cannot say it.
  fc.integer({ min: -bound * 1e6, max: bound * 1e6 }).map((millionths) => millionths / 1e6 + 0);
const latitudes = fc.oneof(degrees(90), fc.constantFrom(90, -90, 89.999, -89.999, 0));
const longitudes = fc.oneof(degrees(180), fc.constantFrom(180, -180, 179.9999, -179.9999, 0));
const places = fc.record({ latitude: latitudes, longitude: longitudes });

test("nearby agrees with measuring every device, as they move", () => {
  const moves = fc.array(fc.record({ device: fc.nat(25), place: places, late: fc.boolean() }), {
    maxLength: 80,
  });
  const centers = fc.array(
    fc.record({
      center: places,
      radiusMeters: fc.constantFrom(0, 10, 8000, 80_467.2),
      onDevice: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(moves, centers, fc.nat(3), (steps, questions, offset) => {
      const reports = steps.map(({ device, place, late }, step) => ({
        device_id: `d${device}`,
        timestamp: BASE_MS + (late ? -step : step) * 1000,
        ...place,
      }));
      const { plain, dependencies } = storesAfter(reports.map((report) => [report]));
      const nearby = createNearby(dependencies);
      const newest = plain.newest();
      for (const { center, radiusMeters, onDevice } of questions) {
        const around = onDevice && newest.length > 0 ? newest[0]! : center;
        const [lat, lon] = [around.latitude as number, around.longitude as number];
        const matches = newest
          .map((record) => {
            const [deviceLat, deviceLon] = [record.latitude as number, record.longitude as number];
            return {
              record,
              meters: haversineMeters(lat, lon, deviceLat, deviceLon),
              degrees: initialBearingDegrees(lat, lon, deviceLat, deviceLon),
            };
          })
          .filter(({ meters }) => meters <= radiusMeters)
          .sort((a, b) => a.meters - b.meters || compareUtf8(a.record.device_id, b.record.device_id));
        const page = matches.slice(offset, offset + 4);
        const asked = {
          latitude: lat,
          longitude: lon,
          radiusMeters,
          ageMsMax: Number.MAX_SAFE_INTEGER,
          accuracyMetersMax: null,
          offset,
          limit: 4,
        };
        const answer = nearby(APP, asked, PATIENT_CALLER, (found) => found);
        if (answer === null) {
          expect(steps).toEqual([]);
          continue;
        }
        assert(!(answer instanceof Promise), "so few are in order at once");
        const { records, count } = answer;
        const devices = [...answer.devices.subarray(0, count)];
        expect(newestOf({ records, devices })).toEqual(page.map(({ record }) => record));
        page.forEach(({ meters, degrees }, row) => {
          expect(Math.abs(answer.meters[row]! - meters)).toBeLessThan(NEAR_METERS);
          expect(turnBetween(answer.bearings[row]!, degrees)).toBeLessThan(NEAR_DEGREES);
        });
        expect(answer.matches).toBe(matches.length);
        expect(answer.candidates).toBeGreaterThanOrEqual(matches.length);
      }
    }),
    { numRuns: 200 },
  );
});

test("a deep page is found by counting spans of time, whatever the order and the filter", async () => {
  const reports = Array.from({ length: 9000 }, (_, i) => ({
    device_id: `d${i % 7}`,
    timestamp: BASE_MS + Math.floor(i / 21) * 10,
    latitude: i / 100,
    longitude: 0,
    horizontal_accuracy: i % 3,
  })).filter(({ device_id, timestamp }, i) =>
    i % 21 < 7 ? true : device_id !== "" && timestamp % 20 === 0 && i % 2 === 0,
  );
  const { plain, dependencies } = storesAfter([reports.slice(0, 3000), reports.slice(3000)]);
  const history = createHistoryQueries(historyDependencies(dependencies));
  const range = { startMs: BASE_MS, endMs: BASE_MS + 86_400_000 };
  const all = plain.records();
  for (const order of ["asc", "desc"] as const) {
    for (const accuracyMetersMax of [null, 1]) {
      for (const offset of [0, 4075, 4076, 4077, 4500, all.length - 3, all.length + 1]) {
        const query = { range, order, offset, limit: 20, accuracyMetersMax, withDistance: false };
        expect(await shown(history.ofApp(APP, query, PATIENT_CALLER))).toEqual(expectedHistory(all, query));
      }
    }
  }
});

test("a device that goes to another user while the devices of one are looked at is not shown as theirs", async () => {
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  const reportOf = (device: number, user_id: string, timestamp: number) => {
    return { device_id: `d${1e6 + device}`, user_id, timestamp, latitude: 1, longitude: 2 };
  };
  for (let first = 0, sequence = 0; first < 150_000; first += 10_000) {
    const reports = Array.from({ length: 10_000 }, (_, row) => reportOf(first + row, "ann", BASE_MS));
    hot.apply(APP, batchOf(reports), ++sequence);
  }
  const clock = createManualClock(BASE_MS);
  const { ofUser } = createCurrentQueries({ hot, clock, retention: DEFAULT_RETENTION, scheduler });
  const query = { ageMsMax: null, accuracyMetersMax: 5, limit: 150_000 };
  const caller = { signal: new AbortController().signal };
  const ask = () => ofUser(APP, "ann" as UserId, query, caller, usersOf);
  await ask(); // Their list is in order from here on.
  const users = ask();
  expect(users).toBeInstanceOf(Promise); // It takes more than a turn.
  hot.apply(APP, batchOf([reportOf(0, "bob", BASE_MS + 1)]), 100);
  expect(await users).toEqual(["ann"]);
});

test("a device that goes to another user before a promise of what was found is heard is not shown as theirs", async () => {
  let nowMs = 0;
  let isSlow = true;
  const scheduler = new Scheduler(() => (isSlow ? nowMs++ * 10 : nowMs));
  const hot = createHotStore(scheduler);
  const reportOf = (device: number, user_id: string, timestamp: number) => {
    return { device_id: `d${device}`, user_id, timestamp, latitude: 1, longitude: 2 };
  };
  hot.apply(APP, batchOf(Array.from({ length: 1000 }, (_, device) => reportOf(device, "ann", BASE_MS))), 1);
  const clock = createManualClock(BASE_MS);
  const { ofUser } = createCurrentQueries({ hot, clock, retention: DEFAULT_RETENTION, scheduler });
  const query = { ageMsMax: null, accuracyMetersMax: null, limit: 1000 };
  const users = ofUser(APP, "ann" as UserId, query, PATIENT_CALLER, usersOf);
  expect(users).toBeInstanceOf(Promise); // Their devices have to be put in order.
  isSlow = false; // The rest and what comes behind it fit into one turn.
  const goes = () => hot.apply(APP, batchOf([reportOf(7, "bob", BASE_MS + 1)]), 2);
  await Promise.all([users, scheduler.run(APP, inOneStep(goes))]);
  expect(await users).toEqual(["ann"]);
});

function usersOf(found: DeviceMatches | null) {
  return [...new Set(newestOf(found).map(({ user_id }) => user_id))];
}
