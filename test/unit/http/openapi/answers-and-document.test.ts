import { describe, expect, test } from "bun:test";
import { WatchStore } from "../../../../src/geofences/watch-store.ts";
import { DeviceProfiles } from "../../../../src/hot/device-profiles.ts";
import { Corrections } from "../../../../src/hot/hidden/corrections.ts";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { WebhookStore } from "../../../../src/hot/webhook-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { textOf } from "../../../support/event-reader.ts";
import { createTestApp, type KeyName, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { correct, giveProfile, quarantine, subscribe, watch, withEntry } from "../quarantined.ts";
import {
  askedWith,
  BUS,
  INGEST_PATH,
  KEYED,
  KEYS_WITHOUT,
  keyFor,
  nameOf,
  OF_CLIENTS,
  OPEN,
  pathsWithEach,
  pathTo,
  READ_PATHS,
  type ReadEndpoint,
  requestTo,
  takesReports,
  VIEWERS,
  wrongQueryTo,
} from "../requests.ts";
import { resolveRef, type Schema, schemaFaults } from "./schema-faults.ts";

/** Real answers of every endpoint and status, held against the document that `/docs` serves. */

const DOCUMENTED = [...KEYED, ...OPEN].filter(({ operation }) => operation !== null);

interface Operation {
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, object>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

const FULL = {
  ...BUS,
  timestamp: NOON_MS,
  ...{ horizontal_accuracy: 4.8, vertical_accuracy: 3, altitude: -5.5, speed: 8.3, bearing: 360 },
  ...{
    battery_level: 100,
    type: "",
    battery_status: "Charging",
    tracking_mode: "BALANCED",
    tz_offset: "-0330",
  },
  ...{ network_status: true, location_permission: false, is_mock: false },
  ...{ brand: "b", model: "m", os: "o", os_version: "15" },
  ...{ sdk_version: "s", app_version_name: "n", app_version_code: "c" },
};

const app = await createTestApp();
await app.store([
  FULL,
  { ...BUS, device_id: "sparse", timestamp: NOON_MS - 1 },
  { ...BUS, timestamp: NOON_MS - 5 },
]);
const document: unknown = await (await app.fetch("/docs")).json();
const paths = (document as { paths: Record<string, Record<string, Operation>> }).paths;

/** A header is sent with every such answer unless the document says otherwise. */
function isAlwaysSent(header: unknown): boolean {
  return resolveRef<{ readonly required?: boolean }>(document, header as object).required !== false;
}

/** What the document says of an answer, and what is wrong with it. */
function faultsOf(path: string, method: string, response: Response, body: unknown): string[] {
  const described = paths[path]?.[method]?.responses[response.status];
  if (described === undefined) return [`${method} ${path} has no ${response.status} in the document`];
  const { headers = {}, content } = resolveRef<DescribedResponse>(document, described);
  const missing = Object.entries(headers)
    .filter(([name, header]) => isAlwaysSent(header) && !response.headers.has(name))
    .map(([name]) => name);
  const media = content[response.headers.get("content-type")?.split(";")[0] ?? ""];
  if (media === undefined) return [`${method} ${path} ${response.status} has another type in the document`];
  return [
    ...missing.map((name) => `${method} ${path} ${response.status} lacks the header ${name}`),
    ...schemaFaults(document, media.schema, body),
  ];
}

/** Every endpoint of the document, and every way in which it may be refused that follows from what it is. */
describe.each(DOCUMENTED.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s",
  (_name, endpoint) => {
    const { permission, query } = endpoint;
    const template = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    const path = pathTo(endpoint);
    const method = endpoint.method.toLowerCase();
    const key = endpoint.kind === "keyed" ? keyFor(endpoint) : "full";
    const ask = async (from: TestApp, status: number, asked = path, as: KeyName | null = key) => {
      const headers = as === null ? {} : { authorization: `Bearer ${from.keys[as]}` };
      // Again each time: it may be deleted.
      if (status === 200) {
        await Promise.all([quarantine(from), giveProfile(from)]);
        await correct(from);
        await watch(from);
        await subscribe(from);
      }
      const known = status === 200 ? await withEntry(from, asked) : asked;
      const response = await from.fetch(known, requestTo(endpoint, headers));
      const isJson = response.headers.get("content-type") === "application/json";
      const body: unknown = isJson ? await response.json() : await textOf(response);
      expect({ asked, status: response.status }).toEqual({ asked, status });
      expect(faultsOf(template, method, response, body)).toEqual([]);
    };

    test("answers as the document has it", async () => {
      await ask(app, 200);
      for (const more of pathsWithEach(endpoint))
        await ask(app, 200, more, more.includes("originals=true") ? "full" : key);
      const response = await app.fetch(path, { method: "PATCH" });
      expect(response.status).toBe(405);
      expect(faultsOf(template, method, response, await response.json())).toEqual([]);
      if (Object.keys(query).length > 0) await ask(app, 400, wrongQueryTo(endpoint));
    });

    if (permission !== null) {
      test("refuses as the document has it", async () => {
        await ask(app, 401, path, null);
        await ask(app, 401, path, "revoked");
        for (const other of KEYS_WITHOUT[permission]) await ask(app, 403, path, other);
        const views = endpoint.kind === "keyed" && endpoint.isForViews ? 200 : 403;
        for (const viewer of VIEWERS) await ask(app, views, path, viewer);
        const exhausted = await createTestApp();
        const free = permission === "write" ? "freeWriter" : "freeReader";
        for (let i = 0; i < 20; i++) await exhausted.fetch(path, requestTo(endpoint, as(exhausted, free)));
        await ask(exhausted, 429, path, free);
      });
    }

    // What answers about records needs them to be there; the rest of what takes a key tells of the service.
    if (permission !== null && permission !== "operate") {
      test("fails as the document has it", async () => {
        const own = await createTestApp();
        for (const state of [
          { status: "starting", replayed: 0, total: 9 },
          { status: "stopping" },
        ] as const) {
          own.setReadiness(state);
          await ask(own, 503);
        }
        await ask(await createBrokenApp(), 500);
      });
    }
  },
);

function as({ keys }: TestApp, key: KeyName) {
  return { authorization: `Bearer ${keys[key]}` };
}

/** An app of which everything that could answer fails. */
function createBrokenApp(): Promise<TestApp> {
  const fault = () => {
    throw new Error("broken");
  };
  return createTestApp({
    hot: {
      ...createHotStore(new Scheduler()),
      findApp: fault,
      profiles: Object.assign(new DeviceProfiles(), { find: fault }),
      corrections: Object.assign(new Corrections(), { find: fault, list: fault }),
      watches: Object.assign(new WatchStore(), { find: fault }),
      webhooks: Object.assign(new WebhookStore(), { find: fault, ofApp: fault }),
    },
    editProfile: fault,
    editWatches: { create: fault, replace: fault, delete: fault, import: fault },
    correct: { create: fault, preview: fault, undo: fault },
    erase: { create: fault, preview: fault },
    erasures: fault,
    events: fault,
    webhooks: fault,
    nearby: fault,
    viewers: { open: fault, openEvents: fault, openBoth: fault, stop: fault },
    quarantine: fault,
    doctor: { note: fault, lastRequests: fault, examine: fault, forget: fault },
    ingest: fault,
    uploads: { take: fault, readFences: fault },
    current: { ofDevice: fault, ofUser: fault, ofApp: fault },
    history: { ofDevice: fault, ofUser: fault, ofApp: fault },
    readPositions: fault,
    deviceDays: fault,
    readCoordinates: fault,
    findFleetTracks: fault,
    previewFence: fault,
    exports: fault,
  });
}

/** Clients are answered in words of their own, some of them none. */
describe.each(OF_CLIENTS.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s",
  (_name, endpoint) => {
    const template = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    const method = endpoint.method.toLowerCase();

    async function ask(from: TestApp, status: number, key: KeyName, more: RequestInit = {}, query = "") {
      const [path, init] = askedWith(endpoint, from.keys[key]);
      const asked = query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
      const headers = { ...(init.headers as Record<string, string>), ...(more.headers as object) };
      const response = await from.fetch(asked, { ...init, ...more, headers });
      expect({ asked, status: response.status }).toEqual({ asked, status });
      const described = paths[template]?.[method]?.responses[status];
      expect(described, `${method} ${template} ${status}`).toBeDefined();
      const { headers: named = {}, content = {} } = resolveRef<DescribedResponse>(document, described!);
      expect(Object.keys(named).filter((name) => !response.headers.has(name))).toEqual([]);
      const type = response.headers.get("content-type")?.split(";")[0];
      expect(Object.keys(content)).toEqual(type === undefined ? [] : [type]);
      if (type === undefined) expect(await response.text()).toBe("");
    }

    test("answers as the document has it, and refuses so", async () => {
      await ask(app, 200, "writer");
      await ask(app, 401, "revoked");
      await ask(app, 401, "reader");
      await ask(app, 405, "writer", { method: "PATCH", body: null });
      if (takesReports(endpoint)) await ask(app, 400, "writer", {}, "speed_unit=x");
      if (endpoint.method === "POST") {
        await ask(app, 413, "writer", { headers: { "content-length": "16777217" } });
        await ask(app, 415, "writer", { headers: { "content-encoding": "br" } });
      }
      const own = await createTestApp({
        ingestMessage: () => {
          throw new Error("broken");
        },
      });
      if (takesReports(endpoint)) await ask(own, 500, "writer");
      own.setReadiness({ status: "stopping" });
      await ask(own, 503, "writer");
    });
  },
);

const READ_ENDPOINTS = Object.keys(READ_PATHS) as ReadEndpoint[];

const TEMPLATES: Readonly<Record<ReadEndpoint, string>> = {
  userCurrent: "/api/v1/users/{user_id}/locations/current",
  userHistory: "/api/v1/users/{user_id}/locations/history",
  userDevices: "/api/v1/users/{user_id}/devices",
  deviceCurrent: "/api/v1/devices/{deviceId}/locations/current",
  deviceHistory: "/api/v1/devices/{deviceId}/locations/history",
  appCurrent: "/api/v1/locations/current",
  appHistory: "/api/v1/locations/history",
  nearby: "/api/v1/devices/nearby",
};

async function expectDescribed(
  from: TestApp,
  template: string,
  path: string,
  init: RequestInit,
  status: number,
) {
  const response = await from.fetch(path, init);
  const body: unknown = await response.json();
  const method = init.method?.toLowerCase() ?? "get";
  expect({ path, status: response.status }).toEqual({ path, status });
  // A 405 is an answer to another method than the operation's own.
  const described = status === 405 ? (template === INGEST_PATH ? "post" : "get") : method;
  expect(faultsOf(template, described, response, body)).toEqual([]);
}

const keyed = (key: keyof typeof app.keys) => ({ headers: { authorization: `Bearer ${app.keys[key]}` } });

test.each(READ_ENDPOINTS)("answers of %s are as the document has them", async (endpoint) => {
  const template = TEMPLATES[endpoint];
  const path = READ_PATHS[endpoint];
  const more = path.includes("?") ? "&" : "?";
  const expectStatus = (query: string, status: number, init: RequestInit = keyed("full")) =>
    expectDescribed(app, template, query === "" ? path : `${path}${more}${query}`, init, status);
  await expectStatus("", 200);
  await expectStatus("timezone=Asia/Kathmandu", 200);
  await expectStatus("distance_travelled=true&limit=1&order=desc&offset=1", 200);
  await expectStatus("start_date=2026-01-01&end_date=2026-01-02&timestamp_before=0&max_age_hours=0", 200);
  await expectStatus("", 401, {});
  await expectStatus("", 401, keyed("revoked"));
  await expectStatus("", 403, keyed("writer"));
  await expectStatus("", 405, { method: "PATCH" });
  const hasZone = endpoint !== "userDevices";
  await expectStatus(hasZone ? "timezone=Mars" : "max_age=-1", 400);
  if (endpoint !== "deviceCurrent") await expectStatus(hasZone ? "limit=0&max_age=x" : "active_only=1", 400);

  const exhausted = await createTestApp();
  for (let i = 0; i < 20; i++) await exhausted.get(path, "free");
  const free = { headers: { authorization: `Bearer ${exhausted.keys.free}` } };
  await expectDescribed(exhausted, template, path, free, 429);
});

test("failures that a path brings are as the document has them", async () => {
  for (const endpoint of ["userCurrent", "userHistory", "userDevices"] as const) {
    for (const user of ["ANONYMOUS", "%20", "%ff"]) {
      const path = READ_PATHS[endpoint].replace("driver", user);
      await expectDescribed(app, TEMPLATES[endpoint], path, keyed("full"), 400);
    }
  }
  for (const endpoint of ["deviceCurrent", "deviceHistory"] as const) {
    const unknown = READ_PATHS[endpoint].replace("bus", "unknown");
    await expectDescribed(app, TEMPLATES[endpoint], unknown, keyed("full"), 404);
    const badBytes = READ_PATHS[endpoint].replace("bus", "%ff");
    await expectDescribed(app, TEMPLATES[endpoint], badBytes, keyed("full"), 400);
  }
});

test("answers to reports are as the document has them", async () => {
  const send = (
    status: number,
    body: string,
    headers: Record<string, string> = {},
    key: keyof typeof app.keys = "full",
  ) => {
    const all = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json", ...headers };
    return expectDescribed(app, INGEST_PATH, INGEST_PATH, { method: "POST", headers: all, body }, status);
  };
  await send(200, JSON.stringify({ locations: [FULL, {}, null, { ...FULL, speed: -1 }] }));
  await send(200, JSON.stringify(FULL));
  await send(400, "{");
  await send(401, "{}", {}, "revoked");
  await send(403, "{}", {}, "reader");
  await send(413, "{}", { "content-length": "16777217" });
  await send(415, "{}", { "content-type": "text/plain" });
  await send(415, "{}", { "content-encoding": "br" });
  await expectDescribed(app, INGEST_PATH, INGEST_PATH, { method: "PATCH" }, 405);
  for (let i = 0; i < 20; i++) await app.post([], "freeWriter");
  await send(429, "{}", {}, "freeWriter");

  const full = await createTestApp();
  full.files.capacityBytes = 0;
  const headers = { authorization: `Bearer ${full.keys.full}`, "content-type": "application/json" };
  const sent = { method: "POST", headers, body: JSON.stringify(FULL) };
  await expectDescribed(full, INGEST_PATH, INGEST_PATH, sent, 503);
});

test("a report that the document allows is taken, with every field", async () => {
  const { schemas } = (document as { components: { schemas: Record<string, Schema> } }).components;
  expect(schemaFaults(document, schemas.LocationReport!, FULL)).toEqual([]);
  expect(Object.keys(FULL).sort()).toEqual(Object.keys(schemas.LocationReport?.properties ?? {}).sort());
});

test("what the service says of itself is as the document has it", async () => {
  const own = await createTestApp();
  await expectDescribed(own, "/health", "/health", {}, 200);
  await expectDescribed(own, "/ready", "/ready", {}, 200);
  await expectDescribed(own, "/docs", "/docs", {}, 200);
  for (const path of ["/health", "/ready", "/docs"])
    await expectDescribed(own, path, path, { method: "PATCH" }, 405);
  for (const state of [{ status: "starting", replayed: 0, total: 9 }, { status: "stopping" }] as const) {
    own.setReadiness(state);
    await expectDescribed(own, "/ready", "/ready", {}, 503);
    const headers = { authorization: `Bearer ${own.keys.full}` };
    for (const endpoint of READ_ENDPOINTS) {
      await expectDescribed(own, TEMPLATES[endpoint], READ_PATHS[endpoint], { headers }, 503);
    }
  }
});

test("our own mistakes are as the document has them", async () => {
  const broken = await createBrokenApp();
  const headers = { authorization: `Bearer ${broken.keys.full}`, "content-type": "application/json" };
  for (const endpoint of READ_ENDPOINTS) {
    await expectDescribed(broken, TEMPLATES[endpoint], READ_PATHS[endpoint], { headers }, 500);
  }
  const sent = { method: "POST", headers, body: JSON.stringify(FULL) };
  await expectDescribed(broken, INGEST_PATH, INGEST_PATH, sent, 500);
});

test("schemaFaults() sees what is wrong", () => {
  const schema: Schema = {
    type: "object",
    additionalProperties: false,
    required: ["a"],
    properties: {
      a: { type: "integer", minimum: 1 },
      b: { type: "array", items: { type: "string", pattern: "^x" } },
    },
  };
  const faults = (value: unknown) => schemaFaults({}, schema, value).length;
  expect([{ a: 1 }, { a: 1, b: ["x"] }].map(faults)).toEqual([0, 0]);
  expect([{}, { a: 0 }, { a: 1.5 }, { a: null }, { a: 1, c: 1 }, { a: 1, b: ["y"] }, []].map(faults)).toEqual(
    new Array(7).fill(1),
  );
  const either = { anyOf: [schema, { type: "integer" }] };
  expect([{ a: 1 }, 7].flatMap((value) => schemaFaults({}, either, value))).toEqual([]);
  expect([{}, "7"].map((value) => schemaFaults({}, either, value).length)).toEqual([1, 1]);
});
