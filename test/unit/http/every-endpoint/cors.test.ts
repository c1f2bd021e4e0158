import { expect, test } from "bun:test";
import { createTestApp } from "../../../support/test-app.ts";
import { EVERY_READ_PATH, GET_ALONE_PATHS, INGEST_PATH, OPEN_PATHS, READ_PATHS } from "../requests.ts";

/** Contract §3: CORS is off unless origins are named; then `OPTIONS` answers. */

const ORIGIN = "https://map.example";
const open = await createTestApp({ corsOrigins: [ORIGIN, "http://localhost:8080"] });
const PREFLIGHT = { origin: ORIGIN, "access-control-request-method": "GET" };

function corsHeaders(response: Response) {
  return [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
}

test("without origins nothing is said about them, and OPTIONS is a wrong method", async () => {
  const closed = await createTestApp();
  const headers = { ...PREFLIGHT, authorization: `Bearer ${closed.keys.full}` };
  for (const path of EVERY_READ_PATH) {
    const get = await closed.fetch(path, { headers });
    expect(corsHeaders(get)).toEqual([]);
    expect(get.headers.get("vary") ?? "").not.toContain("Origin");
    const options = await closed.fetch(path, { method: "OPTIONS", headers });
    expect(options.status).toBe(405);
    expect(corsHeaders(options)).toEqual([]);
  }
});

test("an origin that was named may read every answer", async () => {
  const authorization = `Bearer ${open.keys.full}`;
  const answers = [
    ...EVERY_READ_PATH.map((path) => open.fetch(path, { headers: { origin: ORIGIN, authorization } })),
    ...OPEN_PATHS.map((path) => open.fetch(path, { headers: { origin: ORIGIN } })),
    open.fetch(READ_PATHS.appCurrent, { headers: { origin: ORIGIN } }), // 401
    open.fetch("/nowhere", { headers: { origin: ORIGIN } }),
    open.fetch(INGEST_PATH, { method: "POST", headers: { origin: ORIGIN, authorization }, body: "x" }),
  ];
  for (const response of await Promise.all(answers)) {
    expect(response.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(response.headers.get("access-control-expose-headers")).toBe(
      "RateLimit, RateLimit-Policy, Retry-After, Wherehouse-Error-Code, Wherehouse-Ignored-Parameters, " +
        "Wherehouse-New-Records, Wherehouse-Same-Time, Wherehouse-Sequence, X-Request-Id",
    );
    expect(response.headers.get("vary")).toContain("Origin");
  }
});

test.each([
  "https://map.example.evil",
  "http://map.example",
  "https://map.example:443",
  "https://MAP.example",
  "null",
])("the origin %s is not the one that was named", async (origin) => {
  const headers = { origin, authorization: `Bearer ${open.keys.full}` };
  const get = await open.fetch(READ_PATHS.appCurrent, { headers });
  expect(get.status).toBe(200);
  expect(get.headers.get("access-control-allow-origin")).toBeNull();
  expect(get.headers.get("vary")).toContain("Origin");
  const options = await open.fetch(READ_PATHS.appCurrent, { method: "OPTIONS", headers });
  expect(options.headers.get("access-control-allow-origin")).toBeNull();
});

test.each([...GET_ALONE_PATHS, ...OPEN_PATHS])("a preflight for %s needs no key", async (path) => {
  const response = await open.fetch(path, { method: "OPTIONS", headers: PREFLIGHT });
  expect(response.status).toBe(204);
  expect(await response.text()).toBe("");
  expect(response.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(response.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  expect(response.headers.get("access-control-allow-headers")).toContain("Authorization");
  expect(response.headers.get("x-request-id")).not.toBeNull();
});

test("a preflight lets a page go on with a stream, by the id of the last event that it read", async () => {
  const response = await open.fetch("/api/v1/live", { method: "OPTIONS", headers: PREFLIGHT });
  expect(response.headers.get("access-control-allow-headers")).toContain("Last-Event-ID");
});

test("a preflight for a profile allows PUT and DELETE", async () => {
  const response = await open.fetch("/api/v1/devices/bus/profile", { method: "OPTIONS", headers: PREFLIGHT });
  expect(response.headers.get("access-control-allow-methods")).toBe("DELETE, GET, HEAD, OPTIONS, PUT");
});

test("a preflight for reports allows POST with a type and a coding", async () => {
  const response = await open.fetch(INGEST_PATH, { method: "OPTIONS", headers: PREFLIGHT });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-methods")).toBe("OPTIONS, POST");
  const allowed = response.headers.get("access-control-allow-headers");
  for (const name of ["Authorization", "Content-Type", "Content-Encoding"]) expect(allowed).toContain(name);
});

test("a preflight for an unknown path lets the page ask, so that it reads the 404", async () => {
  const response = await open.fetch("/nowhere", { method: "OPTIONS", headers: PREFLIGHT });
  expect(response.status).toBe(204);
  expect(response.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(response.headers.get("access-control-allow-methods")).toBe("DELETE, GET, HEAD, OPTIONS, POST, PUT");
  expect(response.headers.get("access-control-allow-headers")).toContain("Authorization");
  const asked = await open.fetch("/nowhere", { headers: { origin: ORIGIN } });
  expect(asked.status).toBe(404);
  expect(asked.headers.get("access-control-allow-origin")).toBe(ORIGIN);
});

test("OPTIONS for an unknown path that is no preflight is a 404, and so is one where CORS is off", async () => {
  expect((await open.fetch("/nowhere", { method: "OPTIONS" })).status).toBe(404);
  const closed = await createTestApp();
  const response = await closed.fetch("/nowhere", { method: "OPTIONS", headers: PREFLIGHT });
  expect([response.status, corsHeaders(response)]).toEqual([404, []]);
});

test("other methods stay wrong", async () => {
  expect((await open.fetch("/health", { method: "DELETE", headers: PREFLIGHT })).status).toBe(405);
});

test("an answer that is long varies by both", async () => {
  const path = `/api/v1/users/${"v".repeat(1000)}/locations/current`;
  const response = await open.fetch(path, { headers: { authorization: `Bearer ${open.keys.full}` } });
  expect(response.headers.get("vary")?.split(", ").sort()).toEqual(["Accept-Encoding", "Origin"]);
});

test("`*` names every origin, and is answered with the one that asks", async () => {
  const anyone = await createTestApp({ corsOrigins: ["*"] });
  const response = await anyone.fetch("/health", { headers: { origin: "https://anyone.example" } });
  expect(response.headers.get("access-control-allow-origin")).toBe("https://anyone.example");
  expect((await anyone.fetch("/health")).headers.get("access-control-allow-origin")).toBeNull();
});
