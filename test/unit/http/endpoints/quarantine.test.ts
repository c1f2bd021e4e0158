import { expect, test } from "bun:test";
import {
  createTestApp,
  type JsonObject,
  type KeyName,
  NOON_MS,
  type TestApp,
} from "../../../support/test-app.ts";

const HOUR_MS = 3_600_000;

function feature(timestampMs: number, deviceId = "bus") {
  const properties = { timestamp: new Date(timestampMs).toISOString(), device_id: deviceId, speed: 3 };
  return { type: "Feature", geometry: { type: "Point", coordinates: [-2.9, 53.4] }, properties };
}

async function send(
  app: TestApp,
  body: string | Uint8Array<ArrayBuffer>,
  key: KeyName = "full",
): Promise<void> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "user-agent": "Overland/1.3" };
  const response = await app.fetch("/ingest/overland", { method: "POST", headers, body });
  expect(await response.json()).toEqual({ result: "ok" });
}

async function entriesOf(app: TestApp, query = "", key: KeyName = "full"): Promise<readonly JsonObject[]> {
  const { status, body } = await app.get(`/api/v1/quarantine${query}`, key);
  expect(status).toBe(200);
  return body.entries as readonly JsonObject[];
}

async function ask(app: TestApp, method: string, path: string, key: KeyName = "full") {
  const headers = { authorization: `Bearer ${app.keys[key]}` };
  const response = await app.fetch(`/api/v1/quarantine/${path}`, { method, headers });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

test("a point that can't be used is listed, shown, and tried again as of its own time", async () => {
  const app = await createTestApp();
  const future = NOON_MS + HOUR_MS;
  const sent = feature(future);
  await send(app, JSON.stringify({ locations: [feature(NOON_MS - 1000), sent] }));
  const [entry, ...others] = await entriesOf(app);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    client: "overland",
    reason: "future",
    device_id: "bus",
    position: 1,
    count: 1,
  });
  expect(entry).toMatchObject({ arrived: NOON_MS, last_arrived: NOON_MS, is_cut: false });

  const shown = await ask(app, "GET", `${entry!.id}`);
  expect(shown.body).toMatchObject({ ...entry, method: "POST", path: "/ingest/overland", query: "" });
  expect(shown.body.headers).toMatchObject({ "user-agent": "Overland/1.3" });
  expect(JSON.parse(String(shown.body.body)).locations).toEqual([sent]);

  // Too early still: it stays once, under its id.
  const early = await ask(app, "POST", `${entry!.id}/replay`);
  expect(early.body).toEqual({ success: true, accepted: 0, duplicates: 0, refused: 1, is_kept: true });
  expect((await entriesOf(app)).map(({ id }) => id)).toEqual([entry!.id]);

  app.clock.advance(HOUR_MS);
  const replayed = await ask(app, "POST", `${entry!.id}/replay`);
  expect(replayed.body).toEqual({ success: true, accepted: 1, duplicates: 0, refused: 0, is_kept: false });
  expect(await entriesOf(app)).toEqual([]);
  const current = await app.get("/api/v1/devices/bus/locations/current");
  expect(current.body.location).toMatchObject({ timestamp: future, speed: 3 });
  expect((await ask(app, "POST", `${entry!.id}/replay`)).status).toBe(404);
});

test("a body that nobody can read is kept whole, and shown in base64 where it is no text", async () => {
  const app = await createTestApp();
  await send(app, '{"locations":[');
  await send(app, new Uint8Array([123, 255, 254]));
  const [bytes, text] = await entriesOf(app, "?reason=bad_json");
  expect((await ask(app, "GET", `${text!.id}`)).body).toMatchObject({ body: '{"locations":[' });
  const { body } = await ask(app, "GET", `${bytes!.id}`);
  expect(body).toMatchObject({ body_base64: "e//+", body_bytes: 3 });
  expect(body.body).toBeUndefined();
});

test("of a long body the beginning is shown, without half a character", async () => {
  const app = await createTestApp();
  await send(app, `{"locations": [${"ü".repeat(40_000)}`);
  await send(app, new Uint8Array(100_000).fill(255, 1).fill(123, 0, 1));
  const [bytes, text] = await entriesOf(app);
  expect((await ask(app, "GET", `${text!.id}`)).body).toMatchObject({
    body: `{"locations": [${"ü".repeat((65_536 - 16) / 2)}`,
    body_bytes: 80_015,
  });
  const { body } = await ask(app, "GET", `${bytes!.id}`);
  expect(Buffer.from(String(body.body_base64), "base64")).toHaveLength(65_536);
  expect(body.body_bytes).toBe(100_000);
});

test("an app's entries are tried again one after the other, so that few of them are in memory", async () => {
  const app = await createTestApp();
  await send(app, JSON.stringify({ locations: [feature(NOON_MS + HOUR_MS)] }));
  const [entry] = await entriesOf(app);
  app.clock.advance(HOUR_MS);
  const replayed = await Promise.all([1, 2, 3].map(() => ask(app, "POST", `${entry!.id}/replay`)));
  expect(replayed.map(({ status }) => status)).toEqual([200, 404, 404]);
});

test("entries are filtered, paged, and gone once they are deleted", async () => {
  const app = await createTestApp();
  const names = ["a", "b", "c"];
  await send(app, JSON.stringify({ locations: names.map((name) => feature(NOON_MS + HOUR_MS, name)) }));
  await send(app, "{");
  const devices = async (query: string) => (await entriesOf(app, query)).map(({ device_id }) => device_id);
  expect(await devices("?reason=future")).toEqual(["c", "b", "a"]);
  expect(await devices("?client=overland&device_id=b")).toEqual(["b"]);
  expect(await devices("?client=osmand")).toEqual([]);
  const page = await app.get("/api/v1/quarantine?reason=future&offset=1&limit=1");
  expect(page.body).toMatchObject({ total_count: 3, pagination: { count: 1, has_more: true } });
  expect((await app.get("/api/v1/quarantine?reason=nonsense")).status).toBe(400);
  const [b] = await entriesOf(app, "?device_id=b");
  expect(await ask(app, "DELETE", `${b!.id}`)).toEqual({ status: 200, body: { success: true } });
  expect((await ask(app, "DELETE", `${b!.id}`)).status).toBe(404);
  expect(await devices("?reason=future")).toEqual(["c", "a"]);
});

test("whoever changes the quarantine may read and write, for the whole app and no other", async () => {
  const app = await createTestApp();
  await send(app, "{");
  const [entry] = await entriesOf(app);
  for (const [method, path] of [
    ["DELETE", `${entry!.id}`],
    ["POST", `${entry!.id}/replay`],
  ] as const) {
    expect(await ask(app, method, path, "reader")).toMatchObject({ status: 403, body: { code: "AUTH_005" } });
    expect(await ask(app, method, path, "writer")).toMatchObject({ status: 403, body: { code: "AUTH_005" } });
    expect(await ask(app, method, path, "boundToBoth")).toMatchObject({
      status: 403,
      body: { code: "AUTH_006" },
    });
    expect((await ask(app, method, path, "other")).status).toBe(404);
  }
  expect(await entriesOf(app, "", "reader")).toEqual([entry!]);
  expect(await entriesOf(app, "", "other")).toEqual([]);
});
