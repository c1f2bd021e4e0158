import type { EventKind } from "../../geofences/watch.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { EventScope, EventStore } from "./event-store.ts";
import type { StoredEvent } from "./stored-event.ts";

/** Null stands for all. */
export interface EventFilter {
  readonly range: TimeRange;
  readonly deviceId: DeviceId | null;
  readonly userId: UserId | null;
  readonly watchId: string | null;
  readonly kinds: ReadonlySet<EventKind> | null;
}

export interface EventQuery extends EventFilter {
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly hasMore: boolean;
  /** What is stored later, or follows this page, has a greater `seq`. */
  readonly seq: number;
}

/** Rows that a step reads, in less than a millisecond. */
const STEP_ROWS = 128;

/** A page of an app's events that are not withdrawn, by their times. */
export function* findEvents(store: EventStore, appId: AppId, query: EventQuery): Steps<EventPage> {
  const { range, order, offset, limit } = query;
  const scope = { range, subject: subjectOf(query) };
  const events: StoredEvent[] = [];
  const seq = store.lastSeqOf(appId);
  let skipped = 0;
  for (let afterId: string | null = null; ; ) {
    const rows = store.list(appId, scope, order, afterId, STEP_ROWS);
    for (const row of rows) {
      if (row.isWithdrawn || !passes(row, query)) continue;
      if (events.length === limit) return { events, hasMore: true, seq };
      if (skipped < offset) skipped++;
      else events.push(row);
    }
    if (rows.length === 0) return { events, hasMore: false, seq };
    afterId = rows.at(-1)!.event.id;
    yield;
  }
}

/** A page of what was stored for an app after a position, in that order, withdrawn events too. */
export function* findNewEvents(
  store: EventStore,
  appId: AppId,
  filter: EventFilter,
  afterSeq: number,
  limit: number,
): Steps<EventPage> {
  const { startMs, endMs } = filter.range;
  const events: StoredEvent[] = [];
  for (let seq = afterSeq; ; ) {
    const rows = store.after(appId, seq, STEP_ROWS);
    for (const row of rows) {
      const { timestampMs } = row.event;
      if (timestampMs >= startMs && timestampMs < endMs && passes(row, filter)) {
        if (events.length === limit) return { events, hasMore: true, seq };
        events.push(row);
      }
      seq = row.seq;
    }
    if (rows.length === 0) return { events, hasMore: false, seq };
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
