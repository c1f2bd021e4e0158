import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { wrapped } from "../geo/bounds.ts";
import { METERS_PER_DEGREE, type Place } from "../geo/earth.ts";
import { METERS_PER_MILE, type Units } from "../geo/units.ts";
import type { Camera } from "../map/map-camera.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { fittingRadius, metersOf, milesOf, nearestStep, radiusOf, radiusSteps } from "./radius.ts";

/** The used part of the map. */
export interface NearbyMap {
  /** Null while there is no map. */
  readonly camera: Camera | null;
  takeNextClick(handler: ((at: Place) => void) | null): void;
  setCircle(circle: (Place & { readonly radiusMeters: number }) | null, rows: readonly number[]): void;
}

interface NearbyParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly map: NearbyMap;
  readonly devices: { rowOf(id: string): number | undefined };
  readonly settings: { readonly units: Units };
  readonly changed: () => void;
  readonly timers?: Timers;
}

export interface NearbyDevice {
  readonly id: string;
  readonly distanceMeters: number;
  readonly bearingDegrees: number;
  readonly timestampMs: number;
}

/** The used part of the endpoint's answer. */
interface NearbyAnswer {
  readonly results: readonly {
    readonly device_id: string;
    readonly distance_miles: number;
    readonly bearing_degrees: number;
    readonly location: { readonly timestamp: number | string };
  }[];
  readonly pagination: { readonly has_more: boolean; readonly total_matches: number };
}

const PAGE_DEVICES = 50;
/** A query waits until the slider stops. */
const SETTLE_MS = 150;
/** The share of the view that the first circle fills. */
const VIEW_FILLED = 0.8;

/** The devices within a circle at the time of the query, nearest first. */
export class Nearby {
  readonly #parts: NearbyParts;
  #request: AbortController | null = null;
  #stopSettling = () => {};
  #units: Units;
  #state: "aiming" | "loading" | "loaded" | "failed" = "aiming";
  isOpen = false;
  center: Place | null = null;
  /** In the page's units; null before the first circle. */
  radius: number | null = null;
  /** Excludes devices that have been silent for longer. */
  ageHoursMax = 24;
  matches: readonly NearbyDevice[] = [];
  total = 0;
  hasMore = false;
  /** The time of the query. */
  queriedMs = 0;
  fault: string | null = null;

  constructor(parts: NearbyParts) {
    this.#parts = parts;
    this.#units = parts.settings.units;
  }

  get state(): "aiming" | "loading" | "loaded" | "failed" {
    return this.#state;
  }

  get units(): Units {
    return this.#units;
  }

  /** Takes the units of the settings, with a circle of about the same size. */
  setUnits(): void {
    const { units } = this.#parts.settings;
    if (units === this.#units) return;
    const meters = this.radius === null ? null : metersOf(this.radius, this.#units);
    this.#units = units;
    if (meters !== null) this.setRadius(radiusSteps(units)[nearestStep(radiusOf(meters, units), units)]!);
  }

  /** Makes the next click on the map the center of the circle, and cancels a running query. */
  aim(): void {
    this.#giveUp();
    this.isOpen = true;
    this.#state = "aiming";
    this.#parts.map.takeNextClick((at) => this.around(at));
    this.#parts.changed();
  }

  aroundMiddle(): void {
    const { camera } = this.#parts.map;
    if (camera !== null) this.around(camera);
  }

  around({ latitude, longitude }: Place): void {
    this.isOpen = true;
    this.#parts.map.takeNextClick(null);
    this.center = { latitude, longitude: wrapped(longitude) };
    this.radius ??= this.#firstRadius();
    void this.#load(0);
  }

  setRadius(radius: number): void {
    this.radius = radius;
    this.#loadSoon();
  }

  setAgeHoursMax(hours: number): void {
    this.ageHoursMax = hours;
    this.#loadSoon();
  }

  more(): void {
    void this.#load(this.matches.length);
  }

  /** Returns whether it was open. */
  close(): boolean {
    if (!this.isOpen) return false;
    this.#giveUp();
    this.isOpen = false;
    this.center = null;
    this.#forget();
    this.#parts.map.takeNextClick(null);
    this.#parts.map.setCircle(null, []);
    this.#parts.changed();
    return true;
  }

  /** Draws the circle and marks its devices. Must be called again if the rows of devices change. */
  draw(): void {
    const { center, radius, matches } = this;
    const { map, devices } = this.#parts;
    if (center === null || radius === null) return;
    const rows = matches.map(({ id }) => devices.rowOf(id)).filter((row) => row !== undefined);
    map.setCircle({ ...center, radiusMeters: metersOf(radius, this.#units) }, rows);
  }

  /** Loads again after a failure, at once. */
  retry(): void {
    void this.#load(this.matches.length);
  }

  #firstRadius(): number {
    const { north, south } = this.#parts.map.camera?.bounds ?? { north: 0, south: 0 };
    const viewMeters = ((north - south) / 2) * METERS_PER_DEGREE;
    return fittingRadius(viewMeters * VIEW_FILLED, this.#units);
  }

  #loadSoon(): void {
    this.#stopSettling();
    if (this.center === null) return;
    const { timers = browserTimers } = this.#parts;
    this.#stopSettling = timers.after(SETTLE_MS, () => void this.#load(0));
    this.draw();
    this.#parts.changed();
  }

  #giveUp(): void {
    this.#request?.abort();
    this.#stopSettling();
  }

  #forget(): void {
    this.matches = [];
    this.total = 0;
    this.hasMore = false;
  }

  /** Loads one page of results, and cancels a running query. */
  async #load(offset: number): Promise<void> {
    this.#giveUp();
    const request = new AbortController();
    this.#request = request;
    this.#state = "loading";
    if (offset === 0) this.#forget();
    this.draw();
    this.#parts.changed();
    try {
      const { api } = this.#parts;
      const { signal } = request;
      const ask = () => api.get<NearbyAnswer>("/api/v1/devices/nearby", this.#query(offset), signal);
      this.#addPage(
        await api.retries.ask(ask, { signal, onPause: (error) => this.#fail(retryingSentenceOf(error)) }),
      );
      this.#parts.changed();
    } catch (error) {
      if (!request.signal.aborted) this.#fail(sentenceOf(error));
    }
  }

  #fail(fault: string): void {
    this.#state = "failed";
    this.fault = fault;
    this.#parts.changed();
  }

  #query(offset: number) {
    return {
      ...this.center,
      radius_miles: milesOf(this.radius!, this.#units),
      max_age_hours: this.ageHoursMax,
      limit: PAGE_DEVICES,
      offset,
    };
  }

  #addPage({ results, pagination }: NearbyAnswer): void {
    const known = new Set(this.matches.map(({ id }) => id));
    const page = results.map(({ device_id, distance_miles, bearing_degrees, location }) => ({
      id: device_id,
      distanceMeters: distance_miles * METERS_PER_MILE,
      bearingDegrees: bearing_degrees,
      timestampMs: Number(location.timestamp),
    }));
    // A device that moved between two queries may be on both pages.
    this.matches = [...this.matches, ...page.filter(({ id }) => !known.has(id))];
    this.total = pagination.total_matches;
    this.hasMore = pagination.has_more;
    this.queriedMs = Date.now();
    this.fault = null;
    this.#state = "loaded";
    this.draw();
  }
}
