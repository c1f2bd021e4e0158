import { expect, test } from "bun:test";
import { ENDPOINTS } from "../../../../src/http/endpoints.ts";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { giveProfile, watch, withEntry } from "../quarantined.ts";
import {
  BUS,
  EVERY_READ_PATH,
  GET_ALONE_PATHS,
  INGEST_PATH,
  KEYED,
  nameOf,
  OPEN,
  OPEN_PATHS,
  pathTo,
} from "../requests.ts";

/** Paths and methods: contract §2, and what path parts may hold. */

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

const NO_SUCH_PATH = { success: false, message: "there is nothing at this path; see /docs" };

test.each([
  "/",
  "/api",
  "/api/v1",
  "/api/v1/device",
  "/api/v1/devices/bus",
  "/api/v1/devices/bus/locations",
  "/api/v1/devices/bus/devices",
  "/api/v1/devices//locations/current",
  "/api/v1/users/driver",
  "/api/v1/users/driver/locations",
  "/api/v1/users/a/b/locations/current",
  "/api/v1/locations",
  "/api/v1/locations/current/now",
  "/api/v2/locations/current",
  "/API/v1/locations/current",
  "//api/v1/locations/current",
  "//health",
  "/health//",
  "/healthy",
  "/ingest/v1",
  "/ingest/v1/locations/1",
  "/__proto__",
  "/%ff",
])("there is nothing at %s", async (path) => {
  for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
    const response = await app.fetch(path, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get("allow")).toBeNull();
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(NO_SUCH_PATH);
  }
});

test("a browser at the bare address is led to the map, and nothing else is", async () => {
  const ask = (accept: string, init: RequestInit = {}, path = "/") =>
    app.fetch(path, { redirect: "manual", ...init, headers: { accept } });
  const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  for (const accept of [html, "Text/HTML", "application/json, text/html;level=1;q=0.7"])
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await ask(accept, { method });
      expect([status, headers.get("location"), headers.get("vary")]).toEqual([302, "/map", "Accept"]);
    }
  expect((await ask(html, {}, "/?from=home")).status).toBe(302);
  for (const accept of ["*/*", "application/json", "text/html;q=0", "text/html; q=0.000", "text/htmlx"])
    expect(await (await ask(accept)).json()).toEqual(NO_SUCH_PATH);
  for (const path of ["/nothing", "//", "/index.html"]) expect((await ask(html, {}, path)).status).toBe(404);
  expect((await ask(html, { method: "POST" })).status).toBe(404);
});

test.each([...GET_ALONE_PATHS, "/api/v1/users//devices", ...OPEN_PATHS])(
  "%s takes GET and HEAD alone",
  async (path) => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await app.fetch(path, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
      expect(await response.json()).toEqual({
        success: false,
        message: `this path takes GET, HEAD, not ${method}`,
      });
    }
  },
);

test.each(ENDPOINTS.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "beside %s its path takes what it says it takes",
  async (_name, { kind, path: shape, method: own }) => {
    const path = pathTo(ENDPOINTS.find((each) => each.path === shape && each.method === own)!);
    const allowed = ENDPOINTS.filter((each) => each.path === shape).map(({ method }) => method);
    // A GET may bring a client's report, and a HEAD never does.
    const head = allowed.includes("GET") && kind !== "client" ? ["HEAD"] : [];
    const allow = [...allowed, ...head].sort();
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await app.fetch(path, { method });
      if (allow.includes(method)) expect(response.status).not.toBe(405);
      else {
        expect(response.status).toBe(405);
        expect(response.headers.get("allow")).toBe(allow.join(", "));
      }
    }
  },
);

test("the way in takes POST alone", async () => {
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const response = await app.fetch(INGEST_PATH, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    if (method === "HEAD") continue;
    expect(await response.json()).toEqual({ success: false, message: `this path takes POST, not ${method}` });
  }
});

test("HEAD has the status and headers of GET, and no body", async () => {
  const paths = [
    ...[...KEYED, ...OPEN]
      .filter(({ method, path }) => method === "GET" && path !== "/metrics")
      .map((each) => pathTo(each)),
    "/api/v1/devices/unknown/locations/current",
    "/api/v1/devices/unknown/locations/history",
    "/api/v1/users/ANONYMOUS/devices",
    "/api/v1/locations/current?limit=0",
  ];
  for (const path of paths) {
    for (const authorization of [`Bearer ${app.keys.full}`, "", `Bearer ${app.keys.writer}`]) {
      const headers = { "x-request-id": "same", authorization };
      const get = await app.fetch(path, { headers });
      const head = await app.fetch(path, { method: "HEAD", headers });
      expect(head.status).toBe(get.status);
      expect(await head.text()).toBe("");
      expect(withoutLength(head.headers)).toEqual(withoutLength(get.headers));
    }
  }
});

/** `Content-Length` of a GET is the runtime's to add; that of a HEAD may be there or not (RFC 9110 §9.3.2). */
function withoutLength(headers: Headers) {
  return Object.fromEntries([...headers].filter(([name]) => name !== "content-length"));
}

test("a slash at the end changes nothing", async () => {
  await giveProfile(app);
  await watch(app);
  for (const asked of EVERY_READ_PATH) {
    const path = await withEntry(app, asked);
    const slashed = path.includes("?") ? path.replace("?", "/?") : `${path}/`;
    expect((await app.get(slashed)).status).toBe(200);
    const methods = ENDPOINTS.filter((endpoint) => pathTo(endpoint) === asked).map(({ method }) => method);
    const allow = [...new Set([...methods, "HEAD"])].sort().join(", ");
    expect((await app.fetch(slashed, { method: "PATCH" })).headers.get("allow")).toBe(allow);
  }
});

const ODD_IDS = [
  "a/b",
  "/",
  "a%2Fb",
  "100%",
  "a b",
  "a+b",
  "a?limit=0#x",
  "äöü",
  "\u{1F68C}",
  "\uFFFD",
  "e\u0301",
  "nearby",
  "__proto__",
  "constructor",
  '"\\',
  "<script>",
  "\u00a0",
  "..x",
  "x".repeat(128),
  "\u{1F68C}".repeat(128),
];

test.each(ODD_IDS)("%p can be stored and asked for, as a device and as a user", async (id) => {
  await app.store([{ device_id: id, user_id: id, timestamp: NOON_MS, latitude: 1, longitude: 2 }]);
  const encoded = encodeURIComponent(id);
  for (const part of [encoded, encoded.toLowerCase() === encoded ? encoded : lowerHex(encoded)]) {
    const current = await app.get(`/api/v1/devices/${part}/locations/current`);
    expect(current.body as unknown).toMatchObject({
      success: true,
      device_id: id,
      location: { device_id: id },
    });
    const history = await app.get(`/api/v1/devices/${part}/locations/history`);
    expect(history.body as unknown).toMatchObject({
      device_id: id,
      locations: [{ device_id: id, user_id: id }],
    });
    if (id.trim() === "") continue; // A blank user id is refused.
    for (const path of ["locations/current", "locations/history"]) {
      const { body } = await app.get(`/api/v1/users/${part}/${path}`);
      expect(body as unknown).toMatchObject({ user_id: id, locations: [{ device_id: id, user_id: id }] });
    }
    const devices = await app.get(`/api/v1/users/${part}/devices`);
    expect(devices.body as unknown).toMatchObject({ user_id: id, devices: [{ device_id: id }] });
  }
});

function lowerHex(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase());
}

test.each(["%ff", "a%ffb", "%c3", "%c3%28", "%ed%a0%80", "%f5%80%80%80", "%c0%af", "%", "%2", "%zz", "100%"])(
  "a path part %s is no UTF-8",
  async (part) => {
    for (const resource of ["locations/current", "locations/history"]) {
      const { status, body } = await app.get(`/api/v1/devices/${part}/${resource}`);
      expect(status).toBe(400);
      expect(body as unknown).toEqual({
        success: false,
        message: "deviceId in the path must be percent-encoded UTF-8",
      });
    }
    for (const resource of ["locations/current", "locations/history", "devices"]) {
      const { status, body } = await app.get(`/api/v1/users/${part}/${resource}`);
      expect(status).toBe(400);
      expect(body as unknown).toEqual({
        success: false,
        message: "user_id in the path must be percent-encoded UTF-8",
      });
    }
  },
);

test("%00 is UTF-8: no device has it, since no report may carry it", async () => {
  const { status, body } = await app.get("/api/v1/devices/a%00b/locations/current");
  expect(status).toBe(404);
  expect(body as unknown).toEqual({
    success: false,
    device_id: "a\u0000b",
    message: "Device not found or does not belong to your app",
  });
});

test("ids are told apart exactly: case, composition and width count", async () => {
  await app.store([{ device_id: "caf\u00e9", timestamp: NOON_MS, latitude: 1, longitude: 2 }]);
  const status = async (id: string) =>
    (await app.get(`/api/v1/devices/${encodeURIComponent(id)}/locations/current`)).status;
  expect(await status("caf\u00e9")).toBe(200);
  expect(await status("cafe\u0301")).toBe(404);
  expect(await status("CAF\u00c9")).toBe(404);
  expect(await status("caf\u00e9 ")).toBe(404);
});

test.each(["ANONYMOUS", "%41NONYMOUS", "", "%20", "%09%20", "%C2%A0", "%E3%80%80"])(
  "the user %p can't be asked for",
  async (part) => {
    const message = part.endsWith("NONYMOUS") ? "user_id must not be ANONYMOUS" : "user_id must not be empty";
    for (const resource of ["locations/current", "locations/history", "devices"]) {
      const { status, body } = await app.get(`/api/v1/users/${part}/${resource}`);
      expect(status).toBe(400);
      expect(body as unknown).toEqual({ error: "Invalid user_id", message });
    }
  },
);

test("the user `anonymous` is a user like any other", async () => {
  const { status, body } = await app.get("/api/v1/users/anonymous/locations/current");
  expect(status).toBe(200);
  expect(body as unknown).toEqual({ success: true, user_id: "anonymous", device_count: 0, locations: [] });
});
