import type { CurrentAnswer, CurrentRecord, SeriesAnswer, StopsAnswer, TrackAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import type { LocalDay, Span, TimeRange } from "../time/local-day.ts";
import { Track } from "./track.ts";

/* What the server knows of a device. */

/** What is asked: about a day, or several. */
export interface HistoryQuestion {
  readonly deviceId: string;
  /** The last day of them. */
  readonly day: LocalDay;
  /** Whose days they are. */
  readonly zone: string;
  readonly span: Span;
  readonly range: TimeRange;
  /** Whether only the track is shown: to whoever came by a share link. */
  readonly isView: boolean;
}

/** And what there is of it. */
export interface History extends HistoryQuestion {
  readonly track: Track;
  /** Records, of which the track has as many as it needs. */
  readonly reports: number;
  /** Whether records are missing that an operator knows as lost. */
  readonly isIncomplete: boolean;
  /** Null where they are not for whoever is signed in, or of too many days. */
  readonly stops: StopsAnswer | null;
}

/** Whether two are of the same device and range: then one is what has come of the other meanwhile. */
export function areOfSame(a: History | null, b: History | null): boolean {
  if (a === null || b === null) return a === b;
  return a.deviceId === b.deviceId && a.range.startMs === b.range.startMs && a.range.endMs === b.range.endMs;
}

/** The longest range that the server lists stops of. */
const STOP_DAYS_MAX = 31;
/** A point for each pixel of a wide screen. */
export const BUCKETS = 1200;

type Reader = Pick<Api, "get">;

/**
 * The track of one day has all of its positions, or playback would glide where the device stood. That of several is
 * drawn alone, and what is seen of it from closer by is asked for again.
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
    readTrack(api, deviceId, range, toleranceMetersOf(span.days), undefined, signal),
    hasStops
      ? api.get<StopsAnswer>(pathOf(deviceId, "stops"), { ...query(range), places: true }, signal)
      : null,
  ]);
  return {
    ...question,
    track: new Track(answer),
    reports: answer.total,
    isIncomplete: answer.incomplete === true,
    stops,
  };
}

/** Only what is needed to draw a box, where there is one. */
export function readTrack(
  api: Reader,
  deviceId: string,
  range: TimeRange,
  toleranceMeters: number,
  box: string | undefined,
  signal: AbortSignal,
): Promise<TrackAnswer> {
  const asked = { ...query(range), tolerance_meters: toleranceMeters, bbox: box };
  return api.get(pathOf(deviceId, "track"), asked, signal);
}

export async function readCurrent(
  api: Reader,
  deviceId: string,
  signal: AbortSignal,
): Promise<CurrentRecord> {
  const path = pathOf(deviceId, "locations/current");
  return (await api.get<CurrentAnswer>(path, { places: true }, signal)).location;
}

/** From the first position of a track to the last, so that most buckets hold something. */
export function readSeries(
  api: Reader,
  deviceId: string,
  { startMs, endMs }: TimeRange,
  signal: AbortSignal,
): Promise<SeriesAnswer> {
  const asked = { ...query({ startMs, endMs: endMs + 1 }), buckets: BUCKETS };
  return api.get(pathOf(deviceId, "series"), { ...asked, fields: "speed,altitude,battery_level" }, signal);
}

function query({ startMs, endMs }: TimeRange) {
  return { start: startMs, end: endMs };
}

function pathOf(deviceId: string, what: string): string {
  return `/api/v1/devices/${encodeURIComponent(deviceId)}/${what}`;
}
