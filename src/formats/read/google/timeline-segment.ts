import {
  isJsonObject,
  type JsonObject,
  objectOrEmpty,
  readNumberOrNaN,
} from "../../../clients/reading/values.ts";
import { MS_PER_MINUTE } from "../../../model/time/units.ts";
import type { PointSink } from "../file-point.ts";
import type { FileTimes } from "../time/file-times.ts";
import { type Coordinates, readCoordinates } from "./coordinates.ts";

/** The device of a phone's export, which has no name in the file. */
export const TIMELINE_DEVICE = "google-timeline";

/**
 * Adds the positions of one segment of a phone's Timeline: a path, a visit or an activity. Android writes `{"latLng":
 * "52.5°, 13.4°"}` and times; iPhones write `"geo:52.5,13.4"` and whole minutes from the start.
 */
export function readSegment(segment: JsonObject, times: FileTimes, sink: PointSink): void {
  const { startTime, endTime, timelinePath, visit, activity } = segment;
  if (Array.isArray(timelinePath)) readPath(timelinePath, segment, times, sink);
  else if (isJsonObject(visit)) {
    const position = coordinatesOf(objectOrEmpty(visit.topCandidate).placeLocation);
    addPosition(position, times.readMs(startTime), sink);
    addPosition(position, times.readMs(endTime), sink);
  } else if (isJsonObject(activity)) {
    addPosition(coordinatesOf(activity.start), times.readMs(startTime), sink);
    addPosition(coordinatesOf(activity.end), times.readMs(endTime), sink);
  } else sink.skip("no_location");
}

function readPath(
  path: readonly unknown[],
  { startTime, endTime }: JsonObject,
  times: FileTimes,
  sink: PointSink,
): void {
  const points = path.map(objectOrEmpty);
  const minutes = points.map((point) => (point.time === undefined ? minutesOf(point) : null));
  const countByMinute = new Map<number, number>();
  for (const minute of minutes)
    if (minute !== null) countByMinute.set(minute, (countByMinute.get(minute) ?? 0) + 1);
  const seenByMinute = new Map<number, number>();
  const hasMinutes = countByMinute.size > 0;
  const startMs = hasMinutes ? times.readMs(startTime) : null;
  const lengthMinutes = hasMinutes ? minutesBetween(startMs, times.readMs(endTime)) : 0;
  for (const [index, point] of points.entries()) {
    const minute = minutes[index]!;
    const position = coordinatesOf(point.point);
    if (minute === null) {
      addPosition(position, times.readMs(point.time), sink);
      continue;
    }
    if (Number.isNaN(minute) || minute > lengthMinutes) {
      sink.skip("bad_time");
      continue;
    }
    const count = countByMinute.get(minute)!;
    const seen = seenByMinute.get(minute) ?? 0;
    seenByMinute.set(minute, seen + 1);
    if (count > 1) sink.note("spread");
    const spreadMs = Math.trunc((seen * MS_PER_MINUTE) / count);
    addPosition(position, startMs === null ? null : startMs + minute * MS_PER_MINUTE + spreadMs, sink);
  }
}

/** Minutes after the start of the segment, 0 if missing; NaN if invalid. */
function minutesOf(point: JsonObject): number {
  const minutes = readNumberOrNaN(point.durationMinutesOffsetFromStartTime) ?? 0;
  return minutes < 0 ? Number.NaN : minutes;
}

/** The length of a segment in whole minutes, as points have no finer times; infinite if unknown. */
function minutesBetween(startMs: number | null, endMs: number | null): number {
  const minutes = Math.ceil(((endMs ?? Number.NaN) - (startMs ?? Number.NaN)) / MS_PER_MINUTE);
  return Number.isNaN(minutes) ? Number.POSITIVE_INFINITY : minutes;
}

function coordinatesOf(value: unknown): Coordinates {
  return readCoordinates(isJsonObject(value) ? (value.latLng ?? value.LatLng) : value);
}

function addPosition(
  { latitude, longitude, altitude }: Coordinates,
  timestampMs: number | null,
  sink: PointSink,
): void {
  const details = altitude === null ? {} : { altitude };
  sink.add({ timestampMs, latitude, longitude, device: TIMELINE_DEVICE, user: null, details });
}
