import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { findTimeline } from "../../../../src/hot/scan/timeline.ts";
import { readTracks } from "../../../../src/hot/scan/track-page.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { UserId } from "../../../../src/model/ids.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";

/* The days of users with a few devices, which often report at one instant, against a sorted list. */

const BASE_MS = Date.UTC(2026, 0, 14);
const USER = "anna" as UserId;

function storeWith(reports: readonly Report[]) {
  const hot = createHotStore(new Scheduler());
  hot.apply(APP, batchOf(reports), 1);
  const devices = hot.findApp(APP)!.users.devicesWithRecords(() => hot.dictionary.findUser(USER));
  return { hot, devices };
}

function reportOf(device: number, ms: number, user_id: string = USER): Report {
  return { device_id: `d${device}`, timestamp: BASE_MS + ms, latitude: 1, longitude: 2, user_id };
}

test("a user's page is that of a sorted list, whether or not others had the devices, at any offset", () => {
  const reportsOf = (...users: readonly string[]) =>
    fc.array(fc.tuple(fc.nat(6), fc.nat(60), fc.constantFrom(...users)), { minLength: 1, maxLength: 120 });
  const reports = fc.oneof(reportsOf(USER), reportsOf(USER, USER, USER, "bert"));
  fc.assert(
    fc.property(reports, fc.nat(50), fc.nat(40), fc.nat(130), fc.nat(40), (made, from, ms, offset, limit) => {
      const byInstant = new Map(made.map(([device, at, user]) => [`${device} ${at}`, { device, at, user }]));
      const { hot, devices } = storeWith(made.map(([device, at, user]) => reportOf(device, at, user)));
      const range = { startMs: BASE_MS + from, endMs: BASE_MS + from + ms };
      const theirs = [...byInstant.values()].filter(
        ({ at, user }) => user === USER && at >= from && at < from + ms,
      );
      const sorted = theirs.sort((a, b) => a.at - b.at || a.device - b.device);
      const scan = hot.scan({ devices, range, userId: USER, accuracyMetersMax: null });
      for (const order of ["asc", "desc"] as const) {
        const found = findTimeline(scan, order, offset, limit).next();
        if (found.done !== true) throw new Error("a few records are one step");
        const { page, total, devices: matching } = found.value;
        expect(page.deviceIds.map((id, row) => [String(id), page.timestampMs[row]! - BASE_MS])).toEqual(
          sorted.slice(offset, offset + limit).map(({ device, at }) => [`d${device}`, at]),
        );
        expect(total).toBe(sorted.length);
        expect(matching).toBe(new Set(sorted.map(({ device }) => device)).size);
        sorted.reverse();
      }
    }),
    { numRuns: 500 },
  );
});

test("a user's page is that of a sorted list when its range begins and ends within the chunks of long tracks", () => {
  const counts = fc.array(fc.constantFrom(1, 40, 300), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(
      counts,
      fc.nat(300),
      fc.nat(300),
      fc.nat(300),
      fc.nat(100),
      (counts, from, ms, offset, limit) => {
        const reports = counts.flatMap((count, device) =>
          Array.from({ length: count }, (_, at) => reportOf(device, at)),
        );
        const { hot, devices } = storeWith(reports);
        const range = { startMs: BASE_MS + from, endMs: BASE_MS + from + ms };
        const keys = counts
          .flatMap((count, device) => Array.from({ length: count }, (_, at) => ({ device, at })))
          .filter(({ at }) => at >= from && at < from + ms)
          .sort((a, b) => a.at - b.at || a.device - b.device);
        const scan = hot.scan({ devices, range, userId: USER, accuracyMetersMax: null });
        for (const order of ["asc", "desc"] as const) {
          const { page, total } = readTracks(scan, order, offset, limit)!;
          expect(page.deviceIds.map((id, row) => [String(id), page.timestampMs[row]! - BASE_MS])).toEqual(
            keys.slice(offset, offset + limit).map(({ device, at }) => [`d${device}`, at]),
          );
          expect(total).toBe(keys.length);
          keys.reverse();
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("readTracks() leaves users with many devices, and devices that others had, to those who look at each record", () => {
  const day = { startMs: BASE_MS, endMs: BASE_MS + 86_400_000 };
  const read = (reports: readonly Report[]) => {
    const { hot, devices } = storeWith(reports);
    const scan = hot.scan({ devices, range: day, userId: USER, accuracyMetersMax: null });
    return readTracks(scan, "asc", 0, 10)?.page.count ?? null;
  };
  const devices = (count: number) => Array.from({ length: count }, (_, device) => reportOf(device, 0));
  expect(read(devices(8))).toBe(8);
  expect(read(devices(9))).toBe(null);
  expect(read([...devices(2), reportOf(0, 1, "bert")])).toBe(null);
});
