import { expect, test } from "bun:test";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { answerOf, createTestApp, type KeyName, NOON_MS } from "../../../support/test-app.ts";
import { correct, erase, giveProfile, quarantine, subscribe, watch, withEntry } from "../quarantined.ts";
import {
  BUS,
  EVERY_READ_PATH,
  INGEST_PATH,
  KEYED,
  KEYS_WITHOUT,
  keyFor,
  nameOf,
  OPEN_PATHS,
  pathTo,
  READ_PATHS,
  requestTo,
  VIEWERS,
} from "../requests.ts";

/** Who may ask: contract §2 and §5, specification §5 and §7. */

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

const MISSING = {
  success: false,
  error: "MISSING_API_KEY",
  code: "AUTH_001",
  message: "send the key as: Authorization: Bearer <API_KEY>",
};
const INVALID = {
  success: false,
  error: "INVALID_API_KEY",
  code: "AUTH_002",
  message: "the API key is not known",
};

async function askWith(authorization: string, path: string = READ_PATHS.appCurrent) {
  return answerOf(await app.fetch(path, { headers: { authorization } }));
}

test.each(KEYED.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s without a key is a 401 that asks for one",
  async (_name, endpoint) => {
    const { status, headers, body } = await answerOf(await app.fetch(pathTo(endpoint), requestTo(endpoint)));
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(headers.get("ratelimit")).toBeNull();
    expect(body as unknown).toEqual(MISSING);
  },
);

test("reports without a key are a 401, and nothing is stored", async () => {
  const { status, headers, body } = await app.post(
    [{ ...BUS, device_id: "intruder", timestamp: NOON_MS }],
    null,
  );
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toBe("Bearer");
  expect(body as unknown).toEqual(MISSING);
  expect((await app.get("/api/v1/devices/intruder/locations/current")).status).toBe(404);
});

test.each([
  ["the scheme alone", "Bearer"],
  ["the scheme and spaces", "Bearer   "],
  ["user and password", "Basic dXNlcjpwYXNz"],
  ["another scheme", `Token ${app.keys.full}`],
  ["a scheme that starts with ours", `BearerX ${app.keys.full}`],
  ["a key without a scheme", app.keys.full],
])("an Authorization header that is %s carries no key", async (_what, authorization) => {
  const { status, headers, body } = await askWith(authorization);
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toBe("Bearer");
  expect(body as unknown).toEqual(MISSING);
});

test.each([
  ["no key at all", "nonsense"],
  ["a well-formed key that was never made", createKeyText()],
  [
    "a key with another last character",
    app.keys.full.slice(0, -1) + (app.keys.full.endsWith("0") ? "1" : "0"),
  ],
  ["a key in other case", app.keys.full.toUpperCase()],
  ["two keys", `${app.keys.full} ${app.keys.full}`],
  ["two keys with a comma", `${app.keys.full},${app.keys.full}`],
  ["a quoted key", `"${app.keys.full}"`],
  ["`__proto__`", "__proto__"],
])("a bearer token that is %s is invalid", async (_what, token) => {
  const { status, headers, body } = await askWith(`Bearer ${token}`);
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toBe("Bearer");
  expect(headers.get("ratelimit")).toBeNull();
  expect(body as unknown).toEqual(INVALID);
});

test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("the scheme may be written %s", async (scheme) => {
  expect((await askWith(`${scheme} ${app.keys.full}`)).status).toBe(200);
  expect((await askWith(`${scheme}   ${app.keys.full}  `)).status).toBe(200);
  expect((await askWith(`${scheme} nonsense`)).body as unknown).toEqual(INVALID);
});

test.each(["access_token", "", "Bearer", "bearer", "token", "api_key", "key", "authorization"])(
  "a key in the query as %p does not count",
  async (name) => {
    const path = `${READ_PATHS.appCurrent}?${name}=${app.keys.full}`;
    expect((await app.get(path, null)).body as unknown).toEqual(MISSING);
    // Nor does it stand in for a bad one in the header.
    expect((await askWith("Bearer nonsense", path)).body as unknown).toEqual(INVALID);
    expect((await askWith("Basic x", path)).body as unknown).toEqual(MISSING);
    expect((await askWith("bearer", path)).body as unknown).toEqual(MISSING);
  },
);

test.each(["access_token", "", "bearer", "Bearer"])("a key in a body as %p does not count", async (name) => {
  const body = JSON.stringify({ [name]: app.keys.full, ...BUS, timestamp: NOON_MS });
  for (const contentType of ["application/json", "application/x-ndjson"]) {
    const headers = { "content-type": contentType };
    const response = await app.fetch(INGEST_PATH, { method: "POST", headers, body });
    expect(await response.json()).toEqual(MISSING);
  }
});

test("a form body does not carry a key either", async () => {
  const body = new URLSearchParams({ access_token: app.keys.full });
  const response = await app.fetch(INGEST_PATH, { method: "POST", body });
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual(MISSING);
});

test("a revoked key is a 401 of its own", async () => {
  for (const path of EVERY_READ_PATH) {
    const { status, headers, body } = await app.get(path, "revoked");
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(body as unknown).toEqual({
      success: false,
      error: "REVOKED_API_KEY",
      code: "AUTH_003",
      message: "the API key was revoked",
    });
  }
  expect((await app.post([], "revoked")).status).toBe(401);
});

test("a key works until the moment it expires", async () => {
  const aging = await createTestApp();
  aging.clock.advance(3_600_000 - 1);
  expect((await aging.get(READ_PATHS.appCurrent, "expiring")).status).toBe(200);
  aging.clock.advance(1);
  const { status, headers, body } = await aging.get(READ_PATHS.appCurrent, "expiring");
  expect(status).toBe(401);
  expect(headers.get("www-authenticate")).toBe("Bearer");
  expect(body as unknown).toEqual({
    success: false,
    error: "EXPIRED_API_KEY",
    code: "AUTH_004",
    message: "the API key has expired",
  });
  expect((await aging.post([], "expiring")).body as unknown).toEqual(body as unknown);
});

test.each(KEYED.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s wants its permission, and takes a key that has no other",
  async (_name, endpoint) => {
    const { permission, isForViews } = endpoint;
    const ask = (key: KeyName) =>
      app.fetch(pathTo(endpoint), requestTo(endpoint, { authorization: `Bearer ${app.keys[key]}` }));
    for (const key of [...KEYS_WITHOUT[permission], ...(isForViews ? [] : VIEWERS)]) {
      const { status, headers, body } = await answerOf(await ask(key));
      expect(status).toBe(403);
      expect(headers.get("www-authenticate")).toBeNull();
      expect(headers.get("ratelimit")).not.toBeNull();
      expect(body as unknown).toEqual({
        success: false,
        error: "INSUFFICIENT_PERMISSIONS",
        code: "AUTH_005",
        message: `the API key lacks the permission ${permission}`,
      });
    }
    const key = keyFor(endpoint);
    await quarantine(app);
    await giveProfile(app);
    await correct(app);
    await watch(app);
    await subscribe(app);
    // Few may be pending at once.
    if (endpoint.path.includes("erasures")) await erase(app);
    const path = await withEntry(app, pathTo(endpoint));
    const headers = { authorization: `Bearer ${app.keys[key]}` };
    expect((await app.fetch(path, requestTo(endpoint, headers))).status).toBe(200);
  },
);

test.each(["writer", "operator"] satisfies KeyName[])(
  "a key with %s permission alone may not ask",
  async (key) => {
    for (const path of EVERY_READ_PATH) {
      const { status, headers, body } = await app.get(path, key);
      expect(status).toBe(403);
      expect(headers.get("www-authenticate")).toBeNull();
      expect(headers.get("ratelimit")).not.toBeNull();
      expect(body as unknown).toEqual({
        success: false,
        error: "INSUFFICIENT_PERMISSIONS",
        code: "AUTH_005",
        message: "the API key lacks the permission read",
      });
    }
  },
);

test.each(["reader", "operator"] satisfies KeyName[])(
  "a key with %s permission alone may not report",
  async (key) => {
    const { status, headers, body } = await app.post(
      [{ ...BUS, device_id: "unheard", timestamp: NOON_MS }],
      key,
    );
    expect(status).toBe(403);
    expect(headers.get("ratelimit")).not.toBeNull();
    expect(body as unknown).toEqual({
      success: false,
      error: "INSUFFICIENT_PERMISSIONS",
      code: "AUTH_005",
      message: "the API key lacks the permission write",
    });
    expect((await app.get("/api/v1/devices/unheard/locations/current")).status).toBe(404);
  },
);

test("each permission is enough for what it is for", async () => {
  await watch(app);
  await subscribe(app);
  for (const path of EVERY_READ_PATH)
    expect((await app.get(await withEntry(app, path), "reader")).status).toBe(200);
  expect((await app.post([{ ...BUS, timestamp: NOON_MS }], "writer")).status).toBe(200);
});

test.each(OPEN_PATHS)("%s needs no key and minds no bad one", async (path) => {
  expect((await app.fetch(path)).status).toBe(200);
  for (const authorization of ["Bearer nonsense", "Basic x", `Bearer ${app.keys.revoked}`]) {
    const response = await app.fetch(path, { headers: { authorization } });
    expect(response.status).toBe(200);
    expect(response.headers.get("ratelimit")).toBeNull();
  }
});
