import { expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { BUS, EVERY_READ_PATH, INGEST_PATH, OPEN_PATHS, READ_PATHS } from "../requests.ts";

/** Contract §3, "Manners". */

const app = await createTestApp();
await app.store(
  Array.from({ length: 30 }, (_, i) => ({
    ...BUS,
    device_id: i === 0 ? "bus" : `bus-${i}`,
    timestamp: NOON_MS,
  })),
);
const authorization = `Bearer ${app.keys.full}`;

/** One request for each kind of answer. */
async function everyAnswer(headers: Record<string, string>): Promise<Response[]> {
  const keyed = { authorization, ...headers };
  const json = { ...keyed, "content-type": "application/json" };
  return [
    ...(await Promise.all(EVERY_READ_PATH.map((path) => app.fetch(path, { headers: keyed })))),
    ...(await Promise.all(OPEN_PATHS.map((path) => app.fetch(path, { headers })))),
    await app.fetch(INGEST_PATH, { method: "POST", headers: json, body: '{"locations":[]}' }),
    await app.fetch(INGEST_PATH, { method: "POST", headers: json, body: "{" }),
    await app.fetch(INGEST_PATH, { method: "POST", headers: keyed, body: "{" }),
    await app.fetch(READ_PATHS.appCurrent, { headers }), // 401
    await app.fetch("/api/v1/devices/unknown/locations/current", { headers: keyed }), // 404
    await app.fetch("/api/v1/devices/unknown/locations/history", { headers: keyed }), // 404
    await app.fetch("/api/v1/users/ANONYMOUS/devices", { headers: keyed }), // 400
    await app.fetch("/nowhere", { headers }), // 404
    await app.fetch(READ_PATHS.appCurrent, { method: "PUT", headers }), // 405
  ];
}

test("every answer is JSON and stays out of caches, but for those that have a tag, which are asked for again", async () => {
  for (const response of await everyAnswer({})) {
    expect(response.headers.get("content-type")).toBe("application/json");
    const isTagged = response.headers.get("etag")?.startsWith("W/") === true;
    expect(response.headers.get("cache-control")).toBe(isTagged ? "private, no-cache" : "no-store");
    expect(await response.json()).toBeObject();
  }
});

test("X-Request-Id is echoed", async () => {
  for (const id of ["a", "req-0123/ABC=~", "x".repeat(128)]) {
    for (const response of await everyAnswer({ "x-request-id": id })) {
      expect(response.headers.get("x-request-id")).toBe(id);
    }
  }
});

test("X-Request-Id is made where none came, another each time", async () => {
  const ids = (await everyAnswer({})).map((response) => response.headers.get("x-request-id"));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(["", "two words", "x".repeat(129), "caf\u00e9"])("X-Request-Id %p is replaced", async (id) => {
  const response = await app.fetch("/health", { headers: { "x-request-id": id } });
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

async function fetchAs(acceptEncoding: string | null, path: string = READ_PATHS.appCurrent) {
  const headers = acceptEncoding === null ? {} : { "accept-encoding": acceptEncoding };
  const response = await app.fetch(path, { headers: { authorization, ...headers } });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

const plain = (await fetchAs(null)).bytes;

test.each([
  ["gzip", "gzip"],
  ["GZIP", "gzip"],
  ["zstd", "zstd"],
  ["gzip, zstd", "zstd"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip;q=1.0, zstd;q=0.5", "gzip"],
  ["zstd;q=0, gzip", "gzip"],
  ["br;q=1, gzip;q=0.1", "gzip"],
  ["identity;q=0.5, gzip ; q=0.5", "gzip"],
  ["identity;q=0, gzip;q=0.1", "gzip"],
  ["*", "zstd"],
  ["*;q=0.1, gzip;q=0", "zstd"],
])("Accept-Encoding: %s is answered in %s", async (acceptEncoding, coding) => {
  const { response, bytes } = await fetchAs(acceptEncoding);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-encoding")).toBe(coding);
  expect(response.headers.get("vary")).toBe("Accept-Encoding");
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(bytes.length).toBeLessThan(plain.length);
  const unpacked = coding === "gzip" ? gunzipSync(bytes) : zstdDecompressSync(bytes);
  expect(Buffer.compare(unpacked, plain)).toBe(0);
});

test.each([
  null,
  "",
  "identity",
  "identity;q=1, gzip;q=0.5",
  "identity, *;q=0.9",
  "identity;q=0",
  "br",
  "deflate",
  "gzip;q=0",
  "gzip;q=0, zstd;q=0",
  "*;q=0",
  "gzipped",
])("Accept-Encoding: %p is answered plainly", async (acceptEncoding) => {
  const { response, bytes } = await fetchAs(acceptEncoding);
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(response.headers.get("vary")).toBe("Accept-Encoding");
  expect(Buffer.compare(bytes, plain)).toBe(0);
});

test("bodies over 1,000 bytes are compressed, others not", async () => {
  const frame = JSON.stringify({ success: true, user_id: "", device_count: 0, locations: [] }).length;
  const pathFor = (bodyBytes: number) => `/api/v1/users/${"u".repeat(bodyBytes - frame)}/locations/current`;
  const atMost = await fetchAs("gzip, zstd", pathFor(1000));
  expect(atMost.bytes.length).toBe(1000);
  expect(atMost.response.headers.get("content-encoding")).toBeNull();
  const above = await fetchAs("gzip, zstd", pathFor(1001));
  expect(above.response.headers.get("content-encoding")).toBe("zstd");
  expect(zstdDecompressSync(above.bytes).length).toBe(1001);
});

test("long answers that are no page of records are compressed too", async () => {
  const rejected = await app.fetch(INGEST_PATH, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "accept-encoding": "gzip" },
    body: JSON.stringify({ locations: new Array(100).fill({}) }),
  });
  expect(rejected.headers.get("content-encoding")).toBe("gzip");
  const unpacked = gunzipSync(new Uint8Array(await rejected.arrayBuffer())).toString();
  expect(JSON.parse(unpacked).rejected).toHaveLength(100);

  const unknown = await fetchAs("gzip", `/api/v1/devices/${"d".repeat(1000)}/locations/history`);
  expect(unknown.response.status).toBe(404);
  expect(unknown.response.headers.get("content-encoding")).toBe("gzip");
});

test("HEAD says how GET would be encoded", async () => {
  const headers = { authorization, "accept-encoding": "gzip" };
  const response = await app.fetch(READ_PATHS.appCurrent, { method: "HEAD", headers });
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(await response.text()).toBe("");
});
