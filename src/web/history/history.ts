import type {
  CurrentAnswer,
  CurrentRecord,
  NearPlace,
  SeriesAnswer,
  StopsAnswer,
  TrackAnswer,
} from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { type LocalDay, RECENT, type Span, type TimeRange } from "../time/local-day.ts";
import { Track } from "./track.ts";

/** A query for a day, or several days, of a device. */
export interface HistoryQuestion {
  readonly deviceId: string;
  /** The last day of the span. */
  readonly day: LocalDay;
  readonly zone: string;
  readonly span: Span;
  readonly range: TimeRange;
  /** Whether the user has a share link, which shows only the track. */
  readonly isView: boolean;
}

/** The places at both ends of a track. */
export interface TrackEnds {
  readonly start: NearPlace | null;
  readonly end: NearPlace | null;
}

export const NO_ENDS: TrackEnds = { start: null, end: null };

export interface History extends HistoryQuestion {
  readonly track: Track;
  /** The places at its ends. */
  readonly ends: TrackEnds;
  /** The number of records; a simplified track has fewer. */
  readonly reports: number;
  /** Whether records are missing that the operator gave up as lost. */
  readonly isIncomplete: boolean;
  /** Null if the user may not see stops, or if the range is too long. */
  readonly stops: StopsAnswer | null;
}

/** Whether two histories are of the same device and range, so that one is an update of the other. */
export function areOfSame(a: History | null, b: History | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.deviceId !== b.deviceId || a.span.name !== b.span.name) return false;
  if (a.span === RECENT) return a.day === b.day; // Its start moves on.
  return a.range.startMs === b.range.startMs && a.range.endMs === b.range.endMs;
}

/** The longest range that the server lists stops of. */
const STOP_DAYS_MAX = 31;
/** A point for each pixel of a wide screen. */
const BUCKETS = 1200;
/** The most that the server answers. */
const BUCKETS_MAX = 4000;

type Reader = Pick<Api, "get">;

/**
 * The track of one day has all its positions, or playback would move where the device stood. The track of several days
 * is only drawn, and is loaded again in more detail when the user zooms in.
 */
export function toleranceMetersOf(days: number): number {
  return days === 1 ? 0 : Math.round(20 * Math.sqrt(days));
}

export async function readHistory(
  api: Reader,
  question: HistoryQuestion,
  signal: AbortSignal,
): Promise<History> {
  const { deviceId, span, range, isView } = question;
  const hasStops = !isView && span.days <= STOP_DAYS_MAX;
  const [answer, stops] = await Promise.all([
    readTrack(api, question, toleranceMetersOf(span.days), { places: hasStops }, signal),
    hasStops
      ? api.get<StopsAnswer>(pathOf(deviceId, "stops"), { ...query(range), places: true }, signal)
      : null,
  ]);
  return {
    ...question,
    track: new Track(answer),
    ends: isView ? NO_ENDS : { start: answer.start_place ?? null, end: answer.end_place ?? null },
    reports: answer.total,
    isIncomplete: answer.incomplete === true,
    stops,
  };
}

/** Reads a track, with the places of its ends, or with a `box` only the part that is needed to draw the box. */
export function readTrack(
  api: Reader,
  { deviceId, range }: Pick<HistoryQuestion, "deviceId" | "range">,
  toleranceMeters: number,
  { box, places }: { readonly box?: string | undefined; readonly places?: boolean },
  signal: AbortSignal,
): Promise<TrackAnswer> {
  const named = places === true ? { places } : {};
  const parameters = { ...query(range), tolerance_meters: toleranceMeters, bbox: box, ...named };
  return api.get(pathOf(deviceId, "track"), parameters, signal);
}

export async function readCurrent(
  api: Reader,
  deviceId: string,
  signal: AbortSignal,
): Promise<CurrentRecord> {
  const path = pathOf(deviceId, "locations/current");
  return (await api.get<CurrentAnswer>(path, { places: true }, signal)).location;
}

/** Whether the line is colored by speed: in longer ranges a value would stand for hours. */
export function isColored({ days }: Span): boolean {
  return days <= STOP_DAYS_MAX;
}

/** In how many parts of equal length the range is plotted: several days in as many as possible, to color the line. */
export function bucketsOf(span: Span): number {
  return span.days > 1 && isColored(span) ? BUCKETS_MAX : BUCKETS;
}

/** The range must be that of the track, from its first position to its last, so that most buckets have values. */
export function readSeries(
  api: Reader,
  deviceId: string,
  { startMs, endMs }: TimeRange,
  buckets: number,
  signal: AbortSignal,
): Promise<SeriesAnswer> {
  const parameters = { ...query({ startMs, endMs: endMs + 1 }), buckets };
  return api.get(
    pathOf(deviceId, "series"),
    { ...parameters, fields: "speed,altitude,battery_level" },
    signal,
  );
}

function query({ startMs, endMs }: TimeRange) {
  return { start: startMs, end: endMs };
}

function pathOf(deviceId: string, what: string): string {
  return `/api/v1/devices/${encodeURIComponent(deviceId)}/${what}`;
}
