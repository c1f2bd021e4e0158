import { afterAll, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { expectSameAnswers } from "../../support/answers/same-answers.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../support/reports/arbitrary-reports.ts";

/**
 * Goal: nobody can tell where a record is kept. The same reports go to three services: one keeps everything in
 * memory, one seals after every step, one seals, restarts and waits as chance has it, and lays late rows over archived
 * ones a few at a time. Late, repeated and replacing
 * reports come in between. Then every endpoint is asked the same questions of all three: the answers must be the
 * same bytes, apart from `query_info` and `total_estimated`.
 */

afterAll(removeArchiveApps);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A week after the reports' midnight: the day before it is due to be sealed, the day after it is not. */
const AT_WINDOW_EDGE_MS = BASE_MS + 7 * DAY_MS + 12 * HOUR_MS;

/** Few devices and instants on both sides of midnight, so that most reports meet a record that is there. */
const report = fc
  .tuple(
    arbitraryReport,
    fc.constantFrom("a", "ä", "\u{1F68C}"),
    fc.constantFrom(-3_600_000, -60_000, -1, 0, 1, 60_000),
  )
  .map(([any, device_id, stepMs]) => ({ ...any, device_id, timestamp: BASE_MS + stepMs }));

const steps = fc.array(
  fc.record({
    reports: fc.array(report, { minLength: 1, maxLength: 12 }),
    mixSeals: fc.boolean(),
    mixRestarts: fc.boolean(),
    hours: fc.constantFrom(0, 0, 6, 24),
  }),
  { minLength: 1, maxLength: 5 },
);

const DATES = ["2026-01-13", "2026-01-14", "2026-01-15", "2026-01-16"];
const ZONES = ["", "Asia/Kolkata", "-11:00", "Pacific/Kiritimati"];
const DEVICES = ["a", "ä", "\u{1F68C}", "nobody"];
const USERS = ["u", "v", "nobody"];

const questions = fc.array(
  fc.record({
    from: fc.nat(DATES.length - 1),
    days: fc.nat(3),
    zone: fc.constantFrom(...ZONES),
    order: fc.constantFrom("asc", "desc"),
    offset: fc.constantFrom(0, 0, 1, 3, 9, 40),
    limit: fc.constantFrom(1, 2, 7, 100),
    accuracy: fc.constantFrom("", "0", "4.8", "50"),
    device: fc.constantFrom(...DEVICES),
    user: fc.constantFrom(...USERS),
  }),
  { minLength: 3, maxLength: 6 },
);

/** The question to each history endpoint, and to those of current positions. */
function pathsOf(question: {
  from: number;
  days: number;
  zone: string;
  order: string;
  offset: number;
  limit: number;
  accuracy: string;
  device: string;
  user: string;
}): string[] {
  const { from, days, zone, order, offset, limit, accuracy, device, user } = question;
  const end = Math.min(from + days, DATES.length - 1);
  const base = new URLSearchParams({
    start_date: DATES[from]!,
    end_date: DATES[end]!,
    order,
    offset: String(offset),
    limit: String(limit),
    ...(zone === "" ? {} : { timezone: zone }),
  });
  const filtered = new URLSearchParams({
    ...Object.fromEntries(base),
    ...(accuracy === "" ? {} : { min_accuracy: accuracy }),
  });
  const distance = from === end ? "&distance_travelled=true" : "";
  const [deviceId, userId] = [encodeURIComponent(device), encodeURIComponent(user)];
  return [
    `/api/v1/devices/${deviceId}/locations/history?${filtered}${distance}`,
    `/api/v1/users/${userId}/locations/history?${base}${distance}`,
    `/api/v1/locations/history?${filtered}`,
    `/api/v1/devices/${deviceId}/locations/current`,
    `/api/v1/devices/${deviceId}/track?start=${Date.parse(DATES[from]!)}&end=${Date.parse(DATES[end]!) + DAY_MS}`,
    `/api/v1/users/${userId}/locations/current?limit=${limit}`,
    `/api/v1/users/${userId}/devices`,
    `/api/v1/locations/current?offset=${offset}&limit=${limit}`,
    "/api/v1/devices/nearby?latitude=42.36&longitude=-71.05&max_age_hours=9000",
  ];
}

test("answers are the same bytes whether records lie in memory, in the archive or in both", async () => {
  await fc.assert(
    fc.asyncProperty(steps, questions, async (story, asked) => {
      const clock = createManualClock(AT_WINDOW_EDGE_MS);
      const tight = { lateWindow: { firstRows: 1, rowsMax: 3 } };
      const apps = await Promise.all([{}, {}, tight].map((more) => createArchiveApp({ clock, ...more })));
      let [memory, sealed, mixed] = apps as [ArchiveApp, ArchiveApp, ArchiveApp];
      try {
        for (const step of story) {
          for (const app of [memory, sealed, mixed]) await app.store(step.reports);
          await sealed.seal();
          if (step.mixSeals) await mixed.seal();
          if (step.mixRestarts) mixed = await mixed.restart();
          await expectSameAnswers(memory, [sealed, mixed], asked.flatMap(pathsOf));
          clock.advance(step.hours * HOUR_MS);
        }
        sealed = await sealed.restart();
        await expectSameAnswers(memory, [sealed, mixed], asked.flatMap(pathsOf));
      } finally {
        for (const app of [memory, sealed, mixed]) await app.close();
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
});
