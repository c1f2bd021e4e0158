import { expect, test } from "bun:test";
import { DayEvents } from "../../../../src/web/device/day-events.ts";
import type { EventsListener } from "../../../../src/web/devices/live-events.ts";
import type { FenceEvent } from "../../../../src/web/fences/fence.ts";
import type { History } from "../../../../src/web/history/history.ts";
import { Track } from "../../../../src/web/history/track.ts";
import { DAY, SPANS, type Span } from "../../../../src/web/time/local-day.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "./fake-server.ts";

/** In the middle of the day. */
const NOW_MS = 43_200_000;

/** A device that was at longitude 0 from the first second on, and at 0.001 from the third. */
function historyOf(deviceId: string, more: Partial<History> = {}): History {
  const track = new Track({
    ...{ total: 2, tolerance_meters: 0, gaps: [1] },
    ...{ timestamp: [1000, 3000], latitude: [5, 5], longitude: [0, 0.001] },
  });
  const range = { startMs: 0, endMs: 86_400_000 };
  return { deviceId, track, range, span: DAY, isView: false, ...more } as History;
}

function event(more: object) {
  return { kind: "enter", timestamp: 3500, device_id: "van", visit_id: "1", fence_id: "depot", ...more };
}

function setUp() {
  const server = new FakeServer();
  const marks: (readonly unknown[])[] = [];
  const map = { fences: { setDayEvents: (each: readonly unknown[]) => marks.push(each) } };
  const followers = new Set<EventsListener>();
  const follow = (listener: EventsListener) => {
    followers.add(listener);
    return () => followers.delete(listener);
  };
  const nowMs = () => NOW_MS;
  const events = new DayEvents({ api: server, map, liveEvents: { follow }, nowMs, changed: () => undefined });
  const list = () =>
    events.events.map((each) => [each.kind, events.nameOf(each), events.placeOf(each)?.longitude]);
  return { server, marks, events, list, followers };
}

const page = (events: readonly object[]) => ({ events, pagination: { has_more: false } });

test("events have the names of what made them, and the place of the device at their time", async () => {
  const { server, marks, events, list } = setUp();
  events.use(historyOf("van"));
  expect(server.last("/devices/van/events").query).toMatchObject({ start: 0, end: 86_400_000 });
  server
    .last("/events")
    .answer(
      page([
        event({}),
        event({ kind: "exit", timestamp: 2000, fence_id: "gone" }),
        event({ kind: "alert_start", timestamp: 500, fence_id: undefined, alert_id: "fast" }),
      ]),
    );
  await turns();
  server.last("/geofences/depot").answer({ geofence: { properties: { name: "Depot" } } });
  server.last("/alerts/fast").answer({ alert: { name: "Too fast" } });
  await server.refuseMissing("/geofences/gone");
  expect(list()).toEqual([
    ["enter", "Depot", 0.001],
    ["exit", "Deleted", 0],
    ["alert_start", "Too fast", undefined],
  ]);
  expect(marks.at(-1)).toEqual([
    { latitude: 5, longitude: 0.001, kind: "enter" },
    { latitude: 5, longitude: 0, kind: "exit" },
  ]);
});

test("the events of the same days stay until the new ones are there; those of another device go at once", async () => {
  const { server, events, list } = setUp();
  events.use(historyOf("van"));
  server.last("/events").answer(page([event({})]));
  await turns();
  server.last("/depot").answer({ geofence: { properties: { name: "Depot" } } });
  await turns();
  events.use(historyOf("van"));
  expect(list()).toHaveLength(1);
  server.last("/events").answer(page([event({}), event({ kind: "dwell" })]));
  await turns();
  expect([list().length, server.asked.filter(({ path }) => path.endsWith("/depot")).length]).toEqual([2, 1]);
  events.use(historyOf("bus"));
  expect(list()).toEqual([]);
});

test("visitors of a share link, and spans that are too long, ask for none; a failure says why", async () => {
  const { server, events } = setUp();
  events.use(historyOf("van", { isView: true }));
  const year: Span = SPANS.at(-1)!;
  events.use(historyOf("van", { span: year }));
  expect(server.asked).toEqual([]);
  events.use(historyOf("van"));
  await server.refuse("/events");
  expect(events.fault).toBe("Too many days.");
});

test("the events of the present day are loaded again when the device has a new event", () => {
  const { server, events, followers } = setUp();
  const tell = (device_id: string | null) => {
    const happened = device_id === null ? null : [event({ device_id }) as unknown as FenceEvent];
    for (const follower of followers) follower(happened);
    return server.asked.length;
  };
  events.use(historyOf("van"));
  const loaded = server.asked.length;
  expect([tell("other"), tell("van"), tell(null)]).toEqual([loaded, loaded + 1, loaded + 2]);
  events.use(historyOf("van"));
  expect(followers.size).toBe(1);
  events.use(historyOf("van", { range: { startMs: -86_400_000, endMs: 0 } }));
  expect(followers.size).toBe(0); // Nothing happens in the past.
  events.use(historyOf("van"));
  events.use(null);
  expect(followers.size).toBe(0);
});
