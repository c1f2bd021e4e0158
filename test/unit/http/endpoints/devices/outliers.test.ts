import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { OUTLIERS_MAX } from "../../../../../src/model/geo/outliers.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import * as fc from "../../../../support/fast-check.ts";
import { createTestApp, NOON_MS } from "../../../../support/test-app.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";
import { obviousOutliers, percentile99 } from "../../../model/geo/obvious-outliers.ts";
import { paths } from "../../../service/queries/paths.ts";

/** Which positions of a device are suggested for hiding, wherever its records are. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const OUTLIERS = "/api/v1/devices/van/outliers";
const FROM_MS = NOON_MS - 3_600_000;
const RANGE = `start=${FROM_MS}&end=${NOON_MS}`;

interface OutliersBody {
  readonly max_speed: number;
  readonly total: number;
  readonly incomplete?: boolean;
  readonly outliers: readonly { readonly timestamp: number; readonly reason: string }[];
}

/** Reports every 10 s. Each is this far north, in hundredths of a degree, which are 1.1 km each. */
function reportsOf(steps: readonly number[], fromMs = FROM_MS) {
  return steps.map((step, index) => ({
    device_id: "van",
    timestamp: fromMs + 10_000 * index,
    latitude: 53 + step / 100,
    longitude: -3,
  }));
}

async function outliersOf(app: Pick<ArchiveApp, "get">, query: string): Promise<OutliersBody> {
  const { status, body } = await app.get(`${OUTLIERS}?${query}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as unknown as OutliersBody;
}

const indexesOf = ({ outliers }: OutliersBody) =>
  outliers.map(({ timestamp }) => (timestamp - FROM_MS) / 10_000);

test("the outliers of a van, to the letter", async () => {
  const app = await createTestApp();
  const reports = reportsOf([0, 0.1, 10, 0.1, 0.2, 0.3, 0.4]);
  reports[4] = { ...reports[4]!, latitude: 0, longitude: 0 };
  await app.store([...reports.slice(0, 5), { ...reports[5]!, horizontal_accuracy: 900 }, reports[6]!]);
  const { status, body } = await app.get(`${OUTLIERS}?${RANGE}&max_accuracy=100`);
  expect(status).toBe(200);
  expect(body as unknown).toEqual({
    success: true,
    device_id: "van",
    max_speed: 70,
    total: 3,
    outliers: [
      {
        ...{ timestamp: FROM_MS + 20_000, latitude: 53.1, longitude: -3 },
        ...{ reason: "jump", speed_mps: expect.closeTo(1100.8, 0) },
      },
      { timestamp: FROM_MS + 40_000, latitude: 0, longitude: 0, reason: "zero_position" },
      { timestamp: FROM_MS + 50_000, latitude: 53.003, longitude: -3, reason: "inaccurate" },
    ],
  });
});

test("a limit of one's own is applied as it is, the usual one suits the device", async () => {
  const app = await createTestApp();
  // A plane at 222 m/s, with one position far ahead.
  await app.store(reportsOf(Array.from({ length: 60 }, (_, i) => (i === 30 ? 500 : 2 * i))));
  const usual = await outliersOf(app, RANGE);
  expect([usual.max_speed > 5 * 222, usual.max_speed < 5 * 222 * 1.02]).toEqual([true, true]);
  expect(indexesOf(usual)).toEqual([30]);
  const strict = await outliersOf(app, `${RANGE}&max_speed=70.5`);
  expect([strict.max_speed, strict.total]).toEqual([70.5, 0]);
  expect((await outliersOf(app, `${RANGE}&max_speed=100000`)).total).toBe(0);
});

test("neighbors are those of the range", async () => {
  const app = await createTestApp();
  await app.store(reportsOf([0, 10, 0, 0, 10, 0]));
  expect(indexesOf(await outliersOf(app, RANGE))).toEqual([1, 4]);
  expect(indexesOf(await outliersOf(app, `start=${FROM_MS + 10_000}&end=${NOON_MS}`))).toEqual([4]);
  expect(indexesOf(await outliersOf(app, `start=${FROM_MS}&end=${FROM_MS + 50_000}`))).toEqual([1]);
});

test("of very many outliers the oldest are listed, and all are counted", async () => {
  const app = await createTestApp();
  const reports = reportsOf(
    Array.from({ length: 2 * OUTLIERS_MAX + 101 }, (_, i) => (i % 2 === 0 ? 0 : 10)),
    NOON_MS - DAY_MS,
  );
  for (let from = 0; from < reports.length; from += 1000) await app.store(reports.slice(from, from + 1000));
  const { total, outliers } = await outliersOf(app, `start=${NOON_MS - DAY_MS}&end=${NOON_MS}`);
  expect([total, outliers.length]).toEqual([OUTLIERS_MAX + 50, OUTLIERS_MAX]);
  expect(outliers.at(-1)!.timestamp).toBe(reports[2 * OUTLIERS_MAX - 1]!.timestamp);
});

test.each([
  ["start=1", "end is required"],
  ["start=5&end=5", "start must be before end"],
  [`start=1&end=${1 + 31 * DAY_MS + 1}`, "start to end must be at most 31 days"],
  ["start=1&end=2&max_speed=0.5", "max_speed must be between 1 and 1000000"],
  ["start=1&end=2&max_accuracy=-1", "max_accuracy must be between 0 and 10000000"],
])("outliers refuse %s", async (query, message) => {
  const app = await createTestApp();
  await app.store(reportsOf([0]));
  const { status, body } = await app.get(`${OUTLIERS}?${query}`);
  expect([status, body.message]).toEqual([400, message]);
});

test("there are no outliers of a device that the app doesn't have", async () => {
  const app = await createTestApp();
  const { status, body } = await app.get(`${OUTLIERS}?start=1&end=2`);
  expect([status, body.success]).toEqual([404, false]);
});

describe("in the archive", () => {
  const NOW_MS = Date.UTC(2026, 0, 28, 12);
  const MIDNIGHT_MS = Date.UTC(2026, 0, 21);
  const AROUND = `start=${MIDNIGHT_MS - 10 * DAY_MS}&end=${MIDNIGHT_MS + 10 * DAY_MS}`;

  test("outliers are what they were in memory, late reports laid over", async () => {
    await fc.assert(
      fc.asyncProperty(paths, fc.array(fc.nat(9), { minLength: 100 }), async (positions, kinds) => {
        const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
        try {
          // Around the midnight between a day that is sealed and one that is not.
          const shiftMs = MIDNIGHT_MS - positions[Math.floor(positions.length / 2)]!.timestampMs;
          const reports = positions.map(({ timestampMs, latitude, longitude }, i) => ({
            device_id: "van",
            timestamp: timestampMs + shiftMs,
            latitude: kinds[i] === 1 ? latitude / 2 : latitude,
            longitude,
            horizontal_accuracy: kinds[i]! * 10,
          }));
          const isLate = (_: unknown, i: number) => kinds[i]! % 2 === 0;
          await app.store([reports[0]!, ...reports.filter((report, i) => !isLate(report, i))]);
          await app.seal();
          const late = reports.filter(isLate);
          if (late.length > 0) await app.store(late);
          const fixes = reports.map(({ timestamp, horizontal_accuracy, ...at }) => ({
            ...{ ...at, timestampMs: timestamp, accuracy: horizontal_accuracy },
          }));
          for (const accuracyMetersMax of [null, 60]) {
            const accuracy = accuracyMetersMax === null ? "" : `&max_accuracy=${accuracyMetersMax}`;
            const body = await outliersOf(app, `${AROUND}${accuracy}`);
            const { outliers } = obviousOutliers(fixes, { speedMax: body.max_speed, accuracyMetersMax });
            expect(body.outliers).toEqual(
              outliers.map(({ position: { timestampMs, latitude, longitude }, reason, speed }) => ({
                ...{ timestamp: timestampMs, latitude, longitude, reason },
                ...(speed === null ? {} : { speed_mps: speed }),
              })),
            );
            const { speeds } = obviousOutliers(fixes, { speedMax: 70, accuracyMetersMax });
            const limit = Math.max(70, 5 * percentile99(speeds));
            expect(body.max_speed / limit).toBeGreaterThan(0.999_999);
            expect(body.max_speed / limit).toBeLessThan(1.0101);
          }
        } finally {
          await app.close();
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  test("a lost part fails the answer, and once it is given up the answer is incomplete", async () => {
    const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
    try {
      await app.store(reportsOf([0, 10, 0], MIDNIGHT_MS - 5 * DAY_MS));
      await app.store(reportsOf([0, 10, 0], MIDNIGHT_MS));
      await app.seal();
      const [day] = [...app.directory.archive.manifest.days.values()];
      rmSync(join(app.dataDir, "archive", day!.parts[0]!.file));
      const { status, body } = await app.get(`${OUTLIERS}?${AROUND}`);
      expect([status, body.success]).toEqual([500, false]);
      expect(body.message).toContain("2026-01-16");
      await verifyDirectory(app.dataDir, app.clock, { acknowledge: true });
      expect(await outliersOf(app, AROUND)).toMatchObject({ incomplete: true, total: 1 });
    } finally {
      await app.close();
    }
  });
});
