import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { type LocalDate, localDays } from "../../../../../src/model/time/range.ts";
import { parseZone } from "../../../../../src/model/time/zone.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import * as fc from "../../../../support/fast-check.ts";
import { createTestApp } from "../../../../support/test-app.ts";
import { paths } from "../../../service/queries/paths.ts";

/** What a device did day by day, wherever its records lie. */

afterAll(removeArchiveApps);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Clocks in Europe/Berlin go forward on the second day, which has 23 hours. */
const FIRST_MS = Date.UTC(2026, 2, 28);
const NOW_MS = FIRST_MS + 9 * DAY_MS + 5 * HOUR_MS;
const [START, END] = ["2026-03-27", "2026-04-07"] as LocalDate[] as [LocalDate, LocalDate];

interface Day {
  readonly date: string;
  readonly reports: number;
}

async function daysOf(app: Pick<ArchiveApp, "get">, zone: string): Promise<readonly Day[]> {
  const range = `start_date=${START}&end_date=${END}&timezone=${encodeURIComponent(zone)}`;
  const { status, body } = await app.get(`/api/v1/devices/van/days?${range}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return (body as unknown as { days: readonly Day[] }).days;
}

/** The days as two other endpoints have them: stops and history, asked for each day alone. */
async function obviousDays(app: Pick<ArchiveApp, "get">, zone: string): Promise<readonly unknown[]> {
  const days: unknown[] = [];
  for (const { date, range } of localDays(START, END, parseZone(zone)!)) {
    const history = await app.get(
      `/api/v1/devices/van/locations/history?start_date=${date}&end_date=${date}&limit=1000&timezone=${encodeURIComponent(zone)}`,
    );
    const records = history.body.locations as readonly { timestamp: number; speed?: number }[];
    if (records.length === 0) continue;
    const { body } = await app.get(`/api/v1/devices/van/stops?start=${range.startMs}&end=${range.endMs}`);
    const { stops, distance_meters, moving_seconds } = body as unknown as {
      stops: readonly unknown[];
      distance_meters: number;
      moving_seconds: number;
    };
    const speeds = records.flatMap(({ speed }) => speed ?? []);
    days.push({
      date,
      reports: records.length,
      distance_meters,
      moving_seconds,
      stops: stops.length,
      ...(speeds.length === 0 ? {} : { speed_max: Math.max(...speeds) }),
      first: records[0]!.timestamp,
      last: records.at(-1)!.timestamp,
    });
  }
  return days;
}

const batch = fc
  .record({
    positions: paths,
    fromMs: fc.integer({ min: 0, max: 9 * 24 }).map((hours) => FIRST_MS + hours * HOUR_MS - 20 * 60_000),
    speeds: fc.array(fc.constantFrom(0, 3.5, 33, null), { minLength: 1, maxLength: 3 }),
  })
  .map(({ positions, fromMs, speeds }) =>
    positions.map(({ timestampMs, latitude, longitude }, index) => {
      const speed = speeds[index % speeds.length]!;
      const timestamp = fromMs + timestampMs - positions[0]!.timestampMs;
      return {
        device_id: "van",
        timestamp,
        latitude,
        longitude,
        ...(speed === null ? {} : { speed }),
      };
    }),
  );

test("days are as stops and histories of each day have them, through any story of reports and seals", async () => {
  const story = fc.array(fc.record({ reports: batch, seals: fc.boolean() }), { minLength: 1, maxLength: 4 });
  const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/Los_Angeles", "+05:30");
  await fc.assert(
    fc.asyncProperty(story, zone, async (steps, zone) => {
      const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
      try {
        for (const { reports, seals } of steps) {
          await app.store(reports);
          if (seals) await app.seal();
          const expected = await obviousDays(app, zone);
          expect(await daysOf(app, zone)).toEqual(expected as Day[]);
          expect(await daysOf(app, zone)).toEqual(expected as Day[]); // Some are remembered by now.
        }
      } finally {
        await app.close();
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 60_000);

const reportAt = (timestamp: number) => ({ device_id: "van", timestamp, latitude: 53.4, longitude: -2.98 });

test("a day that no longer changes is read once, and read again after a late report", async () => {
  const clock = createManualClock(NOW_MS);
  const app = await createArchiveApp({ clock });
  try {
    await app.store([reportAt(FIRST_MS), reportAt(FIRST_MS + 1000)]);
    await app.seal();
    const before = await daysOf(app, "UTC");
    expect(before).toMatchObject([{ date: "2026-03-28", reports: 2 }]);
    await app.store([reportAt(FIRST_MS + 2000)]);
    expect(await daysOf(app, "UTC")).toMatchObject([{ date: "2026-03-28", reports: 3 }]);
    await app.seal();
    expect(await daysOf(app, "UTC")).toMatchObject([{ date: "2026-03-28", reports: 3 }]);
    rmSync(join(app.dataDir, "archive", "day=2026-03-28"), { recursive: true });
    expect(await daysOf(app, "UTC")).toMatchObject([{ date: "2026-03-28", reports: 3 }]);
    // Another zone has other days, which were not read yet.
    const other = await app.get(
      "/api/v1/devices/van/days?start_date=2026-03-28&end_date=2026-03-28&timezone=%2B01:00",
    );
    expect(other.status).toBe(500);
  } finally {
    await app.close();
  }
});

test("a day with late reports and corrections is read once, and read again after each change", async () => {
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  const removeFiles = () => rmSync(join(app.dataDir, "archive", "day=2026-03-28"), { recursive: true });
  try {
    await app.store([reportAt(FIRST_MS), reportAt(FIRST_MS + 1000)]);
    await app.seal();
    await app.store([reportAt(FIRST_MS + 2000)]);
    expect(await daysOf(app, "UTC")).toMatchObject([{ reports: 3 }]);
    await app.store([reportAt(FIRST_MS + 3000)]);
    expect(await daysOf(app, "UTC")).toMatchObject([{ reports: 4 }]);
    const action = { action: "shift_time", device_id: "van", timestamps: [FIRST_MS + 1000], by_ms: 60_000 };
    const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(action) };
    expect((await app.fetch("/api/v1/corrections", request)).status).toBe(200);
    expect(await daysOf(app, "UTC")).toMatchObject([{ reports: 4, last: FIRST_MS + 61_000 }]);
    removeFiles();
    expect(await daysOf(app, "UTC")).toMatchObject([{ reports: 4, last: FIRST_MS + 61_000 }]);
  } finally {
    await app.close();
  }
});

test("days that the retention cuts off hold what it leaves of them", async () => {
  const clock = createManualClock(NOW_MS);
  const app = await createArchiveApp({ clock });
  try {
    const midnightMs = Date.UTC(2026, 2, 28);
    await app.store([reportAt(midnightMs - 1000), reportAt(midnightMs + 1000), reportAt(NOW_MS)]);
    await app.seal();
    const zone = "-06:00"; // Both are of the local day before.
    expect(await daysOf(app, zone)).toMatchObject([{ date: "2026-03-27", reports: 2 }, { reports: 1 }]);
    clock.set(midnightMs + 365 * DAY_MS + HOUR_MS);
    await app.store([reportAt(clock.nowMs())]);
    expect(await daysOf(app, zone)).toMatchObject([{ date: "2026-03-27", reports: 1 }, { reports: 1 }]);
  } finally {
    await app.close();
  }
});

test("a range that runs backward or is longer than 366 days is refused, and so is an unknown device", async () => {
  const app = await createTestApp();
  await app.store([reportAt(app.clock.nowMs())]);
  const ask = (device: string, range: string) => app.get(`/api/v1/devices/${device}/days?${range}`);
  expect((await ask("van", "start_date=2026-01-02&end_date=2026-01-01")).status).toBe(400);
  expect((await ask("van", "start_date=2025-01-01&end_date=2026-01-02")).status).toBe(400);
  expect((await ask("van", "timezone=Mars/Olympus")).status).toBe(400);
  expect((await ask("nope", "")).status).toBe(404);
  expect((await ask("van", "")).body as unknown).toMatchObject({ timezone: "UTC", days: [{ reports: 1 }] });
});
