import { isDeepStrictEqual } from "node:util";
import type { WatchEvent } from "./watch.ts";

/** An event as it was last sent: revisions of an id count from 1. */
export interface EventRevision {
  readonly event: WatchEvent;
  readonly revision: number;
  readonly isWithdrawn: boolean;
}

/**
 * What must be sent so that receivers have `events` in place of `former`: new revisions of events that are made,
 * changed or withdrawn. `find` returns the last revision of an id, which may have been withdrawn.
 */
export function planRevisions(
  former: Iterable<WatchEvent>,
  events: Iterable<WatchEvent>,
  find: (id: string) => EventRevision | null,
): EventRevision[] {
  const rest = new Map(Array.from(former, (event) => [event.id, event]));
  const revisions: EventRevision[] = [];
  function revise(event: WatchEvent, isWithdrawn: boolean): void {
    revisions.push({ event, revision: (find(event.id)?.revision ?? 0) + 1, isWithdrawn });
  }
  for (const event of events) {
    const before = rest.get(event.id);
    rest.delete(event.id);
    if (before === undefined || !isDeepStrictEqual(before, event)) revise(event, false);
  }
  for (const event of rest.values()) revise(event, true);
  return revisions;
}
