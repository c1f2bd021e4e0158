import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../../model/geo/distance.ts";
import { numberIndex } from "../../model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatchBuilder } from "../../model/report-batch.ts";
import { MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND } from "../../model/time/units.ts";
import { copyPosition } from "./copy-position.ts";
import type { Land, Point } from "./land.ts";
import { type Position, type RecordedTrack, type Recording, recordedTrack } from "./recording.ts";

/*
 * Prolongs a recording of moments, such as half a minute of all ships around Denmark: each device comes from an hour
 * before and goes on for an hour, at its recorded speed and on its recorded course, as far as there is sea.
 */

/** A longer recording shows by itself how devices move. */
export const MOMENT_MS_MAX = 5 * MS_PER_MINUTE;

const VOYAGE_MS = MS_PER_HOUR;
const HISTORY_STEP_MS = MS_PER_MINUTE;
const LIVE_STEP_MS = 30 * MS_PER_SECOND;
/** A slower device lies at anchor. */
const SPEED_MIN = 0.5;
/** How far a coast is looked for ahead: the map is as coarse as that. */
const CLEARANCE_METERS = 1000;

const [LATITUDE, LONGITUDE, SPEED, BEARING] = (["latitude", "longitude", "speed", "bearing"] as const).map(
  numberIndex,
) as [number, number, number, number];

export async function prolong(recording: Recording, land: Pick<Land, "holds">): Promise<Recording> {
  const { startMs, endMs } = recording;
  const tracks: RecordedTrack[] = [];
  for (const track of recording.tracks) tracks.push(await prolongTrack(track, land));
  return { startMs: startMs - VOYAGE_MS, endMs: endMs + VOYAGE_MS, tracks };
}

async function prolongTrack(track: RecordedTrack, land: Pick<Land, "holds">): Promise<RecordedTrack> {
  const [first, last] = [track.positions[0]!, track.positions.at(-1)!];
  const before = await voyage(first, -1, HISTORY_STEP_MS, land);
  const after = await voyage(last, 1, LIVE_STEP_MS, land);
  return recordedTrack(track.deviceId, [...before.reverse(), ...track.positions, ...after]);
}

/** The positions of an hour before (-1) or after (1) a recorded one; a device at anchor was there all the time. */
async function voyage(
  from: Position,
  direction: -1 | 1,
  stepMs: number,
  land: Pick<Land, "holds">,
): Promise<Position[]> {
  const { numbers, timestampMs } = from.batch;
  const [latitude, longitude, speed, bearing] = [LATITUDE, LONGITUDE, SPEED, BEARING].map(
    (field) => numbers[field]![from.row]!,
  ) as [number, number, number, number];
  const builder = createReportBatchBuilder(VOYAGE_MS / HISTORY_STEP_MS + VOYAGE_MS / LIVE_STEP_MS);
  const atMs = timestampMs[from.row]!;
  if (!(speed >= SPEED_MIN) || Number.isNaN(bearing)) {
    if (direction === 1) return [];
    addAt(builder, from, atMs - VOYAGE_MS, { latitude, longitude });
    return positionsOf(builder);
  }
  for (let passedMs = stepMs; passedMs <= VOYAGE_MS; passedMs += stepMs) {
    const meters = (speed * passedMs) / MS_PER_SECOND;
    const pointAt = (distance: number) =>
      destination({ latitude, longitude }, direction === 1 ? bearing : bearing + 180, distance);
    if (await land.holds(pointAt(meters + CLEARANCE_METERS))) break;
    addAt(builder, from, atMs + direction * passedMs, pointAt(meters));
  }
  return positionsOf(builder);
}

function addAt(builder: ReportBatchBuilder, from: Position, timestampMs: number, point: Point): void {
  copyPosition(builder, from);
  builder.numbers[LATITUDE] = point.latitude;
  builder.numbers[LONGITUDE] = point.longitude;
  builder.add(builder.text(from.batch.texts[from.batch.device[from.row]!]!), timestampMs);
}

function positionsOf(builder: ReportBatchBuilder): Position[] {
  const batch = builder.build();
  return Array.from({ length: batch.count }, (_, row) => ({ batch, row }));
}

/** The point at a distance along a great circle that begins with this bearing. */
export function destination({ latitude, longitude }: Point, bearing: number, meters: number): Point {
  const angle = meters / EARTH_RADIUS_METERS;
  const [lat, course] = [latitude * RADIANS_PER_DEGREE, bearing * RADIANS_PER_DEGREE];
  const sine = Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(course);
  const east = Math.sin(course) * Math.sin(angle) * Math.cos(lat);
  const turn = Math.atan2(east, Math.cos(angle) - Math.sin(lat) * sine);
  const around = longitude + turn / RADIANS_PER_DEGREE;
  return {
    latitude: Math.asin(Math.min(1, Math.max(-1, sine))) / RADIANS_PER_DEGREE,
    longitude: ((around + 540) % 360) - 180,
  };
}
