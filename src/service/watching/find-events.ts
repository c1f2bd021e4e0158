import type { EventKind } from "../../geofences/watch.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { EventScope, EventStore } from "./event-store.ts";
import type { StoredEvent } from "./stored-event.ts";

/** Null stands for all. */
export interface EventFilter {
  readonly deviceId: DeviceId | null;
  readonly userId: UserId | null;
  readonly watchId: string | null;
  readonly kinds: ReadonlySet<EventKind> | null;
}

export interface EventQuery extends EventFilter {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly hasMore: boolean;
}

/** Rows that a step reads, in less than a millisecond. */
const STEP_ROWS = 128;

/** A page of an app's events that are not withdrawn, by their times. */
export function* findEvents(store: EventStore, appId: AppId, query: EventQuery): Steps<EventPage> {
  const { range, order, offset, limit } = query;
  const scope = { range, subject: subjectOf(query) };
  const events: StoredEvent[] = [];
  let skipped = 0;
  for (let afterId: string | null = null; ; ) {
    const rows = store.list(appId, scope, order, afterId, STEP_ROWS);
    for (const row of rows) {
      if (row.isWithdrawn || !passes(row, query)) continue;
      if (events.length === limit) return { events, hasMore: true };
      if (skipped < offset) skipped++;
      else events.push(row);
    }
    if (rows.length < STEP_ROWS) return { events, hasMore: false };
    afterId = rows.at(-1)!.event.id;
    yield;
  }
}

/** The narrowest of the orders in which the store can read. */
function subjectOf({ deviceId, watchId }: EventFilter): EventScope["subject"] {
  if (deviceId !== null) return { deviceId };
  return watchId === null ? null : { watchId };
}

function passes({ event }: StoredEvent, { deviceId, userId, watchId, kinds }: EventFilter): boolean {
  if (deviceId !== null && event.deviceId !== deviceId) return false;
  if (userId !== null && event.userId !== userId) return false;
  if (watchId !== null && event.watchId !== watchId) return false;
  return kinds === null || kinds.has(event.kind);
}
