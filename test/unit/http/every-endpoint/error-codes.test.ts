import { describe, expect, test } from "bun:test";
import { createKeyText } from "../../../../src/auth/api-key.ts";
import { DAWARICH_ENDPOINTS } from "../../../../src/http/clients/client-endpoints.ts";
import { ENDPOINTS } from "../../../../src/http/endpoints.ts";
import { ERROR_CODES } from "../../../../src/http/errors.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import {
  askedWith,
  BUS,
  KEYED,
  keyFor,
  nameOf,
  OF_CLIENTS,
  pathTo,
  requestTo,
  wrongPathTo,
  wrongQueryTo,
} from "../requests.ts";

/*
 * Contract §2: every error carries its code in `Wherehouse-Error-Code`. Each endpoint is made to fail in every way that
 * it can, and the code must be one of the table, of that status, the same that a body has.
 */

const ORIGIN = "https://maps.example";
const options = { moreEndpoints: DAWARICH_ENDPOINTS, corsOrigins: [ORIGIN] };
const app = await createTestApp(options);
await app.store([{ ...BUS, timestamp: NOON_MS }]);

/** Statuses by which clients keep what they sent, whatever is wrong with it. */
const KEEPING = [401, 503];

/** The code of a failure; null for a success, which has none. */
async function codeOf(response: Response, isOfClient = false): Promise<string | null> {
  const code = response.headers.get("wherehouse-error-code");
  if (response.status < 400) {
    expect(code).toBeNull();
    await response.body?.cancel(); // A stream has no end.
    return null;
  }
  const text = await response.text();
  expect({ status: response.status, code }).toEqual({ status: response.status, code: expect.any(String) });
  const known = ERROR_CODES[code as keyof typeof ERROR_CODES];
  expect(known).toBeDefined();
  if (!(isOfClient && KEEPING.includes(response.status))) expect(known.status).toBe(response.status as 400);
  if (response.headers.get("content-type") === "application/json" && text !== "") {
    const body = JSON.parse(text);
    if ("code" in body) expect(body.code).toBe(code);
  }
  return code;
}

async function stateless(state: "starting" | "stopping"): Promise<TestApp> {
  const own = await createTestApp(options);
  own.setReadiness(
    state === "starting" ? { status: "starting", replayed: 0, total: 9 } : { status: "stopping" },
  );
  return own;
}
const starting = await stateless("starting");
const stopping = await stateless("stopping");

describe.each(KEYED.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  const ask = async (path: string, headers: Readonly<Record<string, string>>, from = app) =>
    codeOf(await from.fetch(path, requestTo(endpoint, headers)));
  const as = (key: Parameters<typeof bearer>[0], from = app) => bearer(key, from);

  test("has a code for what is wrong with the key", async () => {
    const path = pathTo(endpoint);
    expect(await ask(path, {})).toBe("AUTH_001");
    expect(await ask(path, { authorization: `Bearer ${createKeyText()}` })).toBe("AUTH_002");
    expect(await ask(path, as("revoked"))).toBe("AUTH_003");
    expect(await ask(path, as(endpoint.permission === "write" ? "reader" : "writer"))).toBe("AUTH_005");
  });

  test("has a code for a wrong method, path and parameter, and for what is not there", async () => {
    const key = as(keyFor(endpoint));
    expect(await codeOf(await app.fetch(pathTo(endpoint), { method: "PATCH", headers: key }))).toBe(
      "METHOD_001",
    );
    const hasPath = Object.keys(endpoint.pathParameters).length > 0;
    if (hasPath) expect(await ask(wrongPathTo(endpoint), key)).toBe("PARAMETER_001");
    const wrongQuery = wrongQueryTo(endpoint);
    if (wrongQuery !== pathTo(endpoint))
      expect(await ask(wrongQuery, key)).toMatch(/^(PARAMETER|CONFLICT)_001$/);
    if ("timezone" in endpoint.query) {
      const path = pathTo(endpoint);
      expect(await ask(`${path}${path.includes("?") ? "&" : "?"}timezone=Mars`, key)).toBe("PARAMETER_002");
    }
    await ask(pathTo(endpoint, { deviceId: "unknown", user_id: "unknown" }), key);
    if (endpoint.path.includes(":user_id"))
      expect(await ask(pathTo(endpoint, { user_id: "ANONYMOUS" }), key)).toBe("PARAMETER_003");
    if (endpoint.method === "POST" && endpoint.operation?.body !== undefined) {
      expect(
        await codeOf(await app.fetch(pathTo(endpoint), { method: "POST", headers: key, body: "x" })),
      ).toBe("BODY_004");
      const json = { ...key, "content-type": "application/json" };
      expect(
        await codeOf(await app.fetch(pathTo(endpoint), { method: "POST", headers: json, body: "{" })),
      ).toBe("BODY_001");
    }
  });

  test("has a code while the server starts and stops", async () => {
    if (endpoint.permission === "operate") return; // These answer also then.
    expect(await ask(pathTo(endpoint), as(keyFor(endpoint), starting), starting)).toBe("UNAVAILABLE_001");
    expect(await ask(pathTo(endpoint), as(keyFor(endpoint), stopping), stopping)).toBe("UNAVAILABLE_001");
  });
});

function bearer(key: keyof TestApp["keys"], from: TestApp) {
  return { authorization: `Bearer ${from.keys[key]}` };
}

const CLIENT_PATHS = [...OF_CLIENTS, ...DAWARICH_ENDPOINTS];

describe.each(CLIENT_PATHS.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s",
  (_name, endpoint) => {
    test("has a code for every refusal, and none with success", async () => {
      const ask = async (from: TestApp, keyText: string, headers = {}) => {
        const [path, init] = askedWith(endpoint, keyText, headers);
        return codeOf(await from.fetch(path, init), true);
      };
      expect(await ask(app, app.keys.writer)).toBeNull();
      expect(await ask(app, createKeyText())).toBe("AUTH_002");
      expect(await ask(app, app.keys.revoked)).toBe("AUTH_003");
      expect(await ask(app, app.keys.reader)).toBe("AUTH_005");
      expect(await ask(starting, starting.keys.writer)).toBe("UNAVAILABLE_001");
      // OwnTracks for iOS deletes what a 4xx answers: the status is another, the code is not.
      expect(await ask(app, createKeyText(), { "x-limit-d": "phone" })).toBe("AUTH_002");
      const [path] = askedWith(endpoint, app.keys.writer);
      const headers = bearer("writer", app);
      expect(await codeOf(await app.fetch(path, { method: "PATCH", headers }), true)).toBe("METHOD_001");
      if (endpoint.method === "POST") {
        const file = {
          method: "POST",
          headers: { ...headers, "content-type": "application/gpx+xml" },
          body: "<gpx/>",
        };
        expect(await codeOf(await app.fetch(path, file), true)).toBe("BODY_004");
      }
    });
  },
);

test("what no endpoint takes has a code, and so has what the map page asks in vain", async () => {
  expect(await codeOf(await app.fetch("/nowhere"))).toBe("NOT_FOUND_001");
  expect(
    await codeOf(await app.fetch("/nowhere", { method: "POST", headers: { "x-limit-d": "phone" } }), true),
  ).toBe("NOT_FOUND_001");
  for (const endpoint of ENDPOINTS.filter(({ kind }) => kind !== "keyed" && kind !== "client")) {
    await codeOf(await app.fetch(pathTo(endpoint), { method: endpoint.method }));
    expect(await codeOf(await app.fetch(pathTo(endpoint), { method: "PATCH" }))).toBe("METHOD_001");
  }
  expect(await codeOf(await starting.fetch("/ready"))).toBe("UNAVAILABLE_001");
});

test("too many requests and a fault of ours have a code", async () => {
  const headers = bearer("freeReader", app);
  const codes: (string | null)[] = [];
  for (let asked = 0; asked < 21; asked++)
    codes.push(await codeOf(await app.fetch("/api/v1/locations/current", { headers })));
  expect(codes.at(-1)).toBe("RATE_001");
  const broken = await createTestApp({
    ingestMessage: () => {
      throw new Error("broken");
    },
  });
  const report = { method: "POST", headers: bearer("writer", broken), body: "{}" };
  expect(await codeOf(await broken.fetch("/ingest/owntracks", report))).toBe("SERVER_001");
});

test("a page of a named origin may read the code", async () => {
  const response = await app.fetch("/nowhere", { headers: { origin: ORIGIN } });
  const exposed = response.headers.get("access-control-expose-headers")?.split(", ");
  expect(exposed).toContain("Wherehouse-Error-Code");
  expect(exposed).toContain("Wherehouse-Ignored-Parameters");
});
