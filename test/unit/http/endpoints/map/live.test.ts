import { beforeEach, describe, expect, test } from "bun:test";
import { EventReader, recordsOf, type StreamEvent } from "../../../../support/event-reader.ts";
import {
  createTestApp,
  type KeyName,
  NOON_MS,
  type TestApp,
  VIEWS_FROM_MS,
} from "../../../../support/test-app.ts";
import { BUS } from "../../requests.ts";

/** The stream of changes, asked as a stranger would. */

const PATH = "/api/v1/live";

let app: TestApp;
beforeEach(async () => {
  app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS - 1000 }]);
});

function ask(query = "", key: KeyName = "full", headers: Record<string, string> = {}): Promise<Response> {
  return app.fetch(PATH + query, { headers: { authorization: `Bearer ${app.keys[key]}`, ...headers } });
}

async function listen(query = "", key?: KeyName, headers?: Record<string, string>): Promise<EventReader> {
  const reader = new EventReader(await ask(query, key, headers));
  const first = await reader.next();
  expect(first).toMatchObject({ type: "message", data: '{"locations":[]}' });
  return reader;
}

const idsIn = (event: StreamEvent | null) => recordsOf(event!).map(({ device_id }) => device_id);
const current = async (key?: KeyName) =>
  (await app.get("/api/v1/locations/current", key)).body.locations as unknown;

describe("GET /api/v1/live", () => {
  test("is a stream of events that nobody may keep, collect or pack", async () => {
    const response = await ask("", "full", { "accept-encoding": "gzip, zstd" });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    expect(response.headers.has("content-encoding")).toBe(false);
    await response.body!.cancel();
  });

  test("says at once where it begins, and tells of what comes then, to the letter as current positions have it", async () => {
    const reader = await listen();
    expect(reader.text).toBe('retry: 2000\nid: 1\ndata: {"locations":[]}\n\n');
    const full = { horizontal_accuracy: 4.8, speed: 8.25, brand: "B\u00e9", network_status: true };
    await app.store([{ ...BUS, ...full, timestamp: NOON_MS }]);
    const event = await reader.next();
    const body = await (await app.fetch("/api/v1/locations/current", bearer("full"))).text();
    const locations = /"locations":\[.*\](?=,"pagination")/.exec(body)![0];
    expect(event).toEqual({ type: "message", id: "2", data: `{${locations}}` });
    expect(reader.text).toEndWith(`\n\nid: 2\ndata: {${locations}}\n\n`);
    await reader.cancel();
  });

  test("tells of many in one event, which is one line of JSON though it is written in parts", async () => {
    const reader = await listen();
    await app.store(
      Array.from({ length: 600 }, (_, i) => ({ ...BUS, device_id: `bus-${i}`, timestamp: NOON_MS })),
    );
    expect(idsIn(await reader.next())).toHaveLength(600);
    await reader.cancel();
  });

  test("goes on behind since, or behind Last-Event-ID, which goes before it", async () => {
    await app.store([{ ...BUS, device_id: "tram", timestamp: NOON_MS }]);
    const since = await listen("?since=1");
    expect(idsIn(await since.next())).toEqual(["tram"]);
    await since.cancel();
    const header = await listen("?since=2", "full", { "last-event-id": "0" });
    expect(idsIn(await header.next())).toEqual([BUS.device_id, "tram"]);
    await header.cancel();
  });

  test("says reset where it can't know, and what to do then", async () => {
    const reader = await listen("?since=4711"); // Of another log.
    const event = await reader.next();
    expect(event).toMatchObject({ type: "reset", id: "1" });
    expect(JSON.parse(event!.data).message).toContain("/api/v1/locations/current/columns");
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    expect(idsIn(await reader.next())).toEqual([BUS.device_id]);
    await reader.cancel();
  });

  test("tells of what is in a box, of some devices, of a user", async () => {
    const readers = {
      box: await listen("?bbox=-3,53,-2,54"),
      antarctic: await listen("?bbox=-180,-90,180,-60"),
      devices: await listen("?device_id=tram&device_id=yet-to-come"),
      user: await listen("?user_id=anna"),
    };
    await app.store([
      { ...BUS, timestamp: NOON_MS },
      { ...BUS, device_id: "tram", user_id: "anna", latitude: 10, timestamp: NOON_MS },
      { ...BUS, device_id: "yet-to-come", latitude: -80, timestamp: NOON_MS },
    ]);
    expect(idsIn(await readers.box.next())).toEqual(["bus"]);
    expect(idsIn(await readers.antarctic.next())).toEqual(["yet-to-come"]);
    expect(idsIn(await readers.devices.next())).toEqual(["tram", "yet-to-come"]);
    expect(idsIn(await readers.user.next())).toEqual(["tram"]);
    for (const reader of Object.values(readers)) await reader.cancel();
  });

  test("tells nothing of another app", async () => {
    const reader = await listen("?since=0", "other");
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    await app.store([{ ...BUS, device_id: "own", timestamp: NOON_MS }], "other");
    expect(idsIn(await reader.next())).toEqual(["own"]);
    await reader.cancel();
  });

  test("HEAD says what GET would, and holds nothing", async () => {
    for (let times = 0; times < 100; times++) {
      const head = await app.fetch(PATH, { ...bearer("full"), method: "HEAD" });
      expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
      expect(await head.text()).toBe("");
    }
  });

  test("gives a key 64 streams and one more where one has ended, and refuses others for as long", async () => {
    const open = await Promise.all(Array.from({ length: 64 }, () => listen()));
    const refused = await app.get(PATH);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(refused.body.message).toContain("too many live streams");
    expect((await app.fetch(PATH, { ...bearer("full"), method: "HEAD" })).status).toBe(503);
    await (await listen("", "reader")).cancel();
    await open[0]!.cancel();
    await (await listen()).cancel();
    for (const reader of open) await reader.cancel();
    const metrics = await (await app.fetch("/metrics", bearer("operator"))).text();
    expect(metrics).toContain("\nwherehouse_viewers 0\n");
    expect(metrics).toContain("\nwherehouse_viewers_refused_total 2\n");
  });

  test("counts in the metrics as what it was answered, not for as long as it lasts", async () => {
    const reader = await listen();
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    await reader.next();
    const metrics = await (await app.fetch("/metrics", bearer("operator"))).text();
    expect(metrics).toContain('route="/api/v1/live",status="200"} 1\n');
    expect(metrics).toContain("\nwherehouse_http_requests_in_flight 1\n"); // The scrape itself.
    expect(metrics).toContain("\nwherehouse_viewers 1\n");
    expect(metrics).toContain("\nwherehouse_viewer_events_total 1\n");
    await reader.cancel();
  });

  test.each(["-1", "1.5", "x", "9223372036854775808", "1e3"])("since=%s is refused", async (since) => {
    expect((await app.get(`${PATH}?since=${since}`)).status).toBe(400);
    const { status, body } = await app.get(PATH);
    expect([status, Object.keys(body)]).toEqual([200, ["stream"]]);
    const header = await ask("", "full", { "last-event-id": since });
    expect([header.status, ((await header.json()) as { message: string }).message]).toEqual([
      400,
      expect.stringContaining("Last-Event-ID must be "),
    ]);
  });
});

describe("for a share link, GET /api/v1/live", () => {
  test("tells of its devices as current positions show them, and of no others", async () => {
    const [exact, blurred] = [await listen("", "viewer"), await listen("", "blurredViewer")];
    const moved = { ...BUS, speed: 8.25, brand: "B", timestamp: NOON_MS + 12_345 };
    app.clock.advance(60_000);
    await app.store([moved, { ...moved, device_id: "tram" }]);
    expect(recordsOf((await exact.next())!) as unknown).toEqual(await current("viewer"));
    expect(recordsOf((await blurred.next())!) as unknown).toEqual(await current("blurredViewer"));
    expect(exact.text + blurred.text).not.toMatch(/driver|tram|"brand"/);
    for (const reader of [exact, blurred]) await reader.cancel();
  });

  test("shows nothing from before it", async () => {
    app = await createTestApp();
    await app.store([{ ...BUS, timestamp: VIEWS_FROM_MS - 1 }]);
    const reader = await listen("?since=0", "viewer");
    await app.store([{ ...BUS, timestamp: VIEWS_FROM_MS }]);
    const records = recordsOf((await reader.next())!);
    expect(records.map(({ timestamp }) => timestamp)).toEqual([VIEWS_FROM_MS]);
    await reader.cancel();
  });

  test("narrows its devices and never widens them", async () => {
    const reader = await listen("?device_id=bus&device_id=tram", "viewer");
    await app.store([{ ...BUS, device_id: "tram", timestamp: NOON_MS }]);
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    expect(idsIn(await reader.next())).toEqual(["bus"]);
    await reader.cancel();
  });

  test("goes by the positions that it shows, and by no user", async () => {
    const [blurred] = (await current("blurredViewer")) as { latitude: number; longitude: number }[];
    const at = ({ latitude, longitude }: { latitude: number; longitude: number }) =>
      `?bbox=${longitude - 1e-6},${latitude - 1e-6},${longitude + 1e-6},${latitude + 1e-6}`;
    const readers = [
      await listen(at(blurred!), "blurredViewer"),
      await listen(at(BUS), "blurredViewer"),
      await listen("?user_id=driver", "viewer"),
    ];
    app.clock.advance(60_000);
    await app.store([{ ...BUS, timestamp: NOON_MS + 60_000 }]);
    expect(idsIn(await readers[0]!.next())).toEqual(["bus"]);
    for (const reader of readers.slice(1)) expect(await reader.untilRecordOrQuiet()).not.toContain("bus");
    await readers[0]!.cancel();
  });
});

function bearer(key: KeyName): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${app.keys[key]}` } };
}
