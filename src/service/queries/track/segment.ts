import { haversineMeters, RADIANS_PER_DEGREE } from "../../../model/geo/distance.ts";
import { SILENCE_MS_MAX, SPEED_MAX_METERS_PER_SECOND } from "../positions.ts";

/** Movements of one device, thinned so that positions at any time stay within a tolerance. */

/** On a meridian. */
const METERS_PER_DEGREE = 111_195;
/**
 * Segments span less than this from south to north. On a Web Mercator map, positions between the ends of a longer one
 * would differ visibly from those of the same time on a globe.
 */
const SPAN_DEGREES_MAX = 0.25;

/** The tolerance on each axis, in degrees of latitude. */
export function toleranceDegrees(toleranceMeters: number): number {
  return toleranceMeters / Math.SQRT2 / METERS_PER_DEGREE;
}

/**
 * The open end of a line: its last vertex, and the speeds to north and to east at which a straight line from there
 * passes each position since then within the tolerance, at the time of that position. Memory and time per position are
 * constant.
 */
export class Segment {
  timestampMs = 0;
  latitude = 0;
  longitude = 0;
  /** Whether there are positions since the last vertex; the fields above are of the last one. */
  isPending = false;
  /** The last vertex. */
  #vertexMs = 0;
  #vertexLatitude = 0;
  #vertexLongitude = 0;
  /** In degrees per millisecond. */
  #northMin = Number.NEGATIVE_INFINITY;
  #northMax = Number.POSITIVE_INFINITY;
  #eastMin = Number.NEGATIVE_INFINITY;
  #eastMax = Number.POSITIVE_INFINITY;

  /** Makes this position the last vertex. */
  begin(timestampMs: number, latitude: number, longitude: number): void {
    this.timestampMs = timestampMs;
    this.latitude = latitude;
    this.longitude = longitude;
    this.beginHere();
  }

  /** Whether a line may lead to the next record: not over a silence, nor faster than devices are. */
  isJoinedTo(timestampMs: number, latitude: number, longitude: number): boolean {
    const elapsedMs = timestampMs - this.timestampMs;
    if (elapsedMs > SILENCE_MS_MAX) return false;
    const metersMax = (elapsedMs * SPEED_MAX_METERS_PER_SECOND) / 1000;
    const degrees = Math.abs(latitude - this.latitude) + Math.abs(eastward(this.longitude, longitude));
    // The way is never longer than this, so mostly one multiplication is enough.
    if (degrees * METERS_PER_DEGREE <= metersMax) return true;
    return haversineMeters(this.latitude, this.longitude, latitude, longitude) <= metersMax;
  }

  /** Whether a straight line from the last vertex to a later position stays within the tolerance. */
  reaches(timestampMs: number, latitude: number, longitude: number): boolean {
    if (!this.isPending) return true;
    const ms = timestampMs - this.#vertexMs;
    const step = latitude - this.#vertexLatitude;
    const north = step / ms;
    const east = eastward(this.#vertexLongitude, longitude) / ms;
    return (
      north >= this.#northMin &&
      north <= this.#northMax &&
      east >= this.#eastMin &&
      east <= this.#eastMax &&
      Math.abs(step) <= SPAN_DEGREES_MAX
    );
  }

  /** Adds a position that the line reaches. */
  add(timestampMs: number, latitude: number, longitude: number, degrees: number): void {
    const ms = timestampMs - this.#vertexMs;
    const step = latitude - this.#vertexLatitude;
    const turn = eastward(this.#vertexLongitude, longitude);
    const eastDegrees = degrees / Math.max(1e-9, Math.cos(latitude * RADIANS_PER_DEGREE));
    this.#northMin = Math.max(this.#northMin, (step - degrees) / ms);
    this.#northMax = Math.min(this.#northMax, (step + degrees) / ms);
    this.#eastMin = Math.max(this.#eastMin, (turn - eastDegrees) / ms);
    this.#eastMax = Math.min(this.#eastMax, (turn + eastDegrees) / ms);
    this.timestampMs = timestampMs;
    this.latitude = latitude;
    this.longitude = longitude;
    this.isPending = true;
  }

  /** Makes the last position the last vertex. */
  beginHere(): void {
    this.#vertexMs = this.timestampMs;
    this.#vertexLatitude = this.latitude;
    this.#vertexLongitude = this.longitude;
    this.isPending = false;
    this.#northMin = Number.NEGATIVE_INFINITY;
    this.#northMax = Number.POSITIVE_INFINITY;
    this.#eastMin = Number.NEGATIVE_INFINITY;
    this.#eastMax = Number.POSITIVE_INFINITY;
  }
}

/** Degrees from one longitude to another the short way, east positive. */
function eastward(from: number, to: number): number {
  const step = to - from;
  if (step > 180) return step - 360;
  return step < -180 ? step + 360 : step;
}
