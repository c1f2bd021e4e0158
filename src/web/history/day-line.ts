import type { Api } from "../api/api.ts";
import { type Bounds, boundsOf, boxOf } from "../geo/bounds.ts";
import type { DayShape } from "../map/day-layers.ts";
import type { Plot } from "../plots/plots.ts";
import { durationText } from "../time/format.ts";
import { RECENT } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { type DirectionMark, directionMarks } from "./direction-marks.ts";
import { areOfSame, bucketsOf, type History, readTrack, toleranceMetersOf } from "./history.ts";
import { speedLimits, speedPieces, speedsAlong } from "./speed-line.ts";
import { Track } from "./track.ts";

interface MapCamera {
  readonly latitude: number;
  readonly zoom: number;
  readonly bounds: Bounds;
}

/** The used part of the map. */
export interface DayMap {
  /** Null while there is no map. */
  readonly camera: MapCamera | null;
  /** Whether the map keeps the device in its center. */
  readonly isFollowing: boolean;
  onCamera(listener: () => void): () => void;
  /** Whether the user, or the address, has moved the map. */
  readonly isPlaced: boolean;
  /** Calls the listener when the user begins to move the map by hand. */
  onHand(listener: () => void): () => void;
  /** Shows the whole bounds, at a zoom of at most `zoomMax`. */
  fit(bounds: Bounds, zoomMax?: number): void;
  setDay(day: DayShape | null): void;
  setDirections(marks: readonly DirectionMark[]): void;
}

/** A part of the track, in the detail of the current view. */
interface Detail {
  readonly box: Bounds;
  readonly track: Track;
}

/** Details are loaded once the map has not moved for this long. */
const SETTLE_MS = 250;
/** At zoom 0 the world is 512 pixels wide. */
const METERS_PER_PIXEL_AT_0 = 78_271.5;
/** Less than half the width of the line, so that the simplification is invisible. */
const TOLERANCE_PIXELS = 1.5;
/** The share of the view that is loaded beyond each edge, in case the user moves the map further. */
const MARGIN = 0.25;
/** A line that takes a smaller share of the view is only a spot, unless the map is zoomed in to a town already. */
const SPOT_PART = 0.05;
const SPOT_ZOOM_MAX = 10;
/**
 * The most steps that the map zooms in by itself, unless it shows less than a town then: after more the user does not
 * recognize the area.
 */
const ZOOM_STEPS_MAX = 3;
const TOWN_ZOOM = 12;
/** The distance between direction marks. */
const DIRECTION_PIXELS = 110;
/** More rings would hide each other. */
const STOPS_MAX = 200;

/**
 * The line of the chosen range on the map. A single day has all its positions. A longer range is simplified, and when
 * the user zooms in, the visible box is loaded again in more detail.
 */
export class DayLine {
  readonly #api: Pick<Api, "get" | "retries">;
  readonly #map: DayMap;
  #history: History | null = null;
  #speed: Plot | null = null;
  #detail: Detail | null = null;
  #request: AbortController | null = null;
  #stopSettling = () => {};
  /** Whether the user has chosen another line and not moved the map since. */
  #isAwaited = false;

  constructor(api: Pick<Api, "get" | "retries">, map: DayMap, timers: Timers = browserTimers) {
    this.#api = api;
    this.#map = map;
    map.onCamera(() => {
      this.#stopSettling();
      if (this.#history !== null) this.#stopSettling = timers.after(SETTLE_MS, () => void this.#look());
    });
    map.onHand(() => {
      this.#isAwaited = false;
    });
  }

  /** Allows the map to move to the next line, because the user has chosen it. */
  await(): void {
    this.#isAwaited = true;
  }

  /** Shows another history, or the same one with new positions. */
  show(history: History | null): void {
    const isAnother = !areOfSame(history, this.#history);
    this.#history = history;
    if (isAnother) {
      this.#request?.abort();
      this.#detail = null;
      if (history !== null && this.#isAwaited) this.#bringIntoView(history.track);
    } else if (history !== null) this.#detail?.track.appendLast(history.track);
    this.#draw();
    if (isAnother) void this.#look();
  }

  /** Colors the line by its speeds; null leaves it in one color. */
  color(speed: Plot | null): void {
    if (speed === this.#speed) return;
    this.#speed = speed;
    this.#draw();
  }

  /** Shows the whole line. */
  fit(): void {
    const bounds = boundsOfTrack(this.#history?.track);
    if (bounds !== null) this.#map.fit(bounds);
  }

  /**
   * Moves the map if the line would be out of view or only a spot. Does nothing if the map follows the device, which
   * may be elsewhere. A page that opens with a line, and at no other place, begins with the line.
   */
  #bringIntoView(track: Track): void {
    this.#isAwaited = false;
    const { camera, isFollowing, isPlaced } = this.#map;
    const bounds = boundsOfTrack(track);
    if (bounds === null || isFollowing) return;
    if (camera === null) {
      if (!isPlaced) this.#map.fit(bounds);
      return;
    }
    const isSpot = camera.zoom < SPOT_ZOOM_MAX && isWithin(bounds, camera.bounds, SPOT_PART);
    if (isSpot || !areTouching(camera.bounds, bounds))
      this.#map.fit(bounds, Math.max(camera.zoom + ZOOM_STEPS_MAX, TOWN_ZOOM));
  }

  #draw(): void {
    const history = this.#history;
    if (history === null) {
      this.#map.setDay(null);
      this.#map.setDirections([]);
      return;
    }
    const track = this.#detail?.track ?? history.track;
    const stops = (history.stops?.stops ?? [])
      .slice(0, STOPS_MAX)
      .map(({ latitude, longitude, start, end }, index) => {
        return { latitude, longitude, number: index + 1, duration: durationText(end - start) };
      });
    this.#map.setDay({ lines: track.lines(), ...this.#colored(track), stops, ends: endsOf(history) });
    this.#drawDirections();
  }

  #colored(track: Track): Pick<DayShape, "pieces" | "scale"> {
    const limits = this.#speed === null ? null : speedLimits(this.#speed.series);
    if (this.#speed === null || limits === null) return { pieces: [], scale: null };
    const { series, kind, isFromPositions } = this.#speed;
    const pieces = speedPieces(track, speedsAlong(track, series), limits);
    return { pieces, scale: { limits, unit: kind.unit, isFromPositions, stepMs: stepOf(this.#history) } };
  }

  /** The marks are as far from each other at every zoom, so they are chosen for the view. */
  #drawDirections(): void {
    const track = this.#detail?.track ?? this.#history?.track;
    const { camera } = this.#map;
    if (track === undefined || camera === null) return;
    const spacingMeters = DIRECTION_PIXELS * metersPerPixel(camera);
    this.#map.setDirections(directionMarks(track, spacingMeters, widened(camera.bounds)));
  }

  /** Loads the visible part of the line if it is too coarse for the view. */
  async #look(): Promise<void> {
    const history = this.#history;
    const { camera } = this.#map;
    if (history === null || camera === null) return;
    this.#drawDirections();
    if (history.span.days === 1) return;
    const toleranceMeters = TOLERANCE_PIXELS * metersPerPixel(camera);
    if (this.#isEnough(camera.bounds, toleranceMeters)) return;
    this.#detail = null;
    this.#request?.abort();
    if (toleranceMeters >= toleranceMetersOf(history.span.days)) return this.#draw();
    const box = widened(camera.bounds);
    this.#request = new AbortController();
    const { signal } = this.#request;
    const { deviceId, range } = history;
    try {
      const tolerance = Math.max(1, Math.floor(toleranceMeters));
      const read = () => readTrack(this.#api, { deviceId, range }, tolerance, { box: boxOf(box) }, signal);
      const answer = await this.#api.retries.ask(read, { signal, onPause: () => undefined });
      this.#detail = { box, track: new Track(answer) };
    } catch {
      return; // The coarse line stays, and the next move of the map tries again.
    }
    this.#draw();
  }

  #isEnough({ west, south, east, north }: Bounds, toleranceMeters: number): boolean {
    if (this.#detail === null) return false;
    const { box, track } = this.#detail;
    const isInside = west >= box.west && east <= box.east && south >= box.south && north <= box.north;
    return isInside && track.toleranceMeters <= 2 * toleranceMeters;
  }
}

/** The length of a part of the series, if that matters. */
function stepOf(history: History | null): number | null {
  if (history === null || history.span.days === 1 || history.track.range === null) return null;
  const { startMs, endMs } = history.track.range;
  return (endMs - startMs) / bucketsOf(history.span);
}

export function metersPerPixel({
  latitude,
  zoom,
}: {
  readonly latitude: number;
  readonly zoom: number;
}): number {
  return (METERS_PER_PIXEL_AT_0 * Math.cos((latitude * Math.PI) / 180)) / 2 ** zoom;
}

/** The ends of the track as marks. Today has no end yet: there is the device's own dot. A trail has neither. */
function endsOf({ track, range, span }: History): DayShape["ends"] {
  const { count, latitude, longitude } = track;
  if (count < 2 || span === RECENT) return [];
  const start = { latitude: latitude[0]!, longitude: longitude[0]!, name: "Start" } as const;
  const end = { latitude: latitude[count - 1]!, longitude: longitude[count - 1]!, name: "End" } as const;
  return range.endMs > Date.now() ? [start] : [start, end];
}

function boundsOfTrack(track: Track | undefined): Bounds | null {
  return track === undefined ? null : boundsOf(track.latitude, track.longitude);
}

/** Whether `inner` is smaller than a part of the width and of the height of `outer`. */
function isWithin(inner: Bounds, outer: Bounds, part: number): boolean {
  const isNarrow = inner.east - inner.west < part * (outer.east - outer.west);
  return isNarrow && inner.north - inner.south < part * (outer.north - outer.south);
}

/** Whether two bounds overlap. Both may extend past ±180°. */
function areTouching(a: Bounds, b: Bounds): boolean {
  const turns = 360 * Math.round((a.west + a.east - b.west - b.east) / 720);
  return b.west + turns <= a.east && b.east + turns >= a.west && b.south <= a.north && b.north >= a.south;
}

function widened({ west, south, east, north }: Bounds): Bounds {
  const width = MARGIN * (east - west);
  const height = MARGIN * (north - south);
  return {
    west: west - width,
    south: Math.max(-90, south - height),
    east: east + width,
    north: Math.min(90, north + height),
  };
}
