import { describe, expect, test } from "bun:test";
import {
  app,
  bodyOf,
  deepMembersOf,
  document,
  membersOf,
  operationOf,
  type Schema,
} from "./open-api-document.ts";

/** The document's bodies against the interface specification and the contract, written out by hand. */

describe("bodies of 200", () => {
  const PAGE = ["pagination", "pagination.count", "pagination.has_more"];
  const PAGED = [...PAGE, "pagination.offset", "pagination.limit"];
  const QUERY = [
    "query_info",
    "query_info.time_range",
    "query_info.time_range.start",
    "query_info.time_range.end",
    "query_info.data_scanned_mb",
    "query_info.incomplete?",
    "query_info.query_time_ms",
  ];
  const TRAVEL = ["distance_travelled?", "distance_travelled?.meters", "distance_travelled?.miles"];

  const BODIES: Readonly<Record<string, readonly string[]>> = {
    "GET /health": ["status", "version", "uptime_seconds"],
    "GET /ready": [
      "status",
      "damaged",
      "retention",
      "retention_start",
      "seal",
      "seal.last",
      "seal.late",
      "lag_ms?",
    ],
    "GET /api/v1/users/{user_id}/locations/current": ["success", "user_id", "device_count", "locations"],
    "GET /api/v1/users/{user_id}/locations/history": [
      "user_id",
      "locations",
      ...PAGED,
      "pagination.total_estimated",
      ...QUERY,
      "query_info.source",
      ...TRAVEL,
      "distance_travelled?.by_device",
    ],
    "GET /api/v1/users/{user_id}/devices": ["user_id", "device_count", "devices"],
    "GET /api/v1/devices/{deviceId}/locations/history": [
      "success",
      "device_id",
      "locations",
      ...PAGE,
      ...QUERY,
      ...TRAVEL,
    ],
    "GET /api/v1/locations/current": ["success", "app_id", "locations", ...PAGED, "pagination.total_count"],
    "GET /api/v1/locations/history": [
      "success",
      "app_id",
      "locations",
      ...PAGE,
      "pagination.total_devices",
      ...QUERY,
      "query_info.devices_queried",
    ],
    "GET /api/v1/devices/nearby": [
      "success",
      "app_id",
      "search_criteria",
      "search_criteria.center",
      "search_criteria.center.latitude",
      "search_criteria.center.longitude",
      "search_criteria.radius_miles",
      "search_criteria.max_age_hours",
      "results",
      ...PAGED,
      "pagination.total_matches",
      "total_candidates",
      "query_time_ms",
    ],
    "POST /ingest/v1/locations": ["success", "accepted", "duplicates", "rejected", "sequence"],
  };

  test.each(Object.keys(BODIES))("%s has the members of its envelope", (endpoint) => {
    expect(deepMembersOf(bodyOf(endpoint)).sort()).toEqual([...BODIES[endpoint]!].sort());
  });

  const EVERY_RECORD =
    "device_id timestamp latitude longitude horizontal_accuracy? altitude? speed? bearing? type? battery_level? battery_status? user_id local_time?";
  const CURRENT =
    "app_id vertical_accuracy? network_status? location_permission? is_mock? tracking_mode? tz_offset? name? place?";
  const USER_HISTORY =
    "id appId vertical_accuracy? network_status? location_permission? is_mock? tracking_mode? tz_offset? brand? model? os? os_version?";

  /** As keys that may read are shown them, and as share links are. */
  const APP_CURRENT = itemsOf("GET /api/v1/locations/current", "locations");

  const RECORDS: readonly (readonly [string, Schema, string])[] = [
    [
      "user current",
      itemsOf("GET /api/v1/users/{user_id}/locations/current", "locations").anyOf![0]!,
      CURRENT,
    ],
    ["app current", APP_CURRENT.anyOf![0]!, CURRENT],
    ["nearby", itemsOf("GET /api/v1/devices/nearby", "results").properties.location!.anyOf![0]!, CURRENT],
    [
      "device current",
      bodyOf("GET /api/v1/devices/{deviceId}/locations/current").properties.location!.anyOf![0]!,
      `id ${CURRENT}`,
    ],
    [
      "user history",
      itemsOf("GET /api/v1/users/{user_id}/locations/history", "locations").anyOf![0]!,
      USER_HISTORY,
    ],
    [
      "device history",
      itemsOf("GET /api/v1/devices/{deviceId}/locations/history", "locations").anyOf![0]!,
      `${USER_HISTORY} sdk_version? app_version_name? app_version_code?`,
    ],
    ["app-wide history", itemsOf("GET /api/v1/locations/history", "locations").anyOf![0]!, "id appId"],
  ];

  test.each(RECORDS)("records of %s have their fields", (_name, schema, besides) => {
    expect(membersOf(schema).sort()).toEqual(`${EVERY_RECORD} ${besides}`.split(" ").sort());
  });

  test("records of a view have theirs, and nothing of users, ids or phones", () => {
    expect(membersOf(APP_CURRENT.anyOf![1]!).sort()).toEqual(
      "device_id timestamp latitude longitude horizontal_accuracy? altitude? speed? bearing? local_time? name? place?"
        .split(" ")
        .sort(),
    );
  });

  test("records of which some fields are chosen may have all fields, and must have two", () => {
    const all = `${EVERY_RECORD} ${USER_HISTORY} app_id name place sdk_version app_version_name app_version_code`;
    const names = new Set(all.split(" ").map((name) => name.replace("?", "")));
    const partial = [...names].map((name) => (["device_id", "timestamp"].includes(name) ? name : `${name}?`));
    expect(membersOf(APP_CURRENT.anyOf![2]!).sort()).toEqual(partial.sort());
    for (const endpoint of ["users/{user_id}", "devices/{deviceId}"])
      expect(itemsOf(`GET /api/v1/${endpoint}/locations/history`, "locations").anyOf![1]).toEqual(
        APP_CURRENT.anyOf![2]!,
      );
  });

  test("results, devices and rejected reports have theirs", () => {
    expect(membersOf(itemsOf("GET /api/v1/devices/nearby", "results"))).toEqual([
      "device_id",
      "distance_miles",
      "bearing_degrees",
      "location",
    ]);
    expect(deepMembersOf(itemsOf("GET /api/v1/users/{user_id}/devices", "devices")).sort()).toEqual(
      [
        "device_id",
        "last_seen",
        "last_location",
        "last_location.latitude",
        "last_location.longitude",
        "last_location.timestamp",
        "battery_level?",
        "battery_status?",
        "network_status?",
        "model?",
        "os_version?",
      ].sort(),
    );
    expect(membersOf(itemsOf("POST /ingest/v1/locations", "rejected")).sort()).toEqual([
      "device_id?",
      "index",
      "message",
    ]);
  });

  function itemsOf(endpoint: string, member: string): Schema {
    return bodyOf(endpoint).properties[member]!.items;
  }
});

describe("bodies of failures", () => {
  const VALIDATION = ["success", "message"];
  const USER_ID_ERROR = ["error", "message"];
  const DEVICE_ERROR = ["success", "device_id", "message"];
  const EMPTY_HISTORY = ["success", "device_id", "locations", "pagination", "query_info", "message"];
  const AUTH_ERROR = ["success", "error", "code", "message"];

  const FAILURES: readonly (readonly [string, string, readonly (readonly string[])[]])[] = [
    ["GET /api/v1/users/{user_id}/locations/current", "400", [VALIDATION, USER_ID_ERROR]],
    ["GET /api/v1/users/{user_id}/locations/history", "400", [VALIDATION, USER_ID_ERROR]],
    ["GET /api/v1/users/{user_id}/devices", "400", [VALIDATION, USER_ID_ERROR]],
    ["GET /api/v1/users/{user_id}/devices", "404", [VALIDATION]],
    ["GET /api/v1/devices/{deviceId}/locations/current", "400", [VALIDATION]],
    ["GET /api/v1/devices/{deviceId}/locations/current", "404", [DEVICE_ERROR, VALIDATION]],
    ["GET /api/v1/devices/{deviceId}/locations/history", "400", [VALIDATION, EMPTY_HISTORY]],
    ["GET /api/v1/devices/{deviceId}/locations/history", "404", [EMPTY_HISTORY, VALIDATION]],
    ["GET /api/v1/locations/history", "400", [VALIDATION]],
    ["GET /api/v1/locations/current", "401", [AUTH_ERROR]],
    ["GET /api/v1/locations/current", "403", [AUTH_ERROR]],
    ["GET /api/v1/locations/current", "429", [AUTH_ERROR]],
    ["GET /api/v1/locations/current", "500", [[...VALIDATION, "request_id"]]],
    ["GET /api/v1/locations/current", "503", [VALIDATION]],
    ["POST /ingest/v1/locations", "413", [VALIDATION]],
    ["POST /ingest/v1/locations", "415", [VALIDATION]],
  ];

  test.each(FAILURES)("%s %s", (endpoint, status, expected) => {
    const schema = bodyOf(endpoint, status);
    expect((schema.oneOf ?? [schema]).map(membersOf)).toEqual(expected.map((members) => [...members]));
  });

  test("the refusals at the door are listed with their codes", () => {
    const { properties } = bodyOf("GET /api/v1/locations/current", "401");
    const listed = properties.error!.enum!.map((error, index) => [error, properties.code!.enum![index]]);
    expect(Object.fromEntries(listed)).toEqual({
      MISSING_API_KEY: "AUTH_001",
      INVALID_API_KEY: "AUTH_002",
      REVOKED_API_KEY: "AUTH_003",
      EXPIRED_API_KEY: "AUTH_004",
      INSUFFICIENT_PERMISSIONS: "AUTH_005",
      KEY_BOUND: "AUTH_006",
      RATE_LIMIT_EXCEEDED: "RATE_001",
      INVALID_SESSION: "AUTH_007",
      EXPIRED_SESSION: "AUTH_008",
    });
  });

  test("examples of refused queries are what the server answers", async () => {
    const { examples } = operationOf("GET /api/v1/devices/nearby").responses["400"]!.content[
      "application/json"
    ]!;
    const { body } = await app.get("/api/v1/devices/nearby?latitude=91&longitude=0");
    expect(examples!.invalid_parameter!.value).toEqual(body);
  });
});

describe("the way in", () => {
  const pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
  const open = { type: "string", maxLength: 128, pattern, nullable: true };
  const id = { type: "string", minLength: 1, maxLength: 128, pattern, not: { enum: [".", ".."] } };
  const flag = { type: "boolean", nullable: true };
  const between = (minimum: number, maximum: number) => ({
    type: "number",
    minimum,
    maximum,
    nullable: true,
  });
  const REPORT: Readonly<Record<string, object>> = {
    device_id: id,
    user_id: { ...id, nullable: true },
    timestamp: { type: "integer", format: "int64" },
    latitude: { type: "number", minimum: -90, maximum: 90 },
    longitude: { type: "number", minimum: -180, maximum: 180 },
    horizontal_accuracy: between(0, 10_000_000),
    vertical_accuracy: between(0, 10_000_000),
    altitude: between(-20_000, 100_000_000),
    speed: between(0, 1_000_000),
    bearing: between(0, 360),
    battery_level: between(0, 100),
    tz_offset: { type: "string", minLength: 1, maxLength: 7, pattern: "^[+-]?\\d{1,6}$", nullable: true },
    type: open,
    tracking_mode: open,
    battery_status: open,
    os: open,
    brand: open,
    model: open,
    os_version: open,
    sdk_version: open,
    app_version_name: open,
    app_version_code: open,
    network_status: flag,
    location_permission: flag,
    is_mock: flag,
  };
  const report = document.components.schemas.LocationReport!;

  test("takes both media types", () => {
    const { content } = operationOf("POST /ingest/v1/locations").requestBody!;
    expect(Object.keys(content)).toEqual(["application/json", "application/x-ndjson"]);
  });

  test("lists every field of a report with its bounds", () => {
    const bounds = Object.entries(report.properties).map(([name, { description, example, ...schema }]) => {
      expect(description).not.toBe("");
      expect(example).toBeDefined();
      return [name, schema];
    });
    expect(Object.fromEntries(bounds)).toEqual(REPORT);
    expect([...report.required!].sort()).toEqual(["device_id", "latitude", "longitude", "timestamp"]);
  });

  test("says which texts have control characters", () => {
    const plain = new RegExp(pattern);
    expect("Fairphone é 電").toMatch(plain);
    for (const text of ["\u0000", "a\nb", "\u007f", "\u009f"]) expect(text).not.toMatch(plain);
  });
});
