import { beforeEach, expect, test } from "bun:test";
import type { AppId, DeviceId, UserId } from "../../../../../src/model/ids.ts";
import { EventReader, type StreamEvent } from "../../../../support/event-reader.ts";
import { putAll, revisionAt } from "../../../../support/geofences/test-events.ts";
import {
  APP_ID,
  createTestApp,
  type JsonObject,
  type KeyName,
  NOON_MS,
  OTHER_APP_ID,
  type TestApp,
} from "../../../../support/test-app.ts";

/** The live stream of events of geofences and alerts, read over HTTP. */

const PATH = "/api/v1/live?types=event";
const APP = APP_ID as AppId;

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
  put("A");
});

type Made = Parameters<typeof revisionAt>;

/** Stores an event of the app, as the watcher does. */
function put(mark: string, event: Made[2] = {}, revision: Made[3] = {}): void {
  putAll(app.events, [revisionAt(NOON_MS, mark, event, { appId: APP, ...revision })]);
}

function ask(query = "", key: KeyName = "full", headers: Record<string, string> = {}): Promise<Response> {
  return app.fetch(PATH + query, { headers: { authorization: `Bearer ${app.keys[key]}`, ...headers } });
}

async function listen(query = "", headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = new EventReader(await ask(query, "reader", headers));
  expect(await reader.next()).toMatchObject({ type: "message", data: '{"events":[]}' });
  return reader;
}

function eventsOf(message: StreamEvent | null): readonly JsonObject[] {
  return (JSON.parse(message!.data) as { readonly events: readonly JsonObject[] }).events;
}

/** The last letters of the ids of the next message. */
async function marksOf(reader: EventReader): Promise<string> {
  return eventsOf(await reader.next())
    .map(({ id }) => String(id).slice(-1))
    .join("");
}

const listed = async (query: string) =>
  (await app.get(`/api/v1/events?${query}`)).body as unknown as {
    readonly events: readonly JsonObject[];
    readonly pagination: { readonly after: number };
  };

test("the stream starts empty, and sends each new event as lists have it; the id of a message is its `after`", async () => {
  const { pagination } = await listed("");
  const reader = await listen();
  expect(reader.text).toBe(`retry: 2000\nid: ${pagination.after}\ndata: {"events":[]}\n\n`);
  put("B", { kind: "exit", ending: { reason: "moved", enteredMs: NOON_MS - 1000, positions: 7 } });
  const message = await reader.next();
  const after = await listed(`after=${pagination.after}`);
  expect(eventsOf(message)).toEqual(after.events);
  expect(message).toMatchObject({ type: "message", id: String(after.pagination.after) });
  await reader.cancel();
});

test("a stream continues after an id or after the `after` of a list; the header wins over since", async () => {
  const { pagination } = await listed("");
  put("B");
  put("C");
  const reader = await listen(`&since=${pagination.after}`);
  const message = await reader.next();
  expect(eventsOf(message)).toHaveLength(2);
  await reader.cancel();
  put("D");
  const resumed = await listen("&since=0", { "last-event-id": message!.id });
  expect(await marksOf(resumed)).toBe("D");
  await resumed.cancel();
  const all = await listen("&since=0");
  expect(await marksOf(all)).toBe("ABCD");
  await all.cancel();
});

test("a changed event is sent again, and an event that did not happen is marked as withdrawn", async () => {
  const reader = await listen();
  put("A", {}, { revision: 2 });
  expect(eventsOf(await reader.next())).toMatchObject([{ revision: 2, correction: true }]);
  put("A", {}, { revision: 3, isWithdrawn: true });
  expect(eventsOf(await reader.next())).toMatchObject([{ revision: 3, correction: true, withdrawn: true }]);
  await reader.cancel();
});

test("an id beyond the app's last event is answered by a reset, which says what to do", async () => {
  const reader = await listen(`&since=${NOON_MS * 2}`);
  const reset = await reader.next();
  expect(reset).toMatchObject({ type: "reset", id: String(app.events.lastSeqOf(APP)) });
  expect(JSON.parse(reset!.data).message).toContain("/api/v1/events");
  put("B");
  expect(await marksOf(reader)).toBe("B");
  await reader.cancel();
});

test("a stream can be limited to devices, users, kinds, geofences and alerts, and has late events on request", async () => {
  const readers = {
    B: await listen("&device_id=car&device_id=van"),
    C: await listen("&user_id=bob"),
    D: await listen("&kinds=exit,dwell"),
    E: await listen("&watch_id=school"),
    BCDEF: await listen("&late=true"),
    BCDE: await listen(),
  };
  const ending = { reason: "moved", enteredMs: null, positions: 1 } as const;
  putAll(
    app.events,
    [
      revisionAt(NOON_MS, "B", { deviceId: "car" as DeviceId }),
      revisionAt(NOON_MS, "C", { userId: "bob" as UserId }),
      revisionAt(NOON_MS, "D", { kind: "exit", ending }),
      revisionAt(NOON_MS, "E", { watchId: "school" }),
      revisionAt(NOON_MS, "F", {}, { isLate: true }),
    ].map((revision) => ({ ...revision, appId: APP })),
  );
  for (const [marks, reader] of Object.entries(readers)) {
    expect(await marksOf(reader)).toBe(marks);
    await reader.cancel();
  }
});

test("events of another app are not sent, and do not move the ids", async () => {
  const reader = await listen();
  put("B", {}, { appId: OTHER_APP_ID as AppId });
  put("C");
  expect(await marksOf(reader)).toBe("C");
  await reader.cancel();
  const later = await listen();
  put("D", {}, { appId: OTHER_APP_ID as AppId });
  expect((await listed("")).pagination.after).toBe(app.events.lastSeqOf(APP));
  expect(later.text).toContain(`id: ${app.events.lastSeqOf(APP)}\n`);
  await later.cancel();
});

test("a share link, and a key without the permission to read, are refused", async () => {
  for (const key of ["viewer", "blurredViewer", "writer"] as const) {
    const refused = await app.get(PATH, key);
    expect([refused.status, refused.headers.get("wherehouse-error-code")]).toEqual([403, "AUTH_005"]);
    expect(refused.body.message).toContain("read");
  }
});

test.each([
  ["types=event&bbox=-3,53,-2,54", "bbox", "location"],
  ["types=event&names=true", "names", "location"],
  ["types=event&profiles=true", "profiles", "location"],
  ["kinds=exit", "kinds", "event"],
  ["types=location&watch_id=depot", "watch_id", "event"],
  ["late=true", "late", "event"],
])("%s is refused, because %s belongs to the other stream", async (query, name, type) => {
  const { status, body } = await app.get(`/api/v1/live?${query}`);
  expect([status, body.message]).toEqual([400, `${name} needs ${type} among the types`]);
});

const BOTH = "/api/v1/live?types=location,event";
const both = async (query = "", headers: Record<string, string> = {}) =>
  new EventReader(await app.fetch(BOTH + query, { headers: { ...bearer(), ...headers } }));
const report = (device_id: string) =>
  app.store([{ device_id, latitude: 1, longitude: 2, timestamp: NOON_MS - 1000 }]);

test("one stream carries positions and events, and its ids say up to where both were sent", async () => {
  const reader = await both();
  const place = app.events.lastSeqOf(APP);
  expect((await reader.next())!.data).toBe('{"locations":[],"events":[]}');
  expect(reader.text).toContain(`id: 0-${place}\n`);
  await report("bus");
  expect(await reader.next()).toMatchObject({
    id: `1-${place}`,
    data: expect.stringContaining('"locations":[{'),
  });
  put("B");
  const message = await reader.next();
  expect(message).toMatchObject({ id: `1-${app.events.lastSeqOf(APP)}`, type: "message" });
  expect(eventsOf(message)).toHaveLength(1);
  await reader.cancel();

  await report("tram");
  put("C");
  const resumed = await both("&since=0", { "last-event-id": message!.id });
  await resumed.next();
  const [one, other] = [await resumed.next(), await resumed.next()];
  const texts = [one!.data, other!.data].sort();
  expect(texts[0]).toContain('"events":[{');
  expect(texts[0]).not.toContain("0B");
  expect(texts[1]).toContain('"device_id":"tram"');
  expect(texts[1]).not.toContain('"bus"');
  expect(other!.id).toBe(`2-${app.events.lastSeqOf(APP)}`);
  await resumed.cancel();
});

test("a stream of both applies since to positions, resets each alone, and refuses an invalid id", async () => {
  await report("bus");
  const reader = await both("&since=0");
  await reader.next();
  expect((await reader.next())!.data).toContain('"device_id":"bus"');
  await reader.cancel();
  const lost = await both("", { "last-event-id": `1-${2 * NOON_MS}` });
  await lost.next();
  const reset = await lost.next();
  expect([reset!.type, reset!.id]).toEqual(["reset", `1-${app.events.lastSeqOf(APP)}`]);
  expect(JSON.parse(reset!.data)).toMatchObject({ member: "events" });
  await lost.cancel();
  for (const id of ["1-2-3", "1-9007199254740993", "9007199254740993-1"])
    expect((await app.fetch(BOTH, { headers: { ...bearer(), "last-event-id": id } })).status).toBe(400);
  const single = await app.fetch(PATH, { headers: { ...bearer(), "last-event-id": "1-2" } });
  expect(single.status).toBe(400);
  expect((await app.get(BOTH, "viewer")).status).toBe(403);
});

test("both kinds of streams share the slots of a key, and a HEAD takes none", async () => {
  for (let times = 0; times < 100; times++)
    expect((await app.fetch(PATH, { method: "HEAD", headers: bearer() })).status).toBe(200);
  const open = await Promise.all(Array.from({ length: 64 }, () => ask()));
  expect((await app.get("/api/v1/live")).status).toBe(503);
  for (const { body } of open) await body!.cancel();
  expect((await ask("", "reader")).status).toBe(200);
});

test("a database that fails takes no slot", async () => {
  const { lastSeqOf } = app.events;
  app.events.lastSeqOf = () => {
    throw new Error("the disk fails");
  };
  for (let times = 0; times < 65; times++) expect((await ask()).status).toBe(500);
  app.events.lastSeqOf = lastSeqOf;
  await (await listen()).cancel();
  expect(app.faults).toHaveLength(65);
});

function bearer(): Record<string, string> {
  return { authorization: `Bearer ${app.keys.full}` };
}
