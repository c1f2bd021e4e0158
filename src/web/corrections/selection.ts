import type { Place } from "../geo/earth.ts";
import type { Track } from "../history/track.ts";
import type { TimeRange } from "../time/local-day.ts";

/* The positions of a day, or of several, that a correction may touch. */

/** Chosen positions: all those of a range, or single ones. */
export interface Selection {
  /** Unix ms, ascending. If the selection is not exact, these are only some of its positions, and may be none. */
  readonly timestampMs: readonly number[];
  /** False if the track is simplified, so that the range may have more positions than are known. */
  readonly isExact: boolean;
  /** From the first position to the last; if the selection is not exact, what the user has chosen. */
  readonly range: TimeRange;
  /** Where a single position is, in case that a simplified track lacks it. */
  readonly place?: Place;
}

/** How `POST /api/v1/corrections` names the records of a device. */
export type SelectedRecords = { readonly device_id: string } & (
  | { readonly timestamps: readonly number[] }
  | { readonly start: number; readonly end: number }
);

/** A correction names at most this many single instants. */
const TIMESTAMPS_MAX = 1000;

/** Single positions. There must be at least one, in order. */
export function selectionOf(timestampMs: readonly number[], place?: Place): Selection {
  const range = { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! };
  return { timestampMs, isExact: true, range, ...(place === undefined ? {} : { place }) };
}

/** The positions of a range, whose ends are included; null if there are none. */
export function positionsWithin(track: Track, { startMs, endMs }: TimeRange): Selection | null {
  const timestampMs = track.timestampMs.slice(track.indexAt(startMs - 1) + 1, track.indexAt(endMs) + 1);
  if (track.toleranceMeters === 0) return timestampMs.length === 0 ? null : selectionOf(timestampMs);
  const whole = track.range;
  if (whole === null || endMs < whole.startMs || startMs > whole.endMs) return null;
  const range = { startMs: Math.max(startMs, whole.startMs), endMs: Math.min(endMs, whole.endMs) };
  return { timestampMs, isExact: false, range };
}

/** The position that is closest in time; null if the track is empty. */
export function positionAt(track: Track, ms: number): Selection | null {
  const before = track.timestampMs[Math.max(0, track.indexAt(ms))];
  if (before === undefined) return null;
  const after = track.timestampMs[track.indexAt(ms) + 1] ?? before;
  return selectionOf([Math.abs(after - ms) < Math.abs(ms - before) ? after : before]);
}

/** The selection, extended to a time before or after it. */
export function extendedTo(selection: Selection, track: Track, ms: number): Selection {
  const { startMs, endMs } = selection.range;
  const [position] = positionAt(track, ms)?.timestampMs ?? [startMs];
  const range = { startMs: Math.min(startMs, position!), endMs: Math.max(endMs, position!) };
  return positionsWithin(track, range) ?? selection;
}

/** The part of a selection that a newer track still has; null if nothing is left. */
export function remaining(selection: Selection, track: Track): Selection | null {
  if (!selection.isExact) return positionsWithin(track, selection.range);
  if (track.toleranceMeters > 0) return selection; // The track says nothing about single positions.
  const left = selection.timestampMs.filter((ms) => track.timestampMs[track.indexAt(ms)] === ms);
  return left.length === 0 ? null : selectionOf(left);
}

/** Names single instants if possible: these are the positions that the user saw, and none that arrive meanwhile. */
export function recordsOf(deviceId: string, { timestampMs, isExact, range }: Selection): SelectedRecords {
  if (isExact && timestampMs.length <= TIMESTAMPS_MAX)
    return { device_id: deviceId, timestamps: timestampMs };
  return { device_id: deviceId, start: range.startMs, end: range.endMs + 1 };
}

/** The place of a single position; null if there are several, or if it is not known. */
export function placeOf({ timestampMs, isExact, place }: Selection, track: Track): Place | null {
  const [ms, ...others] = timestampMs;
  if (ms === undefined || !isExact || others.length > 0) return null;
  return placeAt(track, ms) ?? place ?? null;
}

/** Where the selected positions are. If there are more than `placesMax`, it is every second one, every third … */
export function placesOf(selection: Selection, track: Track, placesMax: number): readonly Place[] {
  const { timestampMs } = selection;
  const single = placeOf(selection, track);
  if (single !== null) return [single];
  const step = Math.ceil(timestampMs.length / placesMax);
  return timestampMs.flatMap((ms, index) => (index % step === 0 ? (placeAt(track, ms) ?? []) : []));
}

function placeAt(track: Track, ms: number): Place | null {
  const at = track.indexAt(ms);
  if (track.timestampMs[at] !== ms) return null;
  return { latitude: track.latitude[at]!, longitude: track.longitude[at]! };
}
