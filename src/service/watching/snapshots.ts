import type { DecidedEvent } from "../../geofences/watch.ts";
import type { WatchState } from "../../geofences/watch-state.ts";

/*
 * What is known of a device at some instants, so that late records are decided from the last of them before those.
 */

/** The states of a device after all its records up to an instant. */
export interface DeviceSnapshot {
  /** Since when they have been the same: before `asOfMs` only if there are none, perhaps `-Infinity`. */
  readonly sinceMs: number;
  readonly asOfMs: number;
  /** Snapshots of the device count from 1. */
  readonly number: number;
  /** By watch. A watch that has no state here has the one that follows from the records before (`findPastState`). */
  readonly states: ReadonlyMap<string, WatchState>;
}

/** What is known of a device after its last record, or since it has no states; with the number of the last snapshot. */
export interface DeviceState extends DeviceSnapshot {
  /** Records since the last snapshot. */
  readonly recordCount: number;
  /** Events that records decided, and that exist only once the clock of timed events has reached their time. */
  readonly pending: readonly DecidedEvent[];
}

/** Where a decision begins. */
export type DecisionStart = Omit<DeviceState, "pending">;

/** Records from one snapshot to the next. */
export const SNAPSHOT_RECORDS = 64;
/** The distance between two snapshots is at most about this part of the distance to the last record. */
const NEARNESS = 4;

export type SnapshotKey = Pick<DeviceSnapshot, "asOfMs" | "number">;

/**
 * Which of the snapshots, in their order, are not needed: the further back, the fewer. The newest one from before
 * `neededMs`, or else the first, stays, since records may be as late as that.
 */
export function superfluous<Key extends SnapshotKey>(keys: readonly Key[], neededMs: number): Key[] {
  const last = keys.at(-1)?.number ?? 0;
  const oldest = Math.max(
    0,
    keys.findLastIndex(({ asOfMs }) => asOfMs < neededMs),
  );
  return keys.filter(({ number }, index) => {
    if (index <= oldest) return index < oldest;
    return last - number > NEARNESS * (number & -number);
  });
}

/** Where to begin if records changed from an instant on. Events from before `neededMs` do not change any more. */
export function startBefore(
  changedMs: number,
  current: DeviceState | null,
  earlier: readonly DeviceSnapshot[],
  neededMs: number,
): DecisionStart {
  const isAfterAll = current !== null && current.sinceMs < changedMs;
  const before = isAfterAll ? current : earlier.findLast(({ sinceMs }) => sinceMs < changedMs);
  if (before === undefined) {
    const asOfMs = Math.max(changedMs, neededMs) - 1;
    return { sinceMs: -Infinity, asOfMs, number: 0, recordCount: 0, states: new Map() };
  }
  const { sinceMs, number, states } = before;
  // Without states nothing has changed until the change, or until there were some.
  const isSame = states.size === 0 && (isAfterAll || changedMs <= before.asOfMs);
  const asOfMs = isSame ? changedMs - 1 : before.asOfMs;
  return { sinceMs, asOfMs, number, recordCount: isAfterAll ? current.recordCount : 0, states };
}
