import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { createPostDelivery } from "../../../src/import/post.ts";
import { ok } from "../../../src/lib/result.ts";
import type { AppId } from "../../../src/model/ids.ts";
import type { ReferenceRecord } from "../../reference/records.ts";
import * as fc from "../../support/fast-check.ts";
import { batchOf, type Report } from "../../support/reports/batches.ts";
import { APP_ID, createTestApp, NOON_MS, OTHER_APP_ID, type TestApp } from "../../support/test-app.ts";
import { countsOver, IMPORTED_BATCHES } from "./support/counted-rows.ts";

type Post = (url: string, init: RequestInit) => Promise<Response>;

function createDelivery(
  post: Post,
  key = "wh_key",
  signal = new AbortController().signal,
  appId: AppId | null = null,
) {
  const waits: number[] = [];
  const said: string[] = [];
  const deliver = createPostDelivery({
    url: "http://here",
    key,
    appId,
    post,
    signal,
    wait: async (milliseconds) => void waits.push(milliseconds),
    onWait: (reason) => void said.push(reason),
  });
  return { deliver, waits, said };
}

const report = (row: number): Report => ({
  device_id: "ä",
  timestamp: NOON_MS - row,
  latitude: 42.3601,
  longitude: -71.0589,
  altitude: row,
});
const answer = (accepted: number) => Response.json({ accepted, duplicates: 0, rejected: [], sequence: 1 });
const full = () => new Response('{"message":"full"}', { status: 503, headers: { "retry-after": "7" } });

describe("createPostDelivery()", () => {
  const postTo =
    (app: TestApp): Post =>
    (url, init) =>
      app.fetch(url.replace("http://here", ""), init);

  test("brings every field of a report to a server", async () => {
    const app = await createTestApp();
    const whole = {
      ...report(1),
      ...{
        user_id: "u",
        horizontal_accuracy: 4.8,
        vertical_accuracy: 3,
        speed: 0,
        bearing: 58.25,
        battery_level: 81,
      },
      ...{
        type: "",
        battery_status: "Charging",
        network_status: true,
        location_permission: false,
        is_mock: false,
      },
      ...{
        tracking_mode: "PRECISE",
        tz_offset: "+0",
        brand: 'q"',
        model: "8",
        os: "android",
        os_version: "15",
      },
      ...{ sdk_version: "3.2.1", app_version_name: "5.4.0", app_version_code: "50400" },
    };
    const { deliver } = createDelivery(postTo(app), app.keys.full);
    const sent = [report(0), whole];
    expect(await deliver(batchOf(sent))).toEqual({
      ok: true,
      value: { created: 2, sameTime: 0, alreadyThere: 0, resent: 0, rejected: [] },
    });
    expect(await deliver(batchOf(sent))).toEqual({
      ok: true,
      value: { created: 0, sameTime: 0, alreadyThere: 2, resent: 0, rejected: [] },
    });
    const { body } = await app.get(
      `/api/v1/devices/${encodeURIComponent("ä")}/locations/history?start_date=2026-03-20&end_date=2026-03-20`,
    );
    expect(body.locations).toEqual([expect.objectContaining(whole), expect.objectContaining(report(0))]);
  });

  test("is no device that repeats itself to the doctor, however often a file is imported", async () => {
    const app = await createTestApp();
    const reports = Array.from({ length: 30 }, (_, row) => report(row));
    const { deliver } = createDelivery(postTo(app), app.keys.full);
    for (let time = 0; time < 3; time++) expect((await deliver(batchOf(reports))).ok).toBe(true);
    expect((await app.get("/api/v1/doctor")).body.findings).toEqual([]);
    for (let time = 0; time < 3; time++) await app.store(reports); // As a device does it.
    expect((await app.get("/api/v1/doctor")).body.findings).toMatchObject([{ kind: "repeats" }]);
  });

  test("adds up: new, at the time of a record that was there, and already there", async () => {
    await fc.assert(
      fc.asyncProperty(IMPORTED_BATCHES, async (all) => {
        const app = await createTestApp();
        const { deliver } = createDelivery(postTo(app), app.keys.full);
        const records = new Map<string, ReferenceRecord>();
        for (const reports of all) {
          const sent = await deliver(batchOf(reports));
          expect(sent).toEqual(ok({ ...countsOver(records, reports), resent: 0, rejected: [] }));
        }
      }),
      { numRuns: 20 },
    );
  });

  test("says how many it sent again without an answer, since those that were stored count as duplicates", async () => {
    const app = await createTestApp();
    const post = postTo(app);
    let isFirst = true;
    const { deliver } = createDelivery(async (url, init) => {
      const answer = await post(url, init);
      if (!isFirst) return answer;
      isFirst = false;
      return new Response(null, { status: 504 });
    }, app.keys.full);
    expect(await deliver(batchOf([report(0), report(1)]))).toMatchObject({
      ok: true,
      value: { created: 0, alreadyThere: 2, resent: 2 },
    });
  });

  test("hands on what only the server refuses, by row", async () => {
    const app = await createTestApp();
    const { deliver } = createDelivery(postTo(app), app.keys.full);
    const sent = await deliver(batchOf([report(0), { ...report(1), timestamp: NOON_MS + 3_600_000 }]));
    expect(sent).toMatchObject({ ok: true, value: { created: 1, rejected: [{ index: 1 }] } });
  });

  test("says what a server that refuses says", async () => {
    const app = await createTestApp();
    const { deliver, waits } = createDelivery(postTo(app), app.keys.reader);
    const sent = await deliver(batchOf([report(0)]));
    expect(sent).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^http:\/\/here answered 403: .+/),
    });
    expect(waits).toEqual([]);
  });

  test("brings nothing to another app than the one that is meant", async () => {
    const app = await createTestApp();
    const deliverTo = (appId: string) =>
      createDelivery(postTo(app), app.keys.full, undefined, appId as AppId).deliver(batchOf([report(0)]));
    expect(await deliverTo(OTHER_APP_ID)).toEqual({
      ok: false,
      error: "http://here answered 400: app_id is not the app of this key; nothing was stored",
    });
    expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
    expect(await deliverTo(APP_ID)).toMatchObject({ ok: true, value: { created: 1 } });
  });

  test("waits as long as it is told, or longer each time", async () => {
    const answers: (() => Response)[] = [
      full,
      () => new Response("", { status: 429, headers: { "retry-after": "3600" } }),
      () => new Response("<html>", { status: 502 }),
      () => {
        throw Object.assign(new Error("try the url"), { code: "ECONNREFUSED" });
      },
      () => answer(1),
    ];
    const { deliver, waits, said } = createDelivery(async () => answers.shift()!());
    expect(await deliver(batchOf([report(0)]))).toMatchObject({ ok: true, value: { created: 1 } });
    expect(waits).toEqual([7000, 60_000, 4000, 8000]);
    expect(said).toEqual([
      "http://here answered 503: full",
      "http://here answered 429",
      "http://here answered 502",
      "http://here does not answer (ECONNREFUSED)",
    ]);
  });

  test("does not wait for a server that never answered", async () => {
    const { deliver, waits } = createDelivery(async () => {
      throw Object.assign(new Error("try the url"), { code: "ECONNREFUSED" });
    });
    expect(await deliver(batchOf([report(0)]))).toEqual({
      ok: false,
      error: "no server answers at http://here (ECONNREFUSED); is it running there?",
    });
    expect(waits).toEqual([]);
  });

  test("gives up after ten attempts, and sends nothing that follows", async () => {
    let posts = 0;
    const { deliver } = createDelivery(async () => {
      posts++;
      return full();
    });
    const [first, second] = await Promise.all([deliver(batchOf([report(0)])), deliver(batchOf([report(1)]))]);
    expect(first).toEqual({ ok: false, error: "http://here answered 503: full" });
    expect(second).toEqual(first);
    expect(posts).toBe(10);
  });

  test("stops waiting when the import is to end", async () => {
    const controller = new AbortController();
    controller.abort();
    const { deliver, waits } = createDelivery(async () => full(), "wh_key", controller.signal);
    expect((await deliver(batchOf([report(0)]))).ok).toBe(false);
    expect(waits.length).toBe(1);
  });

  test("sends one request at a time, in order", async () => {
    const seen: string[] = [];
    let open = 0;
    const { deliver } = createDelivery(async (_url, init) => {
      expect(++open).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      seen.push(JSON.parse(gunzipSync(init.body as Uint8Array).toString()).altitude);
      return answer(1);
    });
    await Promise.all([3, 1, 2].map((row) => deliver(batchOf([report(row)]))));
    expect(seen.join()).toBe("3,1,2");
  });

  test("cuts a batch with long texts so that every request is small enough", async () => {
    const sizes: number[] = [];
    const texts = [
      "type",
      "battery_status",
      "tracking_mode",
      "brand",
      "model",
      "os",
      "os_version",
      "sdk_version",
    ];
    const long = Object.fromEntries(texts.map((name) => [name, "\u{1F68C}".repeat(128)]));
    const rows = Array.from({ length: 3000 }, (_, row) => ({ ...report(row), ...long }));
    const { deliver } = createDelivery(async (_url, init) => {
      const body = gunzipSync(init.body as Uint8Array).toString();
      sizes.push(Buffer.byteLength(body));
      const count = body.trimEnd().split("\n").length;
      return Response.json({
        accepted: count,
        duplicates: 0,
        rejected: [{ index: 0, message: "no" }],
        sequence: 1,
      });
    });
    const sent = await deliver(batchOf(rows));
    if (!sent.ok) throw new Error(sent.error);
    expect(sent.value.created).toBe(3000);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThan(16 * 1024 * 1024);
    expect(sent.value.rejected.map(({ index }) => index)).toEqual(
      sizes.map((_, i) => sent.value.rejected[i]!.index),
    );
    expect(sent.value.rejected[0]?.index).toBe(0);
    expect(sent.value.rejected[1]?.index).toBeGreaterThan(100);
  });

  test("sends nothing for a batch without reports", async () => {
    const { deliver } = createDelivery(() => Promise.reject(new Error("posted")));
    expect(await deliver(batchOf([]))).toEqual({
      ok: true,
      value: { created: 0, sameTime: 0, alreadyThere: 0, resent: 0, rejected: [] },
    });
  });
});
