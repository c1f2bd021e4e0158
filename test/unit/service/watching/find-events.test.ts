import { expect, test } from "bun:test";
import { inOneTurn } from "../../../../src/lib/schedule/steps.ts";
import type { DeviceId, UserId } from "../../../../src/model/ids.ts";
import { type EventQuery, findEvents } from "../../../../src/service/watching/find-events.ts";
import { APP, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

test("findEvents() agrees with filtering, sorting and cutting all events", () => {
  const random = seededRandom(7);
  const pick = <Item>(...items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const all = Array.from({ length: 700 }, (_, index) =>
    revisionAt(
      Math.floor(random() * 400),
      `${index}`,
      {
        deviceId: pick("bus", "car") as DeviceId,
        userId: pick("ada", "bob") as UserId,
        watchId: pick("depot", "port"),
        kind: pick("enter", "exit", "dwell"),
      },
      { isWithdrawn: pick(false, false, true) },
    ),
  );
  const store = openEvents();
  putAll(store, all);
  for (let round = 0; round < 200; round++) {
    const query: EventQuery = {
      range: { startMs: Math.floor(random() * 200), endMs: 200 + Math.floor(random() * 201) },
      deviceId: pick("bus" as DeviceId, null),
      userId: pick("ada" as UserId, null),
      watchId: pick("depot", null),
      kinds: pick(new Set(["exit", "dwell"] as const), null),
      order: pick("asc", "desc"),
      offset: pick(0, 1, 130, 600),
      limit: pick(1, 50, 1000),
    };
    const ids = all
      .filter(({ event, isWithdrawn }) => {
        const { timestampMs } = event;
        const { range, deviceId, userId, watchId, kinds } = query;
        const isInRange = timestampMs >= range.startMs && timestampMs < range.endMs;
        const isOf =
          event.deviceId === (deviceId ?? event.deviceId) && event.userId === (userId ?? event.userId);
        const isWatched = event.watchId === (watchId ?? event.watchId) && kinds?.has(event.kind) !== false;
        return !isWithdrawn && isInRange && isOf && isWatched;
      })
      .map(({ event }) => event.id)
      .sort();
    if (query.order === "desc") ids.reverse();
    const { events, hasMore } = inOneTurn(findEvents(store, APP, query));
    expect(events.map(({ event }) => event.id)).toEqual(ids.slice(query.offset, query.offset + query.limit));
    expect(hasMore).toBe(ids.length > query.offset + query.limit);
  }
});
