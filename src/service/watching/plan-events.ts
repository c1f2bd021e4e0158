import { type EventRevision, planRevisions } from "../../geofences/revisions.ts";
import type { DecidedEvent } from "../../geofences/watch.ts";

/** What must be written so that the stored events of a device are those that were decided. */
export interface EventPlan {
  readonly revisions: readonly (EventRevision & Pick<DecidedEvent, "decidedMs">)[];
  /** Events that stay as they are, but are decided by another record. */
  readonly moved: readonly DecidedEvent[];
}

/** `former` are the stored events that the same part of the records decided, `find` the last revision of any. */
export function planEvents(
  former: readonly DecidedEvent[],
  decided: readonly DecidedEvent[],
  find: (id: string) => EventRevision | null,
): EventPlan {
  const formerById = new Map(former.map((each) => [each.event.id, each]));
  const decidedById = new Map(decided.map((each) => [each.event.id, each]));
  const eventOf = ({ event }: DecidedEvent) => event;
  const planned = planRevisions(former.map(eventOf), [...decidedById.values()].map(eventOf), find);
  const revised = new Set(planned.map(({ event }) => event.id));
  return {
    revisions: planned.map((revision) => {
      const { id } = revision.event;
      const { decidedMs } = (decidedById.get(id) ?? formerById.get(id))!;
      return { ...revision, decidedMs };
    }),
    moved: [...decidedById.values()].filter(({ event, decidedMs }) => {
      if (revised.has(event.id)) return false;
      return formerById.get(event.id)!.decidedMs !== decidedMs;
    }),
  };
}
