import type { NearPlace, StopAnswer, StopsAnswer } from "../api/answers.ts";
import { type Bounds, boundsOf } from "../geo/bounds.ts";
import { greatest, type PlotSeries, seriesWithin } from "../plots/plot-series.ts";
import type { TimeRange } from "../time/local-day.ts";
import type { TrackEnds } from "./history.ts";
import type { Track } from "./track.ts";

/** A stay at a stop. */
export interface Stay extends TimeRange {
  readonly kind: "stay";
  /** The number on the map, from 1. */
  readonly number: number;
  readonly stop: StopAnswer;
}

/** The way between two stops, or from or to an end of the track. */
export interface Trip extends TimeRange {
  readonly kind: "trip";
  /** The place at the stop, or at the end of the track. Null if no place is near, or known. */
  readonly from: NearPlace | null;
  readonly to: NearPlace | null;
  readonly meters: number;
  /** The time without silences, whose route is unknown. */
  readonly movingMs: number;
  /** In the unit of the plot; null if no speed is known. */
  readonly topSpeed: number | null;
  readonly bounds: Bounds;
}

export type Chapter = Stay | Trip;

/** A shorter way is a walk around the stop. */
const TRIP_METERS_MIN = 200;

/** A day as a story: the stays, and the trips between them. */
export function storyOf(
  track: Track,
  { stops }: Pick<StopsAnswer, "stops">,
  ends: TrackEnds,
  speed: PlotSeries | null,
): readonly Chapter[] {
  const { range } = track;
  if (range === null) return [];
  const story: Chapter[] = [];
  const add = (startMs: number, endMs: number, from: NearPlace | null, to: NearPlace | null) => {
    const trip = tripOf(track, { startMs, endMs }, speed);
    if (trip !== null) story.push({ ...trip, from, to });
  };
  let { startMs } = range;
  let from = ends.start;
  for (const [index, stop] of stops.entries()) {
    const place = stop.place ?? null;
    add(startMs, stop.start, from, place);
    story.push({ kind: "stay", number: index + 1, stop, startMs: stop.start, endMs: stop.end });
    startMs = stop.end;
    from = place;
  }
  add(startMs, range.endMs, from, ends.end);
  return story;
}

/** The chapter at an instant, by its index; null if there is none. */
export function chapterAt(story: readonly Chapter[], ms: number): number | null {
  const index = story.findIndex(({ startMs, endMs }) => ms >= startMs && ms <= endMs);
  return index < 0 ? null : index;
}

/** Null if the way is too short for a trip. */
function tripOf(track: Track, range: TimeRange, speed: PlotSeries | null): Omit<Trip, "from" | "to"> | null {
  const first = track.indexAt(range.startMs);
  const last = track.indexAt(range.endMs);
  if (first < 0 || last <= first) return null;
  let meters = 0;
  let movingMs = 0;
  for (let index = first + 1; index <= last; index++) {
    if (!track.isJoined(index)) continue;
    meters += track.metersTo(index);
    movingMs += track.timestampMs[index]! - track.timestampMs[index - 1]!;
  }
  if (meters <= TRIP_METERS_MIN) return null;
  const top = speed === null ? null : greatest(seriesWithin(speed, range));
  const slice = <Value>(values: readonly Value[]) => values.slice(first, last + 1);
  const bounds = boundsOf(slice(track.latitude), slice(track.longitude))!;
  return { kind: "trip", ...range, meters, movingMs, topSpeed: top?.value ?? null, bounds };
}
