import { expect, test } from "bun:test";
import type { EventsListener } from "../../../../src/web/devices/live-events.ts";
import type { FenceEvent } from "../../../../src/web/fences/fence.ts";
import { newestOf, RecentEvents } from "../../../../src/web/fences/recent-events.ts";
import { turns } from "../../../support/turns.ts";
import { fenceServer } from "./fence-server.ts";

function event(id: string, timestamp: number, more: Partial<FenceEvent> = {}): FenceEvent {
  return {
    ...{ id, revision: 1, timestamp, kind: "enter", device_id: "van", visit_id: "1", fence_id: "depot" },
    ...more,
  };
}

test("newestOf() has the highest revision of each event, without withdrawn events", () => {
  const known = [event("a", 3), event("b", 2, { revision: 3 })];
  const more = [
    event("b", 9, { revision: 2 }),
    event("c", 5),
    event("a", 3, { revision: 2, withdrawn: true }),
  ];
  expect(newestOf(known, more).map(({ id, timestamp }) => [id, timestamp])).toEqual([
    ["c", 5],
    ["b", 2],
  ]);
  const many = Array.from({ length: 300 }, (_, index) => event(String(index), index));
  expect(newestOf(many, [])).toHaveLength(100);
});

test("the list has events that arrive while it loads, and stops following when it is closed", async () => {
  const { api, asked } = fenceServer();
  const followers = new Set<EventsListener>();
  const recent = new RecentEvents({
    ...{ api, zones: { zone: "UTC" }, table: { labelOf: (id) => id }, chosen: { choose: () => undefined } },
    liveEvents: {
      follow: (listener) => {
        followers.add(listener);
        return () => followers.delete(listener);
      },
    },
    changed: () => undefined,
  });
  recent.open();
  for (const follower of followers) follower([event("b", 2)]);
  asked.find(({ path }) => path === "/api/v1/events")!.answer({ events: [event("a", 1)] });
  await turns();
  for (const { path, answer } of asked)
    if (path === "/api/v1/geofences/depot") answer({ geofence: { properties: { name: "Depot" } } });
  await turns();
  expect(recent.events.map(({ id }) => id)).toEqual(["b", "a"]);
  expect(recent.nameOf(recent.events[0]!)).toBe("Depot");
  for (const follower of followers) follower(null);
  expect(asked.filter(({ path }) => path === "/api/v1/events")).toHaveLength(2);
  recent.close();
  expect([followers.size, recent.events]).toEqual([0, []]);
});
