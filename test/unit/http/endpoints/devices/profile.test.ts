import { expect, test } from "bun:test";
import { textOf } from "../../../../support/event-reader.ts";
import {
  answerOf,
  createTestApp,
  type KeyName,
  NOON_MS,
  type TestApp,
} from "../../../../support/test-app.ts";

const PATH = "/api/v1/devices/bus/profile";
const WHOLE = {
  name: "Bus 42 \u{1F68C}",
  color: "#1a73e8",
  icon: "bus",
  tags: ["line 10", "ä"],
  metadata: { plate: "AB12 CDE", seats: { front: [1, 2], back: null } },
};

/** What the map shows of it. */
const SHOWN = { name: WHOLE.name, color: WHOLE.color, icon: WHOLE.icon };

interface ProfileColumn {
  readonly profile: readonly unknown[];
}

async function put(app: TestApp, body: unknown, key: KeyName = "full", path = PATH) {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return answerOf(await app.fetch(path, { method: "PUT", headers, body: text }));
}

async function remove(app: TestApp, key: KeyName = "full", path = PATH) {
  const headers = { authorization: `Bearer ${app.keys[key]}` };
  return answerOf(await app.fetch(path, { method: "DELETE", headers }));
}

test("a profile is replaced as a whole, and gone when it is deleted", async () => {
  const app = await createTestApp();
  expect((await app.get(PATH)).body as unknown).toEqual({
    success: false,
    message: "this app's device has no profile",
  });
  const { status, headers, body } = await put(app, WHOLE, "editor");
  const stored = { success: true, device_id: "bus", profile: WHOLE };
  expect([status, body as unknown]).toEqual([200, { ...stored, sequence: 1 }]);
  expect(headers.get("wherehouse-sequence")).toBe("1");
  expect((await app.get(PATH)).body as unknown).toEqual(stored);
  expect((await app.get(PATH)).headers.get("wherehouse-sequence")).toBe("1");

  await put(app, { color: "#ABCDEF", name: null, tags: ["a", "a"] });
  expect((await app.get(PATH)).body.profile).toEqual({ color: "#abcdef", tags: ["a"] });
  expect((await remove(app, "editor")).body as unknown).toEqual({
    success: true,
    device_id: "bus",
    sequence: 3,
  });
  expect([(await app.get(PATH)).status, (await remove(app)).status]).toEqual([404, 404]);
  await put(app, {});
  expect((await app.get(PATH)).body.profile).toEqual({});
});

const NESTED = JSON.parse(`${'{"a":'.repeat(7)}[]${"}".repeat(7)}`) as unknown;

test.each([
  [{ name: "" }, "name must be 1 to 128 characters, none of them control characters"],
  [{ name: "x".repeat(129) }, "name must be 1 to 128 characters, none of them control characters"],
  [{ name: "a\nb" }, "name must be 1 to 128 characters, none of them control characters"],
  [{ name: "\ud83d" }, "name must be 1 to 128 characters, none of them control characters"],
  [{ name: 7 }, "name must be 1 to 128 characters, none of them control characters"],
  [{ color: "red" }, "color must be # and six hexadecimal digits"],
  [{ color: "#12345" }, "color must be # and six hexadecimal digits"],
  [
    { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) },
    "tags must be at most 20 texts of 1 to 64 characters",
  ],
  [{ tags: ["x".repeat(65)] }, "tags must be at most 20 texts of 1 to 64 characters"],
  [{ tags: "a" }, "tags must be at most 20 texts of 1 to 64 characters"],
  [{ metadata: [] }, "metadata must be a JSON object"],
  [{ metadata: { a: NESTED } }, "metadata must be nested at most 8 deep"],
  [{ metadata: { a: "x".repeat(4089) } }, "metadata must be at most 4 KB as JSON"],
  [{ colour: "#123456" }, "a profile has name, color, icon, tags, metadata, and no other members"],
  ["[]", "the body must be a JSON object"],
  ["{", "the body must be a JSON object"],
] as const)("%j is refused: %s", async (body, message) => {
  const app = await createTestApp();
  const { status, body: answer } = await put(app, body);
  expect([status, answer.message.startsWith(message)]).toEqual([400, true]);
  expect((await app.get(PATH)).status).toBe(404);
});

test("bounds are included", async () => {
  const app = await createTestApp();
  const most = {
    name: "é".repeat(128),
    tags: Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(64, "é")),
    metadata: { a: NESTED, b: "x".repeat(4096 - `{"a":${JSON.stringify(NESTED)},"b":""}`.length) },
  };
  const { metadata: _, ...others } = most;
  expect((await put(app, others)).status).toBe(200);
  expect((await put(app, { metadata: { a: (NESTED as { a: unknown }).a } })).status).toBe(200);
  expect((await put(app, { metadata: { b: "x".repeat(4096 - 8) } })).status).toBe(200);
  const escaped = JSON.stringify(others).replaceAll("é", "\\u00e9");
  expect((await put(app, escaped)).body.profile).toEqual(others);
});

test("a device that could not report gets no profile", async () => {
  const app = await createTestApp();
  for (const id of ["%00", "..", "x".repeat(129)]) {
    const { status, body } = await put(
      app,
      WHOLE,
      "full",
      `/api/v1/devices/${id.replace("..", "%2E%2E")}/profile`,
    );
    expect([status, body.success]).toEqual([id === ".." ? status : 400, false]);
  }
});

test("keys that are bound may not edit", async () => {
  const app = await createTestApp();
  for (const { status, body } of [await put(app, WHOLE, "boundEditor"), await remove(app, "boundEditor")])
    expect([status, body.code]).toEqual([403, "AUTH_006"]);
});

test("a share link sees name, color and icon, and nothing else of profiles", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 }]);
  await put(app, WHOLE);
  for (const key of ["viewer", "blurredViewer"] as const) {
    const { body } = await app.get("/api/v1/locations/current?names=true", key);
    expect(body.locations.map(({ name }) => name)).toEqual([WHOLE.name]);
    expect(JSON.stringify(body)).not.toContain("plate");
    const columns = await app.get("/api/v1/locations/current/columns?profiles=true", key);
    expect((columns.body as unknown as ProfileColumn).profile).toEqual([SHOWN]);
    for (const path of [PATH, "/api/v1/devices"]) expect((await app.get(path, key)).status).toBe(403);
  }
});

test("the live stream sends a device again when its profile changes, with its name if that is wanted", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 }]);
  await put(app, WHOLE);
  const read = async (query: string) => {
    const ending = new AbortController();
    const headers = { authorization: `Bearer ${app.keys.full}` };
    const response = await app.fetch(`/api/v1/live?since=1${query}`, { headers, signal: ending.signal });
    return textOf(response);
  };
  expect(await read("&names=true")).toContain(`"name":${JSON.stringify(WHOLE.name)}`);
  expect(await read("&profiles=true")).toContain(`,"profile":${JSON.stringify(SHOWN)}}`);
  const both = await read("&names=true&profiles=true");
  expect(both).toContain(`,"name":${JSON.stringify(WHOLE.name)},"profile":${JSON.stringify(SHOWN)}}`);
  const plain = await read("");
  expect(plain).toContain('"device_id":"bus"');
  expect(plain).not.toContain("Bus 42");
});

test("a cached answer is not valid any more when a name changes", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 }]);
  const columns = "/api/v1/locations/current/columns?names=true";
  const first = await app.get(columns);
  const headers = { authorization: `Bearer ${app.keys.full}`, "if-none-match": first.headers.get("etag")! };
  expect((await app.fetch(columns, { headers })).status).toBe(304);
  await put(app, WHOLE);
  expect((await app.fetch(columns, { headers })).status).toBe(200);
});

test("columns have what maps show of profiles, and null for a device without any of it", async () => {
  const app = await createTestApp();
  const at = { timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 };
  await app.store(["bus", "car", "van"].map((device_id) => ({ device_id, ...at })));
  await put(app, WHOLE);
  await put(app, { tags: ["mine"] }, "full", "/api/v1/devices/van/profile");
  const { body } = await app.get("/api/v1/locations/current/columns?profiles=true");
  expect((body as unknown as ProfileColumn).profile).toEqual([SHOWN, null, null]);
  expect(JSON.stringify((await app.get("/api/v1/locations/current/columns")).body)).not.toContain("profile");
});

test("names come with any choice of fields, to all that have newest records", async () => {
  const app = await createTestApp();
  const user_id = "ada";
  await app.store([
    { device_id: "bus", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9, user_id },
    { device_id: "tram", timestamp: NOON_MS, latitude: 53.4, longitude: -2.9, user_id },
  ]);
  await put(app, WHOLE);
  const paths = [
    "/api/v1/locations/current?",
    "/api/v1/users/ada/locations/current?",
    "/api/v1/devices/nearby?latitude=53.4&longitude=-2.9&",
  ];
  for (const fields of ["", "&fields=latitude,longitude", "&fields=device_id", "&fields=speed,user_id"]) {
    for (const path of paths) {
      for (const more of ["", "&timezone=UTC", "&places=true"]) {
        const { status, body } = await app.get(`${path}names=true${fields}${more}`);
        expect(status).toBe(200);
        const records = body.locations ?? body.results.map(({ location }) => location);
        expect(records.map(({ device_id, name }) => [device_id, name])).toEqual([
          ["bus", WHOLE.name],
          ["tram", undefined],
        ]);
      }
    }
  }
});
