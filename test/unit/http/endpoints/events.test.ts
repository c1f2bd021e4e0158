import { beforeAll, expect, test } from "bun:test";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import {
  APP_ID,
  createTestApp,
  type JsonObject,
  NOON_MS,
  OTHER_APP_ID,
  type TestApp,
} from "../../../support/test-app.ts";

/* Events over HTTP, from a store with events of two apps. */

const HOUR_MS = 3_600_000;
const APP = APP_ID as AppId;
const at = (hours: number) => NOON_MS + hours * HOUR_MS;

let app: TestApp;
let fenceId = "";
let alertId = "";

beforeAll(async () => {
  app = await createTestApp();
  const position = { latitude: 1, longitude: 2, timestamp: NOON_MS - 1 };
  await app.store([
    { ...position, device_id: "bus" },
    { ...position, device_id: "car" },
  ]);
  fenceId = await make("/api/v1/geofences", {
    type: "Feature",
    geometry: { type: "Point", coordinates: [2, 1] },
    properties: { radius_meters: 100 },
  });
  alertId = await make("/api/v1/alerts", { speed_above: 30 });
  const moved = { reason: "moved", enteredMs: at(-5), positions: 7 } as const;
  const silent = { reason: "changed", enteredMs: null, positions: 0 } as const;
  const common = { appId: APP, madeMs: 1000 };
  const bus = { deviceId: "bus" as DeviceId, watchId: fenceId };
  const car = { deviceId: "car" as DeviceId, userId: "bob" as UserId };
  putAll(app.events, [
    revisionAt(at(-5), "A", bus, common),
    revisionAt(at(-4), "B", { ...car, watchId: alertId, kind: "alert_start" }, common),
    revisionAt(at(-3), "C", { ...bus, kind: "exit", ending: moved }, { ...common, isLate: true }),
    revisionAt(
      at(-2),
      "D",
      { ...car, watchId: alertId, kind: "alert_end", ending: silent },
      { ...common, revision: 2 },
    ),
    revisionAt(at(-1), "E", bus, { ...common, isWithdrawn: true }),
    revisionAt(at(-24 * 400), "F", bus, common),
    revisionAt(at(-5), "G", bus, { ...common, appId: OTHER_APP_ID as AppId }),
  ]);
});

async function make(path: string, watch: object): Promise<string> {
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
  const answer = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(watch) });
  const { geofence, alert } = (await answer.json()) as Readonly<Record<string, { id: string }>>;
  return (geofence ?? alert)!.id;
}

async function ask(
  path: string,
): Promise<{ readonly events: readonly JsonObject[]; readonly pagination: JsonObject }> {
  const { status, body } = await app.get(path);
  expect([status, body.message]).toEqual([200, undefined as unknown as string]);
  return body as unknown as { events: readonly JsonObject[]; pagination: JsonObject };
}

/** The marks of the events. */
async function marks(path: string): Promise<string> {
  return (await ask(path)).events.map(({ id }) => String(id).slice(-1)).join("");
}

test("an event says what happened, to whom, and how a visit ended", async () => {
  const { events, pagination } = await ask("/api/v1/events?timezone=Europe/Berlin");
  const [enter, start, exit, end] = events;
  expect(enter).toEqual({
    ...{
      id: revisionAt(at(-5), "A").event.id,
      revision: 1,
      kind: "enter",
      timestamp: at(-5),
      device_id: "bus",
    },
    ...{ user_id: "ada", visit_id: revisionAt(at(-5), "A").event.id, fence_id: fenceId, version: 1 },
    local_time: "2026-03-20T08:00:00.000+01:00",
  });
  expect(start).toMatchObject({ kind: "alert_start", alert_id: alertId, user_id: "bob" });
  expect(exit).toMatchObject({
    ...{
      kind: "exit",
      entered_at: at(-5),
      duration_seconds: 7200,
      positions: 7,
      reason: "moved",
      late: true,
    },
  });
  expect(end).toMatchObject({
    kind: "alert_end",
    revision: 2,
    correction: true,
    reason: "alert_changed",
    positions: 0,
  });
  expect(Object.keys(end!)).not.toContain("entered_at");
  expect(Object.keys(end!)).not.toContain("fence_id");
  expect(pagination).toEqual({
    count: 4,
    has_more: false,
    offset: 0,
    limit: 100,
    after: app.events.lastSeqOf(APP),
  });
});

test("events are found by time, device, user, kind, geofence and alert", async () => {
  expect(await marks("/api/v1/events")).toBe("ABCD");
  expect(await marks("/api/v1/events?order=desc&limit=2")).toBe("DC");
  expect(await marks("/api/v1/events?offset=1&limit=2")).toBe("BC");
  expect(await marks(`/api/v1/events?start=${at(-4)}&end=${at(-2)}`)).toBe("BC");
  expect(await marks("/api/v1/events?kinds=exit,alert_end")).toBe("CD");
  expect(await marks("/api/v1/events?device_id=car")).toBe("BD");
  expect(await marks("/api/v1/events?user_id=ada")).toBe("AC");
  expect(await marks("/api/v1/devices/bus/events")).toBe("AC");
  expect(await marks(`/api/v1/geofences/${fenceId}/events?user_id=ada&kinds=exit`)).toBe("C");
  expect(await marks(`/api/v1/alerts/${alertId}/events?device_id=car`)).toBe("BD");
});

test("after goes through what was stored in its order, withdrawn events too, and then has what is new", async () => {
  const first = await ask("/api/v1/events?after=0&limit=3");
  expect(first.pagination).toMatchObject({ count: 3, has_more: true });
  const rest = await ask(`/api/v1/events?after=${first.pagination.after}`);
  expect(rest.events.at(-1)).toMatchObject({ withdrawn: true });
  const all = [...first.events, ...rest.events].map(({ id }) => String(id).slice(-1)).join("");
  expect([all, rest.pagination.has_more]).toEqual(["ABCDE", false]);
  expect(await marks("/api/v1/events?after=0&device_id=bus&kinds=enter")).toBe("AE");
  expect(await marks(`/api/v1/events?after=${rest.pagination.after}`)).toBe("");
});

test("after of a page by time asks for what is stored later", async () => {
  const own = await createTestApp();
  putAll(own.events, [revisionAt(at(-1), "A", {}, { appId: APP })]);
  const { pagination } = (await own.get("/api/v1/events?limit=1")).body;
  const path = `/api/v1/events?after=${pagination.after}`;
  expect((await own.get(path)).body.events).toEqual([]);
  putAll(own.events, [revisionAt(at(-2), "B", {}, { appId: APP })]);
  expect((await own.get(path)).body.events).toHaveLength(1);
});

test("wrong questions are refused, parameters before what is missing", async () => {
  const refusals: readonly (readonly [string, number, string])[] = [
    ["/api/v1/devices/unknown/events?limit=0", 400, "limit must be between 1 and 1000"],
    ["/api/v1/devices/unknown/events?start=2&end=2", 400, "start must be before end"],
    ["/api/v1/events?after=1&offset=1", 400, "after can't be combined with order=desc or offset"],
    ["/api/v1/events?after=1&order=desc", 400, "after can't be combined with order=desc or offset"],
    ["/api/v1/events?kinds=leave", 400, "kinds must be of enter, exit, dwell, alert_start, alert_end"],
  ];
  for (const [path, status, message] of refusals)
    expect([path, await app.get(path)]).toEqual([
      path,
      expect.objectContaining({ status, body: { success: false, message } }),
    ]);
  for (const path of [
    "/api/v1/devices/unknown/events",
    `/api/v1/geofences/${alertId}/events`,
    `/api/v1/alerts/${fenceId}/events`,
  ])
    expect([path, (await app.get(path)).status]).toEqual([path, 404]);
  expect((await app.get("/api/v1/events", "viewer")).status).toBe(403);
});

test("events of a deleted geofence stay", async () => {
  const own = await createTestApp();
  const headers = { authorization: `Bearer ${own.keys.full}`, "content-type": "application/json" };
  const body = JSON.stringify({ speed_above: 30 });
  const made = await own.fetch("/api/v1/alerts", { method: "POST", headers, body });
  const { alert } = (await made.json()) as { alert: { id: string } };
  putAll(own.events, [revisionAt(at(-1), "A", { watchId: alert.id, kind: "alert_start" }, { appId: APP })]);
  own.clock.advance(1);
  await own.fetch(`/api/v1/alerts/${alert.id}`, { method: "DELETE", headers });
  expect((await own.get(`/api/v1/alerts/${alert.id}`)).status).toBe(404);
  expect((await own.get(`/api/v1/alerts/${alert.id}/events`)).body.events).toHaveLength(1);
});
