import type { DecidedEvent } from "../../geofences/watch.ts";
import type { WatchState } from "../../geofences/watch-state.ts";

/*
 * What is known of a device at some instants, so that late records are decided from the last of them before those.
 */

/** The states of a device after all its records up to an instant. */
export interface DeviceSnapshot {
  readonly asOfMs: number;
  /** Records from the first state on. */
  readonly recordCount: number;
  /** By watch. A watch that has no state here has the one that follows from the records before (`findPastState`). */
  readonly states: ReadonlyMap<string, WatchState>;
}

/** What is known of a device after its last record. */
export interface DeviceState extends DeviceSnapshot {
  /** Events that records decided, and that exist only once the clock of timed events has reached their time. */
  readonly pending: readonly DecidedEvent[];
}

/** Records from one snapshot to the next. */
export const SNAPSHOT_RECORDS = 64;
/** The distance between two snapshots is at most about this part of the distance to the last record. */
const NEARNESS = 4;

export type SnapshotKey = Pick<DeviceSnapshot, "asOfMs" | "recordCount">;

/**
 * Which snapshots are not needed: the further back, the fewer. The newest one from before `neededMs` stays, since
 * records may be as late as that.
 */
export function superfluous<Key extends SnapshotKey>(
  keys: readonly Key[],
  recordCount: number,
  neededMs: number,
): Key[] {
  const block = Math.floor(recordCount / SNAPSHOT_RECORDS);
  const oldest = keys.findLastIndex(({ asOfMs }) => asOfMs < neededMs);
  return keys.filter((key, index) => {
    if (index <= oldest) return index < oldest;
    const of = key.recordCount / SNAPSHOT_RECORDS;
    return of > 0 && block - of > NEARNESS * (of & -of);
  });
}

/**
 * The snapshot to begin from if records changed from an instant on. Before the first one, and if there is none, nothing
 * was stored.
 */
export function snapshotBefore(
  changedMs: number,
  current: DeviceSnapshot | null,
  earlier: readonly DeviceSnapshot[],
): DeviceSnapshot {
  if (current !== null && current.asOfMs < changedMs) return current;
  const before = earlier.findLast(({ asOfMs }) => asOfMs < changedMs);
  return before ?? { asOfMs: changedMs - 1, recordCount: 0, states: new Map() };
}
