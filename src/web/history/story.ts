import type { NearPlace, StopAnswer, StopsAnswer } from "../api/answers.ts";
import { type Bounds, boundsOf } from "../geo/bounds.ts";
import { metersBetween, type Place } from "../geo/earth.ts";
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
  /** The time without silences, whose route is unknown; of a simplified track the whole time. */
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
  let { startMs } = range;
  let from = ends.start;
  let fromStop: StopAnswer | null = null;
  const add = (endMs: number, to: NearPlace | null, toStop: StopAnswer | null) => {
    const way = { startMs, endMs };
    const trip =
      track.toleranceMeters === 0
        ? tripOf(track, way, speed)
        : roughTripOf(track, way, [fromStop, toStop], speed);
    if (trip !== null) story.push({ ...trip, from, to });
  };
  for (const [index, stop] of stops.entries()) {
    const place = stop.place ?? null;
    add(stop.start, place, stop);
    story.push({ kind: "stay", number: index + 1, stop, startMs: stop.start, endMs: stop.end });
    startMs = stop.end;
    from = place;
    fromStop = stop;
  }
  add(range.endMs, ends.end, null);
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
  const slice = <Value>(values: readonly Value[]) => values.slice(first, last + 1);
  const bounds = boundsOf(slice(track.latitude), slice(track.longitude))!;
  return { kind: "trip", ...range, meters, movingMs, topSpeed: topSpeedIn(range, speed), bounds };
}

/**
 * A trip of a simplified track, which may have no position at its stops, or none at all on a straight way. So it leads
 * from stop to stop by the positions between them. Null if it is too short.
 */
function roughTripOf(
  track: Track,
  range: TimeRange,
  [fromStop, toStop]: readonly [StopAnswer | null, StopAnswer | null],
  speed: PlotSeries | null,
): Omit<Trip, "from" | "to"> | null {
  const places: Place[] = fromStop === null ? [] : [fromStop];
  const areJoined = [false]; // Whether a line leads to the place.
  let index = track.indexAt(range.startMs) + (fromStop === null ? 0 : 1);
  for (; index < track.count && track.timestampMs[index]! <= range.endMs; index++) {
    places.push({ latitude: track.latitude[index]!, longitude: track.longitude[index]! });
    areJoined[places.length - 1] = places.length > 1 && track.isJoined(index);
  }
  if (toStop !== null) {
    places.push(toStop);
    areJoined[places.length - 1] = places.length > 1 && (index >= track.count || track.isJoined(index));
  }
  let meters = 0;
  for (let at = 1; at < places.length; at++)
    if (areJoined[at]) meters += metersOf(places[at - 1]!, places[at]!);
  if (meters <= TRIP_METERS_MIN) return null;
  const bounds = boundsOf(
    places.map(({ latitude }) => latitude),
    places.map(({ longitude }) => longitude),
  )!;
  const movingMs = range.endMs - range.startMs;
  return { kind: "trip", ...range, meters, movingMs, topSpeed: topSpeedIn(range, speed), bounds };
}

function metersOf(a: Place, b: Place): number {
  return metersBetween(a.latitude, a.longitude, b.latitude, b.longitude);
}

function topSpeedIn(range: TimeRange, speed: PlotSeries | null): number | null {
  return speed === null ? null : (greatest(seriesWithin(speed, range))?.value ?? null);
}
