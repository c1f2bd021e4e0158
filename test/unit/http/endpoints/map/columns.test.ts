import { expect, test } from "bun:test";
import * as fc from "../../../../support/fast-check.ts";
import {
  createTestApp,
  type JsonObject,
  type KeyName,
  NOON_MS,
  type TestApp,
} from "../../../../support/test-app.ts";

/** Where all devices are, in columns. */

const PATH = "/api/v1/locations/current/columns";
const AT = { latitude: 53.4, longitude: -2.9 };

test("the columns of two devices, to the letter", async () => {
  const app = await createTestApp();
  await app.store([
    { ...AT, device_id: 'a "tram"', timestamp: NOON_MS, speed: 8.25, user_id: "Zoë", is_mock: true },
    { ...AT, device_id: "bus", timestamp: NOON_MS - 1, longitude: -180, network_status: false },
  ]);
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const response = await app.fetch(`${PATH}?fields=user_id,speed,network_status,is_mock`, { headers });
  expect(await response.text()).toBe(
    [
      '{"success":true,"app_id":"fleet","sequence":1,"device_id":["a \\"tram\\"","bus"],',
      `"timestamp":[${NOON_MS},${NOON_MS - 1}],"latitude":[53.4,53.4],"longitude":[-2.9,-180],`,
      '"user_id":["Zoë","ANONYMOUS"],"speed":[8.25,null],"network_status":[null,false],"is_mock":[true,null]}',
    ].join(""),
  );
});

test("an app without devices has empty columns, and speed is there where nothing else was asked for", async () => {
  const app = await createTestApp();
  const { body } = await app.get(PATH);
  const none = { device_id: [], timestamp: [], latitude: [], longitude: [], speed: [] };
  expect(body as unknown).toEqual({ success: true, app_id: "fleet", sequence: 0, ...none });
});

test.each([
  ["fields=velocity", "fields must be of user_id, horizontal_accuracy,"],
  ["fields=", "fields must be of"],
  ["fields=speed,", "fields must be of"],
  ["fields=latitude", "fields must be of"],
  ["fields=speed,speed", "fields must name each once"],
  ["fields=speed&fields=bearing", "fields must not be repeated"],
])("%s is refused", async (query, message) => {
  const app = await createTestApp();
  const { status, body } = await app.get(`${PATH}?${query}`);
  expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
});

/** What app current shows, page by page, as columns. */
async function pagesAsColumns(
  app: TestApp,
  names: readonly string[],
  key: KeyName = "full",
): Promise<JsonObject> {
  const records: JsonObject[] = [];
  for (let more = true; more; ) {
    const { body } = await app.get(`/api/v1/locations/current?limit=7&offset=${records.length}`, key);
    records.push(...body.locations);
    more = body.pagination.has_more as boolean;
  }
  return Object.fromEntries(names.map((name) => [name, records.map((record) => record[name] ?? null)]));
}

const names = ["device_id", "timestamp", "latitude", "longitude"];
const chosen = fc.subarray(
  [
    "user_id",
    "horizontal_accuracy",
    "altitude",
    "speed",
    "bearing",
    "battery_level",
    "type",
    "is_mock",
    "tz_offset",
  ],
  { minLength: 1 },
);
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const report = fc.record({
  device_id: fc.constantFrom("a", "b", "ü", "🚌", 'q"', "back\\slash", "x".repeat(100), "z"),
  timestamp: fc.integer({ min: NOON_MS - 86_400_000 * 400, max: NOON_MS }),
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  speed: maybe(fc.double({ min: 0, max: 1_000_000, noNaN: true })),
  bearing: maybe(fc.integer({ min: 0, max: 360 })),
  altitude: maybe(fc.integer({ min: -1000, max: 1000 })),
  user_id: maybe(fc.constantFrom("anna", "tab\\tbed", "Zoë")),
  type: maybe(fc.constantFrom("", "MOVING")),
  is_mock: maybe(fc.boolean()),
});

test("the columns are app current's pages, transposed, whatever another app has", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(report, { maxLength: 40 }),
      fc.array(report, { maxLength: 5 }),
      chosen,
      async (own, others, fields) => {
        const app = await createTestApp();
        await app.post(own); // Some are too old, and rejected.
        await app.post(others, "other");
        const { body } = await app.get(`${PATH}?fields=${fields}`);
        const { success, app_id, sequence, ...columns } = body;
        expect([success, app_id]).toEqual([true, "fleet"]);
        expect(columns as unknown).toEqual(await pagesAsColumns(app, [...names, ...fields]));
      },
    ),
    { numRuns: 40 },
  );
});

test("a share link's columns are its devices as app current shows them, and say nothing of others", async () => {
  const app = await createTestApp();
  const moving = { ...AT, speed: 3, bearing: 90, user_id: "driver", timestamp: NOON_MS - 12_345 };
  await app.store([{ ...moving, device_id: "bus" }]);
  await app.store([{ ...moving, device_id: "tram" }]);
  for (const [key, shown] of [
    ["viewer", ["speed"]],
    ["blurredViewer", []],
  ] as const) {
    const asked = () => app.get(`${PATH}?fields=speed,user_id`, key);
    const { headers, body } = await asked();
    const { success, app_id, sequence, ...columns } = body;
    expect([success, app_id, sequence]).toEqual([true, "fleet", 1]);
    expect(columns as unknown).toEqual(await pagesAsColumns(app, [...names, ...shown], key));
    expect(columns.device_id).toEqual(["bus"]);
    await app.store([{ ...moving, device_id: "tram", timestamp: NOON_MS - (key === "viewer" ? 2 : 1) }]);
    const again = await asked();
    expect(again.body).toEqual(body);
    expect(again.headers.get("etag")).toBe(headers.get("etag")!);
  }
});

test("a large fleet's columns come whole, in pieces, plain and packed; a HEAD keeps no memory", async () => {
  const app = await createTestApp();
  const count = 30_000;
  // A key may hold a third of 256 MiB: those of 71 such answers, each with five columns of 8 bytes.
  const HEADS = 100;
  for (let from = 0; from < count; from += 10_000) {
    const reports = Array.from({ length: 10_000 }, (_, at) => ({
      ...AT,
      device_id: `d${from + at}`,
      timestamp: NOON_MS,
    }));
    await app.store(reports);
  }
  const authorization = `Bearer ${app.keys.full}`;
  const ask = (method: string, coding: string) =>
    app.fetch(PATH, { method, headers: { authorization, "accept-encoding": coding } });
  const plain = Buffer.from(await (await ask("GET", "identity")).arrayBuffer());
  expect(JSON.parse(plain.toString()).device_id).toHaveLength(count);
  for (const [coding, unpack] of [
    ["gzip", Bun.gunzipSync],
    ["zstd", Bun.zstdDecompressSync],
  ] as const) {
    const response = await ask("GET", coding);
    expect(response.headers.get("content-encoding")).toBe(coding);
    expect(Buffer.from(unpack(await response.arrayBuffer())).equals(plain)).toBe(true);
  }
  for (let time = 0; time < HEADS; time++) {
    const { status, body } = await ask("HEAD", "gzip");
    expect([status, body]).toEqual([200, null]);
  }
  expect((await ask("GET", "identity")).status).toBe(200);
});
