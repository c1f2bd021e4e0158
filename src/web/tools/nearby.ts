import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { wrapped } from "../geo/bounds.ts";
import { METERS_PER_DEGREE, type Place } from "../geo/earth.ts";
import { METERS_PER_MILE, type Units } from "../geo/units.ts";
import type { Camera } from "../map/map-camera.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { fittingRadius, metersOf, milesOf } from "./radius.ts";

/** As much of the map as is needed. */
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
  readonly units: Units;
  readonly changed: () => void;
  readonly timers?: Timers;
}

export interface NearbyDevice {
  readonly id: string;
  readonly distanceMeters: number;
  readonly bearingDegrees: number;
  readonly timestampMs: number;
}

/** As much of the endpoint's answer as is shown. */
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
/** The slider moves through many radii; the one that it stops at is asked for. */
const SETTLE_MS = 150;
/** As much of what is seen as the first circle fills. */
const VIEW_FILLED = 0.8;

/** Who is within a circle: as the endpoint says, nearest first, at the instant that it was asked. */
export class Nearby {
  readonly #parts: NearbyParts;
  #asking: AbortController | null = null;
  #stopSettling = () => {};
  #state: "aiming" | "asking" | "found" | "failed" = "aiming";
  isOpen = false;
  center: Place | null = null;
  /** In the units that are shown; null until the first circle was drawn. */
  radius: number | null = null;
  /** Leaves out devices that have been silent for longer. */
  ageHoursMax = 24;
  found: readonly NearbyDevice[] = [];
  total = 0;
  hasMore = false;
  /** When the server was asked for what is shown. */
  askedMs = 0;
  fault: string | null = null;

  constructor(parts: NearbyParts) {
    this.#parts = parts;
  }

  get state(): "aiming" | "asking" | "found" | "failed" {
    return this.#state;
  }

  get units(): Units {
    return this.#parts.units;
  }

  /** The next click on the map is the middle of the circle. What is asked of the one before is dropped. */
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
    void this.#ask(0);
  }

  setRadius(radius: number): void {
    this.radius = radius;
    this.#askSoon();
  }

  setAgeHoursMax(hours: number): void {
    this.ageHoursMax = hours;
    this.#askSoon();
  }

  more(): void {
    void this.#ask(this.found.length);
  }

  /** Whether there was anything to close. */
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

  /** Draws the circle, and marks who is in it: anew where the devices have other rows than before. */
  draw(): void {
    const { center, radius, found } = this;
    const { map, devices, units } = this.#parts;
    if (center === null || radius === null) return;
    const rows = found.map(({ id }) => devices.rowOf(id)).filter((row) => row !== undefined);
    map.setCircle({ ...center, radiusMeters: metersOf(radius, units) }, rows);
  }

  #firstRadius(): number {
    const { north, south } = this.#parts.map.camera?.bounds ?? { north: 0, south: 0 };
    const viewMeters = ((north - south) / 2) * METERS_PER_DEGREE;
    return fittingRadius(viewMeters * VIEW_FILLED, this.#parts.units);
  }

  #askSoon(): void {
    this.#stopSettling();
    if (this.center === null) return;
    const { timers = browserTimers } = this.#parts;
    this.#stopSettling = timers.after(SETTLE_MS, () => void this.#ask(0));
    this.draw();
    this.#parts.changed();
  }

  #giveUp(): void {
    this.#asking?.abort();
    this.#stopSettling();
  }

  #forget(): void {
    this.found = [];
    this.total = 0;
    this.hasMore = false;
  }

  /** One page, behind those that are shown; what was asked before and is not answered yet is dropped. */
  async #ask(offset: number): Promise<void> {
    this.#giveUp();
    const asking = new AbortController();
    this.#asking = asking;
    this.#state = "asking";
    if (offset === 0) this.#forget();
    this.draw();
    this.#parts.changed();
    try {
      const { api } = this.#parts;
      const { signal } = asking;
      const ask = () => api.get<NearbyAnswer>("/api/v1/devices/nearby", this.#query(offset), signal);
      this.#take(
        await api.retries.ask(ask, { signal, onPause: (error) => this.#fail(retryingSentenceOf(error)) }),
      );
      this.#parts.changed();
    } catch (error) {
      if (!asking.signal.aborted) this.#fail(sentenceOf(error));
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
      radius_miles: milesOf(this.radius!, this.#parts.units),
      max_age_hours: this.ageHoursMax,
      limit: PAGE_DEVICES,
      offset,
    };
  }

  #take({ results, pagination }: NearbyAnswer): void {
    const known = new Set(this.found.map(({ id }) => id));
    const page = results.map(({ device_id, distance_miles, bearing_degrees, location }) => ({
      id: device_id,
      distanceMeters: distance_miles * METERS_PER_MILE,
      bearingDegrees: bearing_degrees,
      timestampMs: Number(location.timestamp),
    }));
    // Whoever moved from one page to the next meanwhile is in both.
    this.found = [...this.found, ...page.filter(({ id }) => !known.has(id))];
    this.total = pagination.total_matches;
    this.hasMore = pagination.has_more;
    this.askedMs = Date.now();
    this.fault = null;
    this.#state = "found";
    this.draw();
  }
}
