import { afterAll, expect, test } from "bun:test";
import { backUp } from "../../../../src/operator/backup/backup.ts";
import { restore } from "../../../../src/operator/backup/restore.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { copyNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import {
  type ArchiveApp,
  createArchiveApp,
  removeArchiveApps,
  temporaryDataDir,
} from "../../../support/archive-app.ts";
import { createTestApp, type TestApp } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/* Geofences and alerts over HTTP, and over a real directory that seals, restarts and is restored. */

afterAll(removeArchiveApps);

type Json = Readonly<Record<string, unknown>>;

interface Said {
  readonly status: number;
  readonly body: Json;
}

async function ask(
  app: Pick<TestApp, "fetch" | "keys">,
  method: string,
  path: string,
  body?: unknown,
  key: "manager" | "reader" | "other" = "manager",
): Promise<Said> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/geo+json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await app.fetch(path, { method, headers, ...sent });
  return { status: response.status, body: (await response.json()) as Json };
}

const FENCES = "/api/v1/geofences";

function circle(name: string, longitude: number, more: Json = {}): Json {
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [longitude, 51.5] },
    properties: { name, radius_meters: 100, ...more },
  };
}

interface Feature extends Json {
  readonly id: string;
  readonly version: number;
  readonly properties: Json;
}

async function made(app: Pick<TestApp, "fetch" | "keys">, feature: Json): Promise<Feature> {
  const { status, body } = await ask(app, "POST", FENCES, feature);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.geofence as Feature;
}

/** The names of a list. */
async function listed(app: Pick<TestApp, "fetch" | "keys">, query = ""): Promise<unknown> {
  const { body } = await ask(app, "GET", `${FENCES}?${query}`, undefined, "reader");
  const { total_count } = body.pagination as Json;
  return [total_count, (body.geofences as Feature[]).map(({ properties }) => properties.name)];
}

test("a geofence is made, listed, replaced and deleted; only another area or other rules make another version", async () => {
  const app = await createTestApp();
  const depot = await made(app, circle("Depot", -0.1, { tags: ["london"], metadata: { a: [1] } }));
  await made(app, circle("Edge", 180));
  const line = {
    type: "LineString",
    coordinates: [
      [10, 50],
      [11, 50],
    ],
  };
  await made(app, { type: "Feature", geometry: line, properties: { name: "Road", buffer_meters: 50 } });
  expect(depot).toMatchObject({ version: 1, properties: { accuracy_meters_max: 200, metadata: { a: [1] } } });
  expect(await listed(app)).toEqual([3, ["Depot", "Edge", "Road"]]);
  expect(await listed(app, "text=dEP")).toEqual([1, ["Depot"]]);
  expect(await listed(app, "text=LON")).toEqual([1, ["Depot"]]);
  expect(await listed(app, "text=o&limit=1&offset=1")).toEqual([2, ["Road"]]);
  expect(await listed(app, "limit=1&offset=1")).toEqual([3, ["Edge"]]);
  expect(await listed(app, "tag=london")).toEqual([1, ["Depot"]]);
  expect(await listed(app, "bbox=-1,51,0,52")).toEqual([1, ["Depot"]]);
  expect(await listed(app, "bbox=179,51,-179,52")).toEqual([1, ["Edge"]]);
  expect(await listed(app, "bbox=-180,51,-179.999,52")).toEqual([1, ["Edge"]]);
  expect(await listed(app, "bbox=10.4,49.9,10.5,50.1")).toEqual([1, ["Road"]]);

  const path = `${FENCES}/${depot.id}`;
  // What was answered can be sent again, and changes nothing but the time.
  const { body: one } = await ask(app, "GET", path, undefined, "reader");
  const again = await ask(app, "PUT", path, one.geofence);
  expect(again.body.geofence).toEqual({ ...(one.geofence as Json), updated: expect.any(Number) as number });
  const renamed = await ask(app, "PUT", path, circle("Yard", -0.1));
  expect(renamed.body.geofence).toMatchObject({ version: 1, properties: { name: "Yard" } });
  expect((renamed.body.geofence as Feature).properties.tags).toBeUndefined();
  const moved = await ask(app, "PUT", path, circle("Yard", -0.2));
  expect(moved.body.geofence).toMatchObject({ version: 2 });
  expect(await listed(app, "bbox=-0.11,51,0,52")).toEqual([0, []]);

  for (const [method, body] of [["GET"], ["PUT", circle("x", 1)], ["DELETE"]] as const)
    expect((await ask(app, method, path, body, "other")).status).toBe(404);
  expect((await ask(app, "DELETE", path)).status).toBe(200);
  expect((await ask(app, "DELETE", path)).status).toBe(404);
  expect((await ask(app, "PUT", path, circle("x", 1))).status).toBe(404);
  expect((await ask(app, "GET", path)).status).toBe(403);
  expect((await ask(app, "GET", path, undefined, "reader")).status).toBe(404);
  expect((await ask(app, "GET", path.replace("geofences", "alerts"), undefined, "reader")).status).toBe(404);
  expect(await listed(app)).toEqual([2, ["Edge", "Road"]]);
});

test("a bad geofence is a 400 with the path of the member, and changes nothing", async () => {
  const app = await createTestApp();
  const bad = circle("Depot", -0.1, { radius_meters: 1 });
  const { status, body } = await ask(app, "POST", FENCES, bad);
  expect([status, body.message]).toEqual([400, "properties.radius_meters must be a number, 10 to 100,000"]);
  expect((await ask(app, "POST", FENCES, [])).status).toBe(400);
  expect(await listed(app)).toEqual([0, []]);
});

test("the 257th geofence whose box covers a point is refused by name, and others beside it are not", async () => {
  const app = await createTestApp();
  for (let at = 0; at < 256; at++) await made(app, circle(`fence ${at}`, -0.1 + at / 1e6));
  const { status, body } = await ask(app, "POST", FENCES, circle("One more", -0.1));
  expect(status).toBe(409);
  expect(body.message).toStartWith(
    'the geofence "One more" would be number 257 whose box covers latitude 51.',
  );
  const beside = await made(app, circle("Beside", 3));
  expect((await ask(app, "PUT", `${FENCES}/${beside.id}`, circle("Beside", -0.1))).status).toBe(409);
  // One of them may be replaced in its place, and a place that is free is free again.
  const { body: all } = await ask(app, "GET", `${FENCES}?limit=1`, undefined, "reader");
  const [first] = all.geofences as Feature[];
  expect((await ask(app, "PUT", `${FENCES}/${first!.id}`, circle("First", -0.1))).status).toBe(200);
  expect((await ask(app, "DELETE", `${FENCES}/${first!.id}`)).status).toBe(200);
  await made(app, circle("One more", -0.1));
});

test("alerts are made, listed, replaced and deleted", async () => {
  const app = await createTestApp();
  const { body } = await ask(app, "POST", "/api/v1/alerts", { name: "Speeding", speed_above: 36.1 });
  const alert = body.alert as Feature;
  expect(alert).toMatchObject({ version: 1, speed_above: 36.1, active: true });
  const path = `/api/v1/alerts/${alert.id}`;
  expect((await ask(app, "PUT", path, { name: "Low", battery_below: 20 })).body.alert).toMatchObject({
    version: 2,
  });
  expect((await ask(app, "PUT", path, { speed_above: 36.1, battery_below: 20 })).status).toBe(400);
  const { body: list } = await ask(app, "GET", "/api/v1/alerts", undefined, "reader");
  expect(list.alerts).toMatchObject([{ id: alert.id, battery_below: 20 }]);
  for (const [text, count] of [
    ["LOW", 1],
    ["other", 0],
  ] as const) {
    const { body: page } = await ask(app, "GET", `/api/v1/alerts?text=${text}`, undefined, "reader");
    expect([text, (page.pagination as Json).total_count]).toEqual([text, count]);
  }
  expect(await listed(app)).toEqual([0, []]);
  expect((await ask(app, "DELETE", path)).status).toBe(200);
  expect((await ask(app, "GET", path, undefined, "reader")).status).toBe(404);
});

async function eraseVan(app: TestApp): Promise<Response> {
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  return app.fetch("/api/v1/erasures", { method: "POST", headers, body: '{"device_id":"van"}' });
}

/** All fences and alerts as answers show them. */
async function everything(app: ArchiveApp): Promise<readonly Json[]> {
  const lists = await Promise.all(
    [FENCES, "/api/v1/alerts"].map((path) => ask(app, "GET", path, undefined, "reader")),
  );
  return lists.map(({ body }) => body);
}

test("geofences and alerts survive seals, restarts and a restored backup, and lose an erased device", async () => {
  let app = await createArchiveApp();
  const depot = await made(app, circle("Depot", -0.1, { devices: ["van", "bus"] }));
  await made(app, circle("Gone", 3));
  await ask(app, "PUT", `${FENCES}/${depot.id}`, circle("Depot", -0.2, { devices: ["van", "bus"] }));
  await app.seal();
  await ask(app, "POST", "/api/v1/alerts", { silent_for: 60, users: ["anna"] });
  const before = await everything(app);
  for (const isSealed of [false, true]) {
    if (isSealed) await app.seal();
    app = await app.restart();
    expect(await everything(app)).toEqual(before);
  }
  const versions = app.directory.hot.watches.find("fleet" as never)!.byId.get(depot.id)!.versions;
  expect(versions.map(({ number }) => number)).toEqual([1, 2]);

  await app.store([{ device_id: "van", timestamp: app.clock.nowMs(), latitude: 51.5, longitude: -0.1 }]);
  expect((await eraseVan(app)).status).toBe(200);
  const erased = await everything(app);
  expect(JSON.stringify(erased)).not.toContain("van");
  expect(JSON.stringify(erased)).toContain("bus");
  expect(
    await app.directory.eraser.finishNow({ dropsDamaged: false, onDaysLeft: () => undefined }),
  ).toBeNull();
  app = await app.restart();
  expect(await everything(app)).toEqual(erased);

  const files = createNodeFiles();
  const take = async (directory: string) => {
    await files.makeDirectory(directory);
    return () => {};
  };
  const directory = temporaryDataDir();
  const common = { files, take, onProgress: () => {} };
  const { clock, dataDir } = app;
  expect(
    (await backUp({ ...common, copySqlite: copyNodeSqlite, clock, program: "1", dataDir, directory })).ok,
  ).toBe(true);
  const restored = temporaryDataDir();
  expect((await restore({ ...common, directory, dataDir: restored })).ok).toBe(true);
  const [one, other] = [await verifyDirectory(dataDir, clock), await verifyDirectory(restored, clock)];
  expect([other.problems, other.sha256]).toEqual([one.problems, one.sha256]);
  const copy = await createArchiveApp({ clock, dataDir: restored });
  expect(await everything(copy)).toEqual(erased);
  await Promise.all([app.close(), copy.close()]);
});
