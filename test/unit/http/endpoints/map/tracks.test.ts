import { afterAll, expect, test } from "bun:test";
import type { DeviceId } from "../../../../../src/model/ids.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { FleetLines } from "../../../../../src/service/queries/track/fleet-lines.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import * as fc from "../../../../support/fast-check.ts";
import { createTestApp, NOON_MS } from "../../../../support/test-app.ts";
import { paths } from "../../../service/queries/paths.ts";
import { BUS } from "../../requests.ts";

/** Lines of all devices, wherever the records lie. */

afterAll(removeArchiveApps);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_MS = Date.UTC(2026, 2, 28);
const NOW_MS = FIRST_MS + 9 * DAY_MS + 5 * HOUR_MS;
const DEVICES = ["bus", "tram", "van"];

async function tracksOf(app: Pick<ArchiveApp, "get">, startMs: number, tolerance: number) {
  const range = `start=${startMs}&end=${startMs + 7 * DAY_MS}`;
  const { status, body } = await app.get(`/api/v1/tracks?${range}&tolerance_meters=${tolerance}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body as unknown;
}

/** The lines through what the devices' histories have, read one after the other. */
async function obviousTracks(app: Pick<ArchiveApp, "get">, startMs: number, toleranceMeters: number) {
  const lines = new FleetLines({ toleranceMeters, verticesMax: 9999, devicesMax: 9, box: null });
  for (const id of DEVICES) {
    const days = "start_date=2026-03-20&end_date=2026-04-07&limit=1000";
    const { body } = await app.get(`/api/v1/devices/${id}/locations/history?${days}`);
    for (const { timestamp, latitude, longitude } of (body.locations ?? []) as readonly (typeof BUS & {
      timestamp: number;
    })[])
      if (timestamp >= startMs && timestamp < startMs + 7 * DAY_MS)
        lines.add(id as DeviceId, timestamp, latitude, longitude);
  }
  const steps = lines.end();
  for (;;) {
    const { done, value: tracks } = steps.next();
    if (done !== true) continue;
    return {
      success: true,
      app_id: "fleet",
      total: tracks!.total,
      tolerance_meters: toleranceMeters,
      device_id: tracks!.deviceIds,
      first: [...tracks!.first],
      gaps: [...tracks!.gaps],
      timestamp: [...tracks!.timestampMs],
      latitude: [...tracks!.latitude],
      longitude: [...tracks!.longitude],
    };
  }
}

const batch = fc
  .record({
    device_id: fc.constantFrom(...DEVICES),
    positions: paths,
    fromMs: fc.integer({ min: 0, max: 9 * 24 }).map((hours) => FIRST_MS + hours * HOUR_MS - 20 * 60_000),
  })
  .map(({ device_id, positions, fromMs }) =>
    positions.map(({ timestampMs, latitude, longitude }) => {
      const timestamp = fromMs + timestampMs - positions[0]!.timestampMs;
      return { device_id, timestamp, latitude, longitude };
    }),
  );

test("tracks are the lines through all histories, through any story of reports and seals", async () => {
  const story = fc.array(fc.record({ reports: batch, seals: fc.boolean() }), { minLength: 1, maxLength: 4 });
  const starts = fc.constantFrom(FIRST_MS - HOUR_MS, FIRST_MS + 2 * DAY_MS);
  await fc.assert(
    fc.asyncProperty(story, starts, fc.constantFrom(0, 50), async (steps, startMs, tolerance) => {
      const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
      try {
        for (const { reports, seals } of steps) {
          await app.store(reports);
          if (seals) await app.seal();
          expect(await tracksOf(app, startMs, tolerance)).toEqual(
            await obviousTracks(app, startMs, tolerance),
          );
        }
      } finally {
        await app.close();
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 60_000);

test("tracks name what is wrong with a question", async () => {
  const app = await createTestApp();
  const refused = async (query: string, message: string) => {
    const { status, body } = await app.get(`/api/v1/tracks?${query}`);
    expect({ query, status, message: body.message }).toEqual({ query, status: 400, message });
  };
  await refused("end=2", "start is required");
  await refused("start=2&end=2", "start must be before end");
  await refused(`start=0&end=${7 * DAY_MS + 1}`, "start to end must be at most 7 days");
  await refused("start=1&end=2&tolerance_meters=-1", "tolerance_meters must be between 0 and 100000");
});

test("tracks are not sent again while no report has come, and share links get none", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS - 1 }]);
  const path = `/api/v1/tracks?start=${NOON_MS - 1000}&end=${NOON_MS}`;
  const ask = (headers = {}) =>
    app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}`, ...headers } });
  const etag = (await ask()).headers.get("etag")!;
  expect((await ask({ "if-none-match": etag })).status).toBe(304);
  await app.store([{ ...BUS, timestamp: NOON_MS - 2 }]);
  expect((await ask({ "if-none-match": etag })).status).toBe(200);
  expect((await app.get(path, "viewer")).status).toBe(403);
});

test("a key has its share of answers under way until it has read them, left them, or they have failed", async () => {
  const app = await createTestApp();
  const startMs = NOON_MS - HOUR_MS;
  for (let from = 0; from < 40_000; from += 1000)
    await app.store(
      Array.from({ length: 1000 }, (_, n) => {
        const [device, step] = [`d${Math.floor((from + n) / 1000)}`, n];
        const position = { latitude: 50 + (n % 2) / 1000, longitude: 10 + n / 1e5 };
        return { device_id: device, timestamp: startMs + step * 1000, ...position };
      }),
    );
  const headers = { authorization: `Bearer ${app.keys.full}`, "accept-encoding": "identity" };
  const ask = (tolerance = 0, signal?: AbortSignal) =>
    app.fetch(`/api/v1/tracks?start=${startMs}&end=${NOON_MS}&tolerance_meters=${tolerance}`, {
      ...{ headers },
      ...(signal === undefined ? {} : { signal }),
    });
  const held = [await ask(), await ask(), await ask()];
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await ask();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  await held[0]!.body!.cancel();
  await held[1]!.arrayBuffer();
  // Short answers, failures and clients that leave keep nothing.
  for (let n = 0; n < 4; n++) {
    expect((await ask(100_000)).status).toBe(200);
    expect((await ask(0, AbortSignal.abort())).ok).toBe(false);
  }
  const [again, also] = [await ask(), await ask()];
  expect([again.status, also.status, (await ask()).status]).toEqual([200, 200, 503]);
});
