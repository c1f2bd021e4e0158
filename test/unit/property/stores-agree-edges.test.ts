import { afterAll, expect, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { expectSameAnswers } from "../../support/answers/same-answers.ts";
import { createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import type { Report } from "../../support/reports/batches.ts";

/**
 * Goal: the same answers from memory and from the archive where days are hard: clocks change, a zone's day lies half
 * in each store, a day leaves the window, a day leaves the retention. Method: reports every 20 minutes around the
 * edge go to a service that never seals and to one that does; the clock is turned over the edge hour by hour.
 */

afterAll(removeArchiveApps);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEP_MS = 20 * 60_000;

/** Two devices that change hands at noon, three days around `middleMs`. */
function reportsAround(middleMs: number): Report[] {
  const reports: Report[] = [];
  for (let timestamp = middleMs - 36 * HOUR_MS; timestamp < middleMs + 36 * HOUR_MS; timestamp += STEP_MS) {
    const step = (timestamp - middleMs) / STEP_MS;
    for (const device_id of ["a", "b"]) {
      const user_id = Math.floor(timestamp / (DAY_MS / 2)) % 2 === 0 ? "u" : "v";
      const place = {
        latitude: 50 + step / 500,
        longitude: device_id === "a" ? 10 : 179.99 + (step % 2) / 100,
      };
      reports.push({ device_id, timestamp, user_id, horizontal_accuracy: Math.abs(step) % 60, ...place });
    }
  }
  return reports;
}

function pathsOn(dates: readonly string[], zone: string): string[] {
  const common = `&timezone=${encodeURIComponent(zone)}&limit=1000`;
  return dates.flatMap((date) => {
    const day = `start_date=${date}&end_date=${date}${common}`;
    return [
      `/api/v1/devices/a/locations/history?${day}&distance_travelled=true`,
      `/api/v1/devices/b/locations/history?${day}&distance_travelled=true&min_accuracy=30&order=desc`,
      `/api/v1/users/u/locations/history?${day}&distance_travelled=true`,
      `/api/v1/users/v/locations/history?${day}&offset=20&order=desc`,
      `/api/v1/locations/history?${day}&offset=70`,
      `/api/v1/locations/history?start_date=${dates[0]}&end_date=${date}${common}&order=desc&offset=100`,
    ];
  });
}

const CASES = [
  { zone: "Europe/Berlin", change: "2025-03-30", dates: ["2025-03-29", "2025-03-30", "2025-03-31"] },
  { zone: "America/New_York", change: "2025-11-02", dates: ["2025-11-01", "2025-11-02", "2025-11-03"] },
  { zone: "Asia/Kathmandu", change: "2025-07-01", dates: ["2025-06-30", "2025-07-01", "2025-07-02"] },
  { zone: "Australia/Lord_Howe", change: "2025-04-06", dates: ["2025-04-05", "2025-04-06", "2025-04-07"] },
];

for (const { zone, change, dates } of CASES) {
  test(`days around ${change} in ${zone} are the same while they leave the window`, async () => {
    const changeMs = Date.parse(change);
    const clock = createManualClock(changeMs + 7 * DAY_MS - 20 * HOUR_MS);
    const memory = await createArchiveApp({ clock });
    const sealing = await createArchiveApp({ clock });
    for (const app of [memory, sealing]) await app.store(reportsAround(changeMs));
    const sources = new Set<unknown>();
    for (let hour = 0; hour < 81; hour += 9) {
      await sealing.seal();
      await expectSameAnswers(memory, [sealing], pathsOn(dates, zone));
      const path = `/api/v1/users/u/locations/history?start_date=${dates[1]}&end_date=${dates[1]}&timezone=${zone}`;
      sources.add((await sealing.get(path)).body.query_info.source);
      clock.advance(9 * HOUR_MS);
    }
    expect([...sources].sort()).toEqual(["archive", "hot", "hot+archive"]);
    for (const app of [memory, sealing]) await app.close();
  });
}

test("days leave the retention at the same midnight from either store, and are there again if the clock is set back", async () => {
  const middleMs = Date.UTC(2025, 4, 10);
  const clock = createManualClock(middleMs + 2 * DAY_MS);
  const memory = await createArchiveApp({ clock });
  let sealing = await createArchiveApp({ clock });
  for (const app of [memory, sealing]) await app.store(reportsAround(middleMs));
  const dates = ["2025-05-08", "2025-05-09", "2025-05-10", "2025-05-11"];
  const paths = [
    ...pathsOn(dates, "America/New_York"),
    "/api/v1/devices/a/locations/current",
    "/api/v1/users/u/devices",
  ];
  clock.advance(20 * DAY_MS);
  await sealing.seal();
  const monthLaterMs = clock.nowMs();
  for (let hour = 0; hour < 84; hour += 12) {
    clock.set(middleMs + 364 * DAY_MS + hour * HOUR_MS);
    await expectSameAnswers(memory, [sealing], paths);
    await sealing.seal();
    await expectSameAnswers(memory, [sealing], paths);
  }
  expect(sealing.directory.archive.manifest.expired.size).toBeGreaterThan(0);
  sealing = await sealing.restart();
  await expectSameAnswers(memory, [sealing], paths);
  clock.set(monthLaterMs);
  await sealing.seal();
  // What was deleted a day after it went is gone for good; the last two days were only aside.
  await expectSameAnswers(memory, [sealing], pathsOn(["2025-05-11"], "America/New_York"));
  for (const app of [memory, sealing]) await app.close();
});
