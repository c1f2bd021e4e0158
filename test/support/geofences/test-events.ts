import { firstEventId } from "../../../src/geofences/event-id.ts";
import type { WatchEvent } from "../../../src/geofences/watch.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { type ErasuresOf, EventStore } from "../../../src/service/watching/event-store.ts";
import type { NewRevision } from "../../../src/service/watching/stored-event.ts";

/* Events as a watcher stores them. */

export const APP = "app" as AppId;

/** A store in the file, or in memory. */
export function openEvents(
  path: string | null = null,
  endOfLog = Number.MAX_SAFE_INTEGER,
  erasuresOf?: ErasuresOf,
): EventStore {
  const events = EventStore.open(openNodeSqlite(path), path ?? ":memory:", erasuresOf);
  events.begin(endOfLog);
  return events;
}

/** An event at this time, whose id ends with `mark`. */
export function revisionAt(
  timestampMs: number,
  mark: string,
  event: Partial<Omit<WatchEvent, "id" | "timestampMs">> = {},
  revision: Partial<Omit<NewRevision, "event">> = {},
): NewRevision {
  const id = firstEventId(timestampMs) + mark.padStart(16, "0");
  return {
    ...{
      appId: APP,
      revision: 1,
      isWithdrawn: false,
      isLate: false,
      decidedMs: timestampMs,
      madeMs: timestampMs + 1,
    },
    ...revision,
    event: {
      ...{
        kind: "enter",
        deviceId: "bus" as DeviceId,
        userId: "ada" as UserId,
        watchId: "depot",
        version: 1,
      },
      ...{ visitId: id, ending: null, dueMs: 0 },
      ...event,
      ...{ id, timestampMs },
    },
  };
}

export function putAll(events: EventStore, revisions: readonly NewRevision[]): void {
  events.transact(() => {
    for (const revision of revisions) events.put(revision);
  });
}

/** Makes each later read of stored events call this before, and fail if it throws. */
export function beforeReads(events: EventStore, call: () => void): void {
  const { after } = events;
  events.after = (...asked) => {
    call();
    return after.apply(events, asked);
  };
}

/** Has a device inside of a fence. */
export function putInside(
  store: EventStore,
  appId: AppId,
  { watchId, deviceId }: Pick<WatchEvent, "watchId" | "deviceId">,
): void {
  const sql = "INSERT OR REPLACE INTO near VALUES (?, ?, ?, 1, NULL)";
  store.transact(() => void store.database.prepare(sql).run(appId, watchId, deviceId));
}
