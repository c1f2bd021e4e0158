import { METERS_PER_DEGREE, nearestMeridian, type Place, RADIANS_PER_DEGREE } from "../geo/earth.ts";
import type { History } from "./history.ts";
import { headAt, type Track } from "./track.ts";

/** A moment of the day as the map shows it. */
export interface MomentMark extends Place {
  /** Its time, and the speed if it is known. */
  readonly text: string;
}

/** The used part of the map. */
export interface MomentMap {
  setMoment(mark: MomentMark | null): void;
}

export interface MomentParts {
  readonly map: MomentMap;
  readonly textAt: (ms: number, zone: string) => string;
  readonly changed: () => void;
}

/**
 * The moment at the pointer, which line and plot show together. Without a pointer it is that of the clock, if the user
 * has moved the clock while it stands.
 */
export class Moment {
  readonly #parts: MomentParts;
  #history: History | null = null;
  #pointedMs: number | null = null;
  #clockMs: number | null = null;
  /** The mark on the map, as text, so that it is not set again. */
  #shown = "null";

  constructor(parts: MomentParts) {
    this.#parts = parts;
  }

  /** The time at the pointer, Unix ms; null if it is neither on the line nor on the plot. */
  get pointedMs(): number | null {
    return this.#pointedMs;
  }

  use(history: History | null): void {
    this.#history = history;
    this.#show();
  }

  /** The pointer is at this time on the plot. */
  point(ms: number | null): void {
    if (ms === this.#pointedMs) return;
    this.#pointedMs = ms;
    this.#show();
    this.#parts.changed();
  }

  /** The pointer is at this place on the map. */
  pointNear(place: Place | null, metersMax: number): void {
    const track = this.#history?.span.days === 1 ? this.#history.track : null;
    this.point(place === null || track === null ? null : timeNear(track, place, metersMax));
  }

  /** The clock stands at this time; null while it runs, or at the end. */
  stand(clockMs: number | null): void {
    this.#clockMs = clockMs;
    this.#show();
  }

  #show(): void {
    const ms = this.#pointedMs ?? this.#clockMs;
    const history = this.#history;
    // The track of several days is simplified, so it says little about a moment.
    const place = ms === null || history === null || history.span.days > 1 ? null : headAt(history.track, ms);
    const mark =
      place === null
        ? null
        : {
            latitude: place.latitude,
            longitude: place.longitude,
            text: this.#parts.textAt(ms!, history!.zone),
          };
    const text = JSON.stringify(mark);
    if (text === this.#shown) return;
    this.#shown = text;
    this.#parts.map.setMoment(mark);
  }
}

/** The time at which the line was closest to a place; null if it is further than `metersMax` everywhere. */
export function timeNear(track: Track, place: Place, metersMax: number): number | null {
  const { count, timestampMs, latitude, longitude } = track;
  const width = Math.cos(place.latitude * RADIANS_PER_DEGREE) * METERS_PER_DEGREE;
  // The place is the origin of a plane in meters, which the Earth is close to it.
  const east = (index: number) =>
    (nearestMeridian(longitude[index]!, place.longitude) - place.longitude) * width;
  const north = (index: number) => (latitude[index]! - place.latitude) * METERS_PER_DEGREE;
  let closest = metersMax ** 2;
  let ms: number | null = null;
  let [x, y] = [0, 0];
  for (let index = 0; index < count; index++) {
    const [toX, toY] = [east(index), north(index)];
    const isJoined = track.isJoined(index);
    const [alongX, alongY] = isJoined ? [toX - x, toY - y] : [0, 0];
    const square = alongX ** 2 + alongY ** 2;
    // How much of the way from the previous position is left.
    const left = square === 0 ? 0 : Math.min(1, Math.max(0, (toX * alongX + toY * alongY) / square));
    const distance = (toX - left * alongX) ** 2 + (toY - left * alongY) ** 2;
    if (distance <= closest) {
      closest = distance;
      ms = timestampMs[index]! - (left === 0 ? 0 : left * (timestampMs[index]! - timestampMs[index - 1]!));
    }
    [x, y] = [toX, toY];
  }
  return ms === null ? null : Math.round(ms);
}
