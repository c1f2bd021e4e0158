import type { UserId } from "../model/ids.ts";
import type { WatchedRecord } from "./watch.ts";

/**
 * What a watch knows of a device after a record. It follows from the records up to that one alone: events that come
 * with the clock are made of it when they are due. It has numbers and texts only, so a checkpoint can have it as JSON.
 */
export interface WatchState {
  /** Unknown before the first decided record, and before that of each opening of the schedule. */
  place: "unknown" | "outside" | "inside";
  /** The last record that was not ignored; null if there is nothing to remember. */
  last: Moment | null;
  /** Records in a row that say the opposite of `place`. */
  run: Run | null;
  /** The stay of a device that is inside; null otherwise. */
  visit: Visit | null;
}

/** When a device reported, and who had it then. */
export interface Moment {
  readonly timestampMs: number;
  readonly userId: UserId;
}

export interface Run {
  readonly toward: "inside" | "outside";
  readonly first: Moment;
  count: number;
  /** The first of these records that is late enough to be the dwell, should they become a visit. */
  dwell: Moment | null;
}

/** A stay inside an area, or an alert from its start to its end. */
export interface Visit {
  readonly startMs: number;
  /** Whether an event began it. */
  readonly isEntryKnown: boolean;
  /** How many records were inside. */
  positions: number;
  hasDwelled: boolean;
  /** The last record that was inside; null if the silence of the device is what the alert is about. */
  record: WatchedRecord | null;
  /** When the device fell silent, which ends the visit unless a later record is inside. */
  silentMs: number | null;
}

export function createWatchState(): WatchState {
  return { place: "unknown", last: null, run: null, visit: null };
}

/** A copy that may change while this one stays as it is. */
export function copyWatchState({ place, last, run, visit }: WatchState): WatchState {
  return {
    place,
    last,
    run: run === null ? null : { ...run },
    visit: visit === null ? null : { ...visit },
  };
}
