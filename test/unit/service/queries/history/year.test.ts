import { afterAll, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import type { Report } from "../../../../support/reports/batches.ts";

/**
 * Goal: a service that runs for more than a year answers questions about any day of the last 365 and no other,
 * while memory and log stay as small as they were. Method: the Liverpool buses drive every eighth day, with the clock
 * turned by hand, sealing as it goes; a phone reports once and falls silent.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const STEP_DAYS = 8;
const START_MS = Date.UTC(2025, 0, 1);
const STEPS = 48; // 384 days.
const TRACK = "data/samples/bus_liverpool_route14_20260126.csv.gz";

/** The track's reports by their time of day. */
async function readTrack(): Promise<Report[]> {
  const file = new URL(`../../../../../${TRACK}`, import.meta.url);
  const [, ...lines] = gunzipSync(await Bun.file(file).bytes())
    .toString()
    .trim()
    .split("\n");
  return lines.map((line) => {
    const [device_id, timestamp, latitude, longitude] = line.split(",");
    return {
      device_id,
      timestamp: Number(timestamp) % DAY_MS,
      latitude: Number(latitude),
      longitude: Number(longitude),
      user_id: `driver-of-${device_id}`,
    };
  });
}

function movedTo(track: readonly Report[], dayMs: number): Report[] {
  return track.map((report) => ({ ...report, timestamp: dayMs + Number(report.timestamp) }));
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

async function countOn(app: ArchiveApp, dayMs: number): Promise<unknown> {
  const date = dateOf(dayMs);
  const { body } = await app.get(
    `/api/v1/users/driver-of-4836/locations/history?start_date=${date}&end_date=${date}`,
  );
  return body.pagination.total_estimated;
}

test("a year of buses: every day is there, memory and log stay small, and what is too old goes", async () => {
  const track = await readTrack();
  const perDay = track.filter(({ device_id }) => device_id === "4836").length;
  const clock = createManualClock(START_MS);
  let app = await createArchiveApp({ clock });
  const seen = { records: [] as number[], logBytes: [] as number[] };
  await app.store([
    { device_id: "phone", timestamp: START_MS, latitude: 53.4, longitude: -2.9, user_id: "walker" },
  ]);
  for (let step = 0; step < STEPS; step++) {
    const dayMs = START_MS + step * STEP_DAYS * DAY_MS;
    clock.set(dayMs + DAY_MS);
    const reports = movedTo(track, dayMs);
    await app.store(reports.slice(0, -100));
    if (step > 3)
      await app.store(movedTo(track.slice(-100), dayMs - 2 * STEP_DAYS * DAY_MS)); // Sixteen days late.
    else await app.store(reports.slice(-100));
    await app.seal();
    seen.records.push(app.directory.hot.recordCount);
    seen.logBytes.push(app.directory.log.bytes);
    if (step === 25) {
      app = await app.restart();
      expect(app.directory.recovery.records).toBeLessThan(4 * track.length); // What is sealed is not read again.
    }
    if (step === 38) {
      const { body } = await app.get("/api/v1/devices/phone/locations/current");
      expect(body.location.timestamp).toBe(START_MS); // Silent for ten months.
      const { body: devices } = await app.get("/api/v1/users/walker/devices");
      expect(devices.devices.map(({ device_id }) => device_id)).toEqual(["phone"]);
    }
  }

  const nowMs = clock.nowMs();
  for (const back of [0, 1, 2, 10, 30, 44]) {
    const dayMs = START_MS + (STEPS - 1 - back) * STEP_DAYS * DAY_MS;
    const isComplete = back >= 2; // The newest two days wait for their late reports.
    if (isComplete) expect([back, await countOn(app, dayMs)]).toEqual([back, perDay]);
    else expect(Number(await countOn(app, dayMs))).toBeGreaterThan(0);
  }
  expect(await countOn(app, START_MS)).toBe(0);
  expect((await app.get("/api/v1/devices/phone/locations/current")).status).toBe(404);
  const oldest = Math.min(...[...app.directory.archive.manifest.days.keys()]);
  expect(oldest * DAY_MS).toBeGreaterThanOrEqual(nowMs - 366 * DAY_MS);
  expect(Math.max(...seen.records.slice(10))).toBeLessThanOrEqual(
    Math.max(...seen.records.slice(4, 10)) * 1.1,
  );
  expect(Math.max(...seen.logBytes.slice(10))).toBeLessThanOrEqual(
    Math.max(...seen.logBytes.slice(4, 10)) * 1.1,
  );
  expect(app.directory.hot.deviceCount).toBe(8);
  await app.close();
}, 60_000);
