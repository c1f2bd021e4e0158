import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ENDPOINTS as SERVED } from "../../../../src/http/endpoints.ts";
import { document, operationOf, type Schema, text } from "./open-api-document.ts";

/**
 * The document's endpoints, parameters and statuses against the interface specification and the contract. What
 * they say is written out here by hand, so that a bound that changes in our tables has to be changed here too.
 */

const COUNT = { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const INSTANT = { type: "integer", format: "int64" };
const LIMIT = { type: "integer", format: "int64", minimum: 1, maximum: 1000, default: 100 };
const OFFSET = { ...COUNT, default: 0 };
const METERS = { type: "number", minimum: 0 };
const METERS_TO_1000 = { ...METERS, maximum: 1000 };
const DATE = { type: "string", format: "date" };
const ZONE = {
  type: "string",
  minLength: 1,
  pattern: "^([A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)$",
};
const FLAG = { type: "boolean", default: false };
const TRAVELLED = { type: "string", enum: ["true", "false"], default: "false" };
const ORDER = { type: "string", enum: ["asc", "desc"], default: "asc" };
const USER_ID = { type: "string", pattern: "\\S", not: { enum: ["ANONYMOUS"] } };
/** With the names of a list sorted: their order is that of our table. */
function inOrder({ items, ...schema }: Schema): object {
  return items?.enum === undefined
    ? { items, ...schema }
    : { ...schema, items: { ...items, enum: items.enum.toSorted() } };
}

/** Fields that an answer's records may have, in any order. */
function fieldsOf(...names: readonly string[]) {
  const known = ["device_id", "timestamp", "latitude", "longitude", "user_id", ...names];
  return { type: "array", minItems: 1, uniqueItems: true, items: { type: "string", enum: known.toSorted() } };
}
const SHOWN = [
  "horizontal_accuracy",
  "altitude",
  "speed",
  "bearing",
  "battery_level",
  "type",
  "battery_status",
];
const CIRCUMSTANCES = [
  ...["vertical_accuracy", "network_status", "location_permission", "is_mock", "tracking_mode", "tz_offset"],
];
const MAKE = ["brand", "model", "os", "os_version"];
const VERSIONS = ["sdk_version", "app_version_name", "app_version_code"];
const CURRENT_FIELDS = fieldsOf("app_id", ...SHOWN, ...CIRCUMSTANCES);
/** Every question about data may say how far the server must be. */
const MIN_SEQUENCE = { "header Wherehouse-Min-Sequence": COUNT };
const DEVICE_ID = { type: "string", minLength: 1 };

/**
 * The parameters of every endpoint of the specification and the contract; a star stands before those that are required.
 */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  "GET /health": {},
  "GET /ready": {},
  "GET /docs": {},
  "GET /docs/ui": {},
  "GET /metrics": {},
  "GET /api/v1/users/{user_id}/locations/current": {
    "*path user_id": USER_ID,
    "query max_age": COUNT,
    "query accuracy": COUNT,
    "query limit": LIMIT,
    "query timezone": ZONE,
    "query places": FLAG,
    "query fields": CURRENT_FIELDS,
    "query names": FLAG,
  },
  "GET /api/v1/users/{user_id}/locations/history": {
    "*path user_id": USER_ID,
    "query start_date": DATE,
    "query end_date": DATE,
    "query limit": LIMIT,
    "query offset": OFFSET,
    "query timezone": ZONE,
    "query distance_travelled": TRAVELLED,
    "query order": ORDER,
    "query fields": fieldsOf("appId", "id", ...SHOWN, ...CIRCUMSTANCES, ...MAKE),
  },
  "GET /api/v1/users/{user_id}/devices": {
    "*path user_id": USER_ID,
    "query active_only": FLAG,
    "query max_age": { ...COUNT, default: 86_400 },
  },
  "GET /api/v1/devices/{deviceId}/locations/current": {
    "*path deviceId": DEVICE_ID,
    "query timezone": ZONE,
    "query places": FLAG,
    "query fields": fieldsOf("app_id", "id", ...SHOWN, ...CIRCUMSTANCES),
    "query names": FLAG,
  },
  "GET /api/v1/devices/{deviceId}/locations/history": {
    "*path deviceId": DEVICE_ID,
    "query start_date": DATE,
    "query end_date": DATE,
    "query limit": LIMIT,
    "query offset": OFFSET,
    "query min_accuracy": METERS_TO_1000,
    "query timezone": ZONE,
    "query distance_travelled": TRAVELLED,
    "query order": ORDER,
    "query fields": fieldsOf("appId", "id", ...SHOWN, ...CIRCUMSTANCES, ...MAKE, ...VERSIONS),
  },
  "GET /api/v1/locations/current": {
    "query limit": LIMIT,
    "query offset": OFFSET,
    "query timestamp_after": INSTANT,
    "query timestamp_before": INSTANT,
    "query timezone": ZONE,
    "query places": FLAG,
    "query fields": CURRENT_FIELDS,
    "query names": FLAG,
  },
  "GET /api/v1/locations/history": {
    "query start_date": DATE,
    "query end_date": DATE,
    "query limit": LIMIT,
    "query offset": OFFSET,
    "query min_accuracy": METERS_TO_1000,
    "query timezone": ZONE,
    "query order": ORDER,
    "query fields": fieldsOf("appId", "id", ...SHOWN),
  },
  "GET /api/v1/devices/nearby": {
    "*query latitude": { type: "number", minimum: -90, maximum: 90 },
    "*query longitude": { type: "number", minimum: -180, maximum: 180 },
    "query radius_miles": { type: "number", minimum: 0, maximum: 50, default: 5 },
    "query max_age_hours": { type: "number", minimum: 0, default: 24 },
    "query limit": LIMIT,
    "query offset": OFFSET,
    "query min_accuracy": METERS,
    "query timezone": ZONE,
    "query places": FLAG,
    "query fields": CURRENT_FIELDS,
    "query names": FLAG,
  },
  "POST /ingest/v1/locations": {
    "query app_id": { type: "string", minLength: 1, maxLength: 64 },
    "query count": { type: "string", enum: ["exact"] },
    "header Content-Encoding": { type: "string", enum: ["identity", "gzip", "zstd"], default: "identity" },
  },
};

const KEYED = ["200", "400", "401", "403", "405", "429", "500", "503"];

/** What can come back, status by status. */
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  "GET /health": ["200", "405", "500"],
  "GET /ready": ["200", "405", "500", "503"],
  "GET /docs": ["200", "405", "500"],
  "GET /docs/ui": ["200", "405", "500"],
  "GET /api/v1/users/{user_id}/locations/current": [...KEYED, "404"],
  "GET /api/v1/users/{user_id}/locations/history": [...KEYED, "404"],
  "GET /api/v1/users/{user_id}/devices": [...KEYED, "404"],
  "GET /api/v1/devices/{deviceId}/locations/current": [...KEYED, "404"],
  "GET /api/v1/devices/{deviceId}/locations/history": [...KEYED, "404"],
  "GET /api/v1/locations/current": KEYED,
  "GET /api/v1/locations/history": KEYED,
  "GET /api/v1/devices/nearby": KEYED,
  "POST /ingest/v1/locations": [...KEYED, "413", "415"],
  "GET /metrics": ["200", "401", "403", "405", "429", "500"],
};

const ENDPOINTS = Object.keys(PARAMETERS);
const OPEN = ["GET /health", "GET /ready", "GET /docs", "GET /docs/ui"];

describe("the document", () => {
  test("is valid under a validator that is not ours", async () => {
    expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true });
  });

  test("says what it is: OpenAPI 3.0.3, the server's version, the licence, this server", () => {
    expect(document.openapi).toBe("3.0.3");
    expect(document.info).toMatchObject({ version: "1.2.3", license: { name: "MIT" } });
    expect(document.servers.map(({ url }) => url)).toEqual(["/"]);
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: "http", scheme: "bearer" } });
  });

  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

  test("lists every endpoint that the server has, and no other", () => {
    const served = SERVED.filter(({ operation }) => operation !== null);
    const names = served.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    expect(listed.sort()).toEqual(names.sort());
  });

  test("lists every endpoint of the specification and the contract", () => {
    expect(ENDPOINTS.filter((endpoint) => !listed.includes(endpoint))).toEqual([]);
  });

  test("names each operation once, under a tag that it describes", () => {
    const operations = ENDPOINTS.map(operationOf);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(ENDPOINTS.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { tags: own, summary, description } of operations) {
      expect(tags).toContain(own[0]!);
      expect(summary).not.toBe("");
      expect(description).not.toBe("");
    }
  });
});

describe("each endpoint", () => {
  test.each(ENDPOINTS)("%s has its parameters, with their bounds and defaults", (endpoint) => {
    const parameters = operationOf(endpoint).parameters ?? [];
    const listed = parameters.map(({ name, in: place, required, schema, description }) => {
      expect(description).not.toBe("");
      return [`${required ? "*" : ""}${place} ${name}`, inOrder(schema)];
    });
    const isQuestion = endpoint.startsWith("GET /api/");
    const expected = { ...PARAMETERS[endpoint], ...(isQuestion ? MIN_SEQUENCE : {}) };
    expect(Object.fromEntries(listed)).toEqual(expected);
  });

  test.each(ENDPOINTS)("%s has every status that can come back, each with a body", (endpoint) => {
    const { responses } = operationOf(endpoint);
    expect(Object.keys(responses).sort()).toEqual([...STATUSES[endpoint]!].sort());
    for (const { description, content } of Object.values(responses)) {
      expect(description).not.toBe("");
      expect(Object.keys(content)).toHaveLength(1);
    }
  });

  test.each(ENDPOINTS)("%s names the headers of each status", (endpoint) => {
    const isOpen = OPEN.includes(endpoint);
    for (const [status, { headers }] of Object.entries(operationOf(endpoint).responses)) {
      const expected = ["X-Request-Id"];
      const outsideTheKey = ["401", "405"].includes(status);
      const isNoSuchPath = status === "404" && endpoint.includes("/users/");
      // One description serves every 500; where there was no key, it comes without a rate.
      const isKeyed = status === "500" || !(isOpen || outsideTheKey || isNoSuchPath);
      if (isKeyed) expected.push("RateLimit", "RateLimit-Policy");
      // Before the permission nothing is looked up; and what starts or stops knows no place in the log.
      const isAboutData = isKeyed && !endpoint.endsWith("/metrics");
      if (isAboutData && !["403", "429", "500", "503"].includes(status)) expected.push("Wherehouse-Sequence");
      if (status === "401") expected.push("WWW-Authenticate");
      if (status === "405") expected.push("Allow");
      if (status === "429" || status === "503") expected.push("Retry-After");
      if (Number(status) >= 400) expected.push("Wherehouse-Error-Code");
      if (status === "200" && endpoint.includes(" /api/v1/")) expected.push("Wherehouse-Ignored-Parameters");
      if (status === "200" && endpoint.endsWith(" /ingest/v1/locations"))
        expected.push("Wherehouse-New-Records", "Wherehouse-Same-Time");
      expect(Object.keys(headers).sort()).toEqual(expected.sort());
    }
  });

  test.each(ENDPOINTS)("%s asks for a key exactly where one is needed", (endpoint) => {
    expect(operationOf(endpoint).security).toEqual(OPEN.includes(endpoint) ? [] : [{ apiKey: [] }]);
  });
});
