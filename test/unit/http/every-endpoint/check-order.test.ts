import { describe, expect, test } from "bun:test";
import { answerOf, createTestApp, type KeyName, NOON_MS } from "../../../support/test-app.ts";
import {
  BUS,
  EVERY_READ_PATH,
  INGEST_PATH,
  KEYED,
  keyFor,
  nameOf,
  pathTo,
  READ_PATHS,
  requestTo,
  wrongPathTo,
  wrongQueryTo,
} from "../requests.ts";

/**
 * Contract §2, "Order of checks: path and method, key, rate, permission, user id, parameters, existence". Each
 * request here is wrong in two ways at once, and the earlier one must be told.
 */

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

const USER_ANONYMOUS = "/api/v1/users/ANONYMOUS/locations/current";

/** Every endpoint that needs a key, wrong in two ways at a time; what it has no place for is not wrong. */
describe.each(KEYED.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  const { permission, pathParameters, query } = endpoint;
  const wrongPath = wrongPathTo(endpoint);
  const wrong = wrongQueryTo(endpoint, wrongPath);
  const ask = async (path: string, key: KeyName | null, from = app) => {
    const headers = key === null ? {} : { authorization: `Bearer ${from.keys[key]}` };
    const sent = requestTo(endpoint, headers);
    const init = sent.body === undefined ? sent : { ...sent, headers: { ...headers, "content-type": "x" } };
    return answerOf(await from.fetch(path, init));
  };

  test("the method comes before the key", async () => {
    expect((await app.fetch(wrong, { method: "PATCH" })).status).toBe(405);
  });

  test("the key comes before all that is in the request", async () => {
    expect((await ask(wrong, null)).body.code).toBe("AUTH_001");
    expect((await ask(wrong, "revoked")).body.code).toBe("AUTH_003");
  });

  test("the rate comes before the permission, and the permission before the rest", async () => {
    const own = await createTestApp();
    const key = permission === "write" ? "freeReader" : "freeWriter";
    const codes: unknown[] = [];
    for (let i = 0; i < 21; i++) codes.push((await ask(wrong, key, own)).body.code);
    expect(codes).toEqual([...new Array(20).fill("AUTH_005"), "RATE_001"]);
  });

  test("the path comes before the parameters, and these before what is there", async () => {
    const [name] = Object.keys(query);
    const [id] = Object.keys(pathParameters);
    if (id !== undefined) {
      const { status, body } = await ask(wrong, keyFor(endpoint));
      expect([status, body.message]).toEqual([400, `${id} in the path must be percent-encoded UTF-8`]);
    }
    if (name !== undefined) {
      const ids = Object.keys(pathParameters).filter(
        (each) => pathParameters[each]!.schema.type === "string",
      );
      const unknown = pathTo(endpoint, Object.fromEntries(ids.map((each) => [each, "unknown"])));
      const { status, body } = await ask(wrongQueryTo(endpoint, unknown.split("?")[0]!), keyFor(endpoint));
      expect([status, body.message]).toEqual([400, `${name} must not be repeated`]);
    }
  });
});

test("the path comes before the key", async () => {
  expect((await app.get("/api/v1/nothing", null)).status).toBe(404);
  expect((await app.get("/api/v1/nothing?limit=0", "revoked")).status).toBe(404);
});

test("the method comes before the key", async () => {
  for (const path of [...EVERY_READ_PATH, USER_ANONYMOUS]) {
    const response = await app.fetch(path, { method: "PATCH" });
    expect(response.status).toBe(405);
  }
  expect((await app.fetch(INGEST_PATH)).status).toBe(405);
});

test("the key comes before all that is in the request", async () => {
  const wrong = [
    USER_ANONYMOUS,
    "/api/v1/users//devices",
    "/api/v1/users/%ff/devices",
    "/api/v1/devices/%ff/locations/current",
    "/api/v1/devices/unknown/locations/history?timezone=Mars&limit=0",
    "/api/v1/locations/history?start_date=2026-02-30",
    "/api/v1/devices/nearby?latitude=91",
  ];
  for (const path of wrong) {
    expect((await app.get(path, null)).body.code).toBe("AUTH_001");
    expect((await app.get(path, "revoked")).body.code).toBe("AUTH_003");
  }
  const sent = { method: "POST", headers: { "content-type": "text/plain" }, body: "x" };
  expect((await app.fetch(INGEST_PATH, sent)).status).toBe(401);
});

test("the rate comes before the permission", async () => {
  const codes: unknown[] = [];
  for (let i = 0; i < 21; i++) codes.push((await app.get(READ_PATHS.appCurrent, "freeWriter")).body.code);
  expect(codes).toEqual([...new Array(20).fill("AUTH_005"), "RATE_001"]);
});

test("the permission comes before user id, parameters and body", async () => {
  const wrong = [USER_ANONYMOUS, "/api/v1/users//devices", "/api/v1/devices/%ff/locations/history"];
  for (const path of [...wrong, "/api/v1/devices/nearby"]) {
    expect((await app.get(path, "writer")).body.code).toBe("AUTH_005");
  }
  const response = await app.fetch(INGEST_PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.reader}`, "content-type": "text/plain" },
    body: "x",
  });
  expect((await answerOf(response)).body.code).toBe("AUTH_005");
});

test("the user id comes before the parameters", async () => {
  const message = "user_id must not be ANONYMOUS";
  for (const path of [
    "locations/current?limit=0",
    "locations/history?timezone=Mars",
    "devices?active_only=1",
  ]) {
    const { status, body } = await app.get(`/api/v1/users/ANONYMOUS/${path}`);
    expect(status).toBe(400);
    expect(body as unknown).toEqual({ error: "Invalid user_id", message });
  }
});

test("the parameters come before the device", async () => {
  const current = await app.get("/api/v1/devices/unknown/locations/current?timezone=Mars");
  expect(current.status).toBe(400);
  expect(current.body as unknown).toEqual({ success: false, message: "Invalid timezone: Mars" });

  const history = await app.get("/api/v1/devices/unknown/locations/history?limit=0");
  expect(history.status).toBe(400);
  expect(history.body as unknown).toEqual({ success: false, message: "limit must be between 1 and 1000" });

  const reversed = await app.get(
    "/api/v1/devices/unknown/locations/history?start_date=2026-03-02&end_date=2026-03-01",
  );
  expect(reversed.status).toBe(400);
  expect(reversed.body as unknown).toEqual({
    success: false,
    message: "start_date must not be after end_date",
  });
});

test("reports: type before coding before size", async () => {
  const send = async (headers: Record<string, string>) => {
    const response = await app.fetch(INGEST_PATH, {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.full}`, ...headers },
      body: "not json",
    });
    return (await answerOf(response)).body.message;
  };
  const huge = { "content-length": "99999999" };
  expect(await send({ "content-type": "text/plain", "content-encoding": "br", ...huge })).toBe(
    "content-type must be application/json or application/x-ndjson",
  );
  expect(await send({ "content-type": "application/json", "content-encoding": "br", ...huge })).toBe(
    'content-encoding must be gzip or zstd, or absent; "br" is not supported',
  );
  expect(await send({ "content-type": "application/json", "content-encoding": "gzip", ...huge })).toBe(
    "the body must be at most 16 MiB, before and after decompression",
  );
});
