import type { Api } from "../api/api.ts";
import { type Bounds, boundsOf, boxOf } from "../geo/bounds.ts";
import type { DayShape } from "../map/overlays.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { areOfSame, type History, readTrack, toleranceMetersOf } from "./history.ts";
import { Track } from "./track.ts";

interface MapCamera {
  readonly latitude: number;
  readonly zoom: number;
  readonly bounds: Bounds;
}

/** As much of the map as a day needs. */
export interface DayMap {
  /** Null while there is no map. */
  readonly camera: MapCamera | null;
  /** Whether it keeps the device in its middle. */
  readonly isFollowing: boolean;
  onCamera(listener: () => void): () => void;
  /** Hears when the user's own hand begins to move it. */
  onHand(listener: () => void): () => void;
  /** Shows the whole box, and zooms in no further than `zoomMax`. */
  fit(bounds: Bounds, zoomMax?: number): void;
  setDay(day: DayShape | null): void;
}

/** A stretch of the track as closely as a view of the map shows it. */
interface Detail {
  readonly box: Bounds;
  readonly track: Track;
}

/** Hands that are still moving the map are not asked what they look at. */
const SETTLE_MS = 250;
/** A map with this zoom shows the world in 512 pixels. */
const METERS_PER_PIXEL_AT_0 = 78_271.5;
/** What lies so near to a line that is wider than that is seen as on it. */
const TOLERANCE_PIXELS = 1.5;
/** Of what is seen, as much more is asked for on each side, for hands that move on. */
const MARGIN = 0.25;
/** A line that takes less of the view is a spot, where one doesn't look at a town already. */
const SPOT_PART = 0.05;
const SPOT_ZOOM_MAX = 10;
/** The most steps that the map zooms in by itself: after more the user no longer recognizes the place. */
const ZOOM_STEPS_MAX = 3;
/** More rings than that hide each other. */
const STOPS_MAX = 200;

/**
 * The line of the chosen range on the map. That of a day has all of its positions; longer ones are coarse, and what is
 * seen from closer by is asked for again, for the box that is seen and some more around it.
 */
export class DayLine {
  readonly #api: Pick<Api, "get" | "retries">;
  readonly #map: DayMap;
  #history: History | null = null;
  #detail: Detail | null = null;
  #asking: AbortController | null = null;
  #stopSettling = () => {};
  /** Whether the user has asked for the line that comes next, and not moved the map since. */
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

  /** The user has asked for another line, and the map may move to it when it comes. */
  await(): void {
    this.#isAwaited = true;
  }

  /** Shows another history, or that of before with what has come to it. */
  show(history: History | null): void {
    const isAnother = !areOfSame(history, this.#history);
    this.#history = history;
    if (isAnother) {
      this.#asking?.abort();
      this.#detail = null;
      if (history !== null && this.#isAwaited) this.#bringIntoView(history.track);
    } else if (history !== null) this.#detail?.track.appendLast(history.track);
    this.#draw();
    if (isAnother) void this.#look();
  }

  /** Shows the whole line. */
  fit(): void {
    const bounds = boundsOfTrack(this.#history?.track);
    if (bounds !== null) this.#map.fit(bounds);
  }

  /**
   * Moves the map only where nothing of the line would be seen, or no more than a spot. A line that comes late moves
   * none that the user has moved meanwhile, or that follows the device, which may be elsewhere by now.
   */
  #bringIntoView(track: Track): void {
    this.#isAwaited = false;
    const { camera, isFollowing } = this.#map;
    const bounds = boundsOfTrack(track);
    if (camera === null || bounds === null || isFollowing) return;
    const isSpot = camera.zoom < SPOT_ZOOM_MAX && isWithin(bounds, camera.bounds, SPOT_PART);
    if (isSpot || !areTouching(camera.bounds, bounds)) this.#map.fit(bounds, camera.zoom + ZOOM_STEPS_MAX);
  }

  #draw(): void {
    const history = this.#history;
    if (history === null) {
      this.#map.setDay(null);
      return;
    }
    const track = this.#detail?.track ?? history.track;
    const stops = (history.stops?.stops ?? [])
      .slice(0, STOPS_MAX)
      .map(({ latitude, longitude }, index) => ({ latitude, longitude, number: index + 1 }));
    this.#map.setDay({ lines: track.lines(), stops });
  }

  /** Takes what there is of the view, and asks for more where that is too coarse. */
  async #look(): Promise<void> {
    const history = this.#history;
    const { camera } = this.#map;
    if (history === null || camera === null || history.span.days === 1) return;
    const toleranceMeters = TOLERANCE_PIXELS * metersPerPixel(camera);
    if (this.#isEnough(camera.bounds, toleranceMeters)) return;
    this.#detail = null;
    this.#asking?.abort();
    if (toleranceMeters >= toleranceMetersOf(history.span.days)) return this.#draw();
    const box = widened(camera.bounds);
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const { deviceId, range } = history;
    try {
      const tolerance = Math.max(1, Math.floor(toleranceMeters));
      const read = () => readTrack(this.#api, deviceId, range, tolerance, boxOf(box), signal);
      const answer = await this.#api.retries.ask(read, { signal, onPause: () => undefined });
      this.#detail = { box, track: new Track(answer) };
    } catch {
      return; // The coarse line stays, and the next move of the map asks again.
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

export function metersPerPixel({
  latitude,
  zoom,
}: {
  readonly latitude: number;
  readonly zoom: number;
}): number {
  return (METERS_PER_PIXEL_AT_0 * Math.cos((latitude * Math.PI) / 180)) / 2 ** zoom;
}

function boundsOfTrack(track: Track | undefined): Bounds | null {
  return track === undefined ? null : boundsOf(track.latitude, track.longitude);
}

/** Whether one takes less than a part of the width and of the height of another. */
function isWithin(inner: Bounds, outer: Bounds, part: number): boolean {
  const isNarrow = inner.east - inner.west < part * (outer.east - outer.west);
  return isNarrow && inner.north - inner.south < part * (outer.north - outer.south);
}

/** Whether two have anything in common; both may go on past ±180°. */
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
