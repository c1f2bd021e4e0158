import type { EventRevision } from "../../geofences/revisions.ts";
import type { EventKind, VisitEnding, WatchEvent } from "../../geofences/watch.ts";
import type { Erasure } from "../../model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import { MS_PER_DAY, MS_PER_MINUTE } from "../../model/time/units.ts";
import type { SqliteRow, SqliteValue } from "../../runtime/sqlite.ts";

/** A revision of an event that is to be stored, or is. */
export interface NewRevision extends EventRevision {
  readonly appId: AppId;
  /** The time of the record that decided it; `Infinity` if the clock of timed events did. */
  readonly decidedMs: number;
  /** Whether it was made long after its time. */
  readonly isLate: boolean;
  readonly madeMs: number;
}

export interface StoredEvent extends NewRevision {
  /** Its position in the order in which revisions were stored. */
  readonly seq: number;
}

/** Whether an event that is made at this time is late. */
export function isLateEvent({ timestampMs }: Pick<WatchEvent, "timestampMs">, madeMs: number): boolean {
  return madeMs - timestampMs > MS_PER_DAY;
}

/** The columns that `valuesOf` fills, in its order. */
export const EVENT_COLUMNS = [
  ...["app_id", "id", "revision", "kind", "timestamp_ms", "device_id", "user_id", "watch_id", "version"],
  ...["visit_id", "ending", "due_ms", "decided_ms", "is_withdrawn", "is_late", "made_ms"],
];

export function valuesOf({ event, ...revision }: NewRevision): SqliteValue[] {
  const { id, kind, timestampMs, deviceId, userId, watchId, version, visitId, ending, dueMs } = event;
  return [
    ...[
      revision.appId,
      id,
      revision.revision,
      kind,
      timestampMs,
      deviceId,
      userId,
      watchId,
      version,
      visitId,
    ],
    ending === null ? null : JSON.stringify(ending),
    ...[dueMs, revision.decidedMs, Number(revision.isWithdrawn), Number(revision.isLate), revision.madeMs],
  ];
}

export function storedEventOf(row: SqliteRow): StoredEvent {
  return {
    seq: row.seq as number,
    appId: row.app_id as AppId,
    revision: row.revision as number,
    isWithdrawn: row.is_withdrawn === 1,
    isLate: row.is_late === 1,
    decidedMs: row.decided_ms as number,
    madeMs: row.made_ms as number,
    event: {
      id: row.id as string,
      kind: row.kind as EventKind,
      timestampMs: row.timestamp_ms as number,
      deviceId: row.device_id as DeviceId,
      userId: row.user_id as UserId,
      watchId: row.watch_id as string,
      version: row.version as number,
      visitId: row.visit_id as string,
      ending: row.ending === null ? null : (JSON.parse(row.ending as string) as VisitEnding),
      dueMs: row.due_ms as number,
    },
  };
}

/** Reports may be this far in the future. */
const FUTURE_MS = 10 * MS_PER_MINUTE;

/**
 * What an erasure destroys of events. What the subject does after the erasure is no part of it, although its entry
 * stays until all files are erased.
 */
export function erasedEvents<Erased extends Pick<Erasure, "range" | "createdMs">>(erasure: Erased): Erased {
  const { startMs, endMs } = erasure.range;
  return { ...erasure, range: { startMs, endMs: Math.min(endMs, erasure.createdMs + FUTURE_MS) } };
}
