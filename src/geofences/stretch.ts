import type { DeviceId } from "../model/ids.ts";
import { Decision } from "./decision.ts";
import type { Watch, WatchEvent, WatchedRecord } from "./watch.ts";
import { copyWatchState, isSameState, type WatchState } from "./watch-state.ts";

/*
 * When records of a device come late, are corrected or erased, only the stretch around them is decided anew: from the
 * last settled state before them until a settled state after them comes out as it was.
 */

/** The state after a record, to begin again from. */
export interface ReachedState {
  /** The time of the record; `-Infinity` for the state before all records. */
  readonly timestampMs: number;
  readonly state: WatchState;
  /** Records since a state was settled; 0 if this one is. */
  readonly unsettledCount: number;
}

export interface DecidedEvent {
  readonly event: WatchEvent;
  /** The time of the record that decided it, which may be after the time of the event. */
  readonly decidedMs: number;
}

export interface DecidedStretch {
  readonly events: readonly DecidedEvent[];
  /** In the order of their times. */
  readonly settled: readonly ReachedState[];
  /** The state after the last record that was read. */
  readonly last: ReachedState;
  /** Whether it is as it was. If not, all records were read. */
  readonly isAsBefore: boolean;
}

/** A state is settled after this many records. */
const SETTLED_RECORDS = 64;

/**
 * Decides what follows a settled state. `records` are all later ones; it reads as few as it can. `later` are the states
 * that were settled after the last record that changed, in the order of their times.
 */
export function decideStretch(
  watch: Watch,
  deviceId: DeviceId,
  from: ReachedState,
  records: Iterable<WatchedRecord>,
  later: readonly ReachedState[],
): DecidedStretch {
  const state = copyWatchState(from.state);
  const decision = new Decision(watch, deviceId, state);
  const events: DecidedEvent[] = [];
  const settled: ReachedState[] = [];
  let last = from;
  let next = 0;
  for (const record of records) {
    const { timestampMs } = record;
    for (const event of decision.take(record)) events.push({ event, decidedMs: timestampMs });
    while (next < later.length && later[next]!.timestampMs < timestampMs) next++;
    const earlier = later[next];
    if (earlier?.timestampMs === timestampMs && isSameState(earlier.state, state)) {
      settled.push(earlier);
      return { events, settled, last: earlier, isAsBefore: true };
    }
    last = { timestampMs, state, unsettledCount: (last.unsettledCount + 1) % SETTLED_RECORDS };
    if (last.unsettledCount === 0) settled.push({ ...last, state: copyWatchState(state) });
  }
  return { events, settled, last, isAsBefore: false };
}
