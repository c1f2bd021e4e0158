import type { TrackAnswer } from "../api/answers.ts";
import { bearingBetween, metersBetween, nearestMeridian, type Position } from "../geo/earth.ts";
import type { TimeRange } from "../time/local-day.ts";

/** A line breaks after a longer silence, since the route is unknown. The server uses the same limit. */
export const SILENCE_MS_MAX = 10 * 60_000;
/** If a device seems faster, at least one of the two positions is wrong. */
const SPEED_MAX_METERS_PER_SECOND = 400;

/** MapLibre can't draw longer lines: it needs ten corners for a vertex, and has 65,535 for a line. */
const LINE_VERTICES_MAX = 4096;

/** Positions in order of time, joined to lines. */
export class Track {
  readonly timestampMs: number[];
  readonly latitude: number[];
  readonly longitude: number[];
  /** Indexes of the first positions of lines. */
  readonly #starts: Set<number>;
  /** The largest distance of omitted positions from the line. */
  readonly toleranceMeters: number;

  constructor({ timestamp, latitude, longitude, gaps, tolerance_meters }: TrackAnswer) {
    this.timestampMs = [...timestamp];
    this.latitude = [...latitude];
    this.longitude = [...longitude];
    this.#starts = new Set([0, ...gaps]);
    this.toleranceMeters = tolerance_meters;
  }

  get count(): number {
    return this.timestampMs.length;
  }

  /** From the first position to the last; null if there are none. */
  get range(): TimeRange | null {
    const { count, timestampMs } = this;
    return count === 0 ? null : { startMs: timestampMs[0]!, endMs: timestampMs[count - 1]! };
  }

  /** Appends a new position; returns false if it is not newer than the last one. */
  append(timestampMs: number, latitude: number, longitude: number): boolean {
    const at = this.count;
    if (at > 0 && timestampMs <= this.timestampMs[at - 1]!) return false;
    this.timestampMs.push(timestampMs);
    this.latitude.push(latitude);
    this.longitude.push(longitude);
    if (at > 0 && !this.#isReachable(at)) this.#starts.add(at);
    return true;
  }

  /** Appends the last position of another track. */
  appendLast({ count, timestampMs, latitude, longitude }: Track): void {
    const last = count - 1;
    if (last >= 0) this.append(timestampMs[last]!, latitude[last]!, longitude[last]!);
  }

  /** The index of the last position at or before an instant, or -1. */
  indexAt(ms: number): number {
    let low = -1;
    let high = this.count - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.timestampMs[middle]! <= ms) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Whether a line joins a position with the previous one. */
  isJoined(index: number): boolean {
    return index > 0 && index < this.count && !this.#starts.has(index);
  }

  /** The silence around an instant, if it is long enough to break the line. */
  silenceAt(ms: number): TimeRange | null {
    const index = this.indexAt(ms);
    if (index < 0 || index === this.count - 1 || this.isJoined(index + 1)) return null;
    const startMs = this.timestampMs[index]!;
    const endMs = this.timestampMs[index + 1]!;
    return ms > startMs && endMs - startMs > SILENCE_MS_MAX ? { startMs, endMs } : null;
  }

  /** The silences that break the line. */
  silences(): readonly TimeRange[] {
    const ends = [...this.#starts].filter((index) => index > 0 && index < this.count);
    return ends
      .map((index) => ({ startMs: this.timestampMs[index - 1]!, endMs: this.timestampMs[index]! }))
      .filter(({ startMs, endMs }) => endMs - startMs > SILENCE_MS_MAX);
  }

  /** The lines to draw, from a position on. A single position is not a line. */
  lines(from = 0): readonly Position[][] {
    const lines: Position[][] = [];
    for (let index = from; index < this.count; index++) {
      const before = lines.at(-1);
      if (before === undefined || !this.isJoined(index)) lines.push([]);
      else if (before.length === LINE_VERTICES_MAX) lines.push([before.at(-1)!]);
      lines.at(-1)!.push([this.longitude[index]!, this.latitude[index]!]);
    }
    return lines.filter((line) => line.length > 1);
  }

  /** The distance from the previous position. */
  metersTo(index: number): number {
    return metersBetween(
      this.latitude[index - 1]!,
      this.longitude[index - 1]!,
      this.latitude[index]!,
      this.longitude[index]!,
    );
  }

  /** The closest position of the track; null if it is empty. */
  nearestTo(latitude: number, longitude: number): { readonly index: number; readonly meters: number } | null {
    let closest = null;
    for (let index = 0; index < this.count; index++) {
      const meters = metersBetween(latitude, longitude, this.latitude[index]!, this.longitude[index]!);
      if (closest === null || meters < closest.meters) closest = { index, meters };
    }
    return closest;
  }

  #isReachable(index: number): boolean {
    const elapsedMs = this.timestampMs[index]! - this.timestampMs[index - 1]!;
    if (elapsedMs > SILENCE_MS_MAX) return false;
    return this.metersTo(index) <= (SPEED_MAX_METERS_PER_SECOND * elapsedMs) / 1000;
  }
}

/** A device's position at an instant of its track. */
export interface Head {
  readonly latitude: number;
  readonly longitude: number;
  /** The direction of travel in degrees clockwise from north; null if the device has not moved. */
  readonly bearing: number | null;
}

/**
 * Interpolates between two positions that a line joins. Otherwise the device stays at the earlier one, since its route
 * is unknown. Null before the first position.
 */
export function headAt(track: Track, ms: number): Head | null {
  const index = track.indexAt(ms);
  if (index < 0) return null;
  const { timestampMs, latitude, longitude } = track;
  const fromMs = timestampMs[index]!;
  const part = track.isJoined(index + 1) ? (ms - fromMs) / (timestampMs[index + 1]! - fromMs) : 0;
  const bearing = bearingAt(track, part > 0 ? index + 1 : index);
  if (part === 0) return { latitude: latitude[index]!, longitude: longitude[index]!, bearing };
  const east = nearestMeridian(longitude[index + 1]!, longitude[index]!) - longitude[index]!;
  return {
    latitude: latitude[index]! + part * (latitude[index + 1]! - latitude[index]!),
    longitude: nearestMeridian(longitude[index]! + part * east, 0),
    bearing,
  };
}

/** The direction to a position from the last different one of its line. */
function bearingAt(track: Track, index: number): number | null {
  const { latitude, longitude } = track;
  for (let at = index; track.isJoined(at); at--) {
    const ends = [latitude[at - 1]!, longitude[at - 1]!, latitude[at]!, longitude[at]!] as const;
    if (ends[0] === ends[2] && nearestMeridian(ends[3], ends[1]) === ends[1]) continue;
    return bearingBetween(...ends);
  }
  return null;
}
