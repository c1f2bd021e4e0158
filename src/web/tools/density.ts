import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { boxOf } from "../geo/bounds.ts";
import { type DensityCells, shadeRange } from "../gl/density-layer.ts";
import type { Camera } from "../map/map-camera.ts";
import { addDays, dayAt, rangeOf, type TimeRange } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

/** The used part of the map. */
export interface DensityMap {
  /** Null while there is no map. */
  readonly camera: Camera | null;
  onCamera(listener: () => void): unknown;
  setDensity(cells: DensityCells | null): void;
}

interface DensityParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly map: DensityMap;
  readonly zones: { readonly zone: string };
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** Whole days in the zone of the page. */
export interface DensityDays {
  readonly label: string;
  readonly days: number;
  /** The last day, counted back from today. */
  readonly daysAgo: number;
}

export const DENSITY_DAYS: readonly DensityDays[] = [
  { label: "today", days: 1, daysAgo: 0 },
  { label: "yesterday", days: 1, daysAgo: 1 },
  { label: "7 days", days: 7, daysAgo: 0 },
  { label: "30 days", days: 30, daysAgo: 0 },
  { label: "a year", days: 365, daysAgo: 0 },
];

/** The heatmap is loaded once the camera has not moved for this long. */
const REST_MS = 250;
const ZOOM_MAX = 22;

interface DensityAnswer extends DensityCells {
  readonly incomplete?: true;
}

/** The heatmap: how many positions of all devices each visible cell has, in a range of days. */
export class Density {
  readonly #parts: DensityParts;
  #request: AbortController | null = null;
  #stopResting = () => {};
  isOpen = false;
  chosen: DensityDays = DENSITY_DAYS[2]!;
  range: TimeRange = { startMs: 0, endMs: 0 };
  isLoading = false;
  fault: string | null = null;
  cells: DensityCells | null = null;
  /** The sum of all cells. */
  positions = 0;
  /** The counts of the lightest and the darkest color. */
  shades = { least: 1, most: 1 };
  /** Whether the server made cells larger than the map's zoom needs, since there would be too many. */
  isCoarser = false;
  /** Whether days are missing because the archive can't read them. */
  isIncomplete = false;

  constructor(parts: DensityParts) {
    this.#parts = parts;
    parts.map.onCamera(() => this.#loadAtRest());
  }

  open(): void {
    this.isOpen = true;
    void this.load();
  }

  /** Returns whether it was open. */
  close(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.isLoading = false;
    this.#request?.abort();
    this.#stopResting();
    this.#show(null);
    this.#parts.changed();
    return true;
  }

  /** Loads the heatmap again: in another zone its days begin at other instants. */
  reload(): void {
    if (this.isOpen) void this.load();
  }

  choose(days: DensityDays): void {
    this.chosen = days;
    void this.load();
  }

  /** Loads the cells in view, and drops a request that is still running. */
  async load(): Promise<void> {
    const { api, map, zones, changed } = this.#parts;
    const { camera } = map;
    this.#request?.abort();
    this.#stopResting();
    this.range = daysRange(this.chosen, zones.zone, Date.now());
    this.isLoading = true;
    this.fault = null;
    changed();
    if (camera === null) return; // The map's first camera event loads them.
    const request = new AbortController();
    this.#request = request;
    const cellZoom = cellZoomOf(camera.zoom);
    const query = {
      start: this.range.startMs,
      end: this.range.endMs,
      bbox: boxOf(camera.bounds),
      zoom: cellZoom,
    };
    try {
      const { signal } = request;
      const answer = await api.retries.ask(() => api.get<DensityAnswer>("/api/v1/density", query, signal), {
        signal,
        onPause: (error) => {
          this.fault = retryingSentenceOf(error);
          changed();
        },
      });
      this.fault = null;
      this.isCoarser = answer.zoom < cellZoom;
      this.isIncomplete = answer.incomplete === true;
      this.#show(answer);
    } catch (error) {
      if (request.signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.isLoading = false;
    changed();
  }

  #loadAtRest(): void {
    if (!this.isOpen) return;
    this.#stopResting();
    const { timers = browserTimers } = this.#parts;
    this.#stopResting = timers.after(REST_MS, () => void this.load());
  }

  #show(cells: DensityCells | null): void {
    this.cells = cells;
    const counts = cells?.count ?? [];
    this.positions = counts.reduce((sum, count) => sum + count, 0);
    this.shades = shadeRange(counts);
    this.#parts.map.setDensity(cells);
  }
}

export function daysRange({ days, daysAgo }: DensityDays, zone: string, nowMs: number): TimeRange {
  return rangeOf(addDays(dayAt(nowMs, zone), -daysAgo), zone, days);
}

/** The zoom whose cells are 4 pixels wide. MapLibre's zooms are for tiles of 512 pixels, the endpoint's for 256. */
export function cellZoomOf(mapZoom: number): number {
  return Math.min(ZOOM_MAX, Math.max(0, Math.round(mapZoom) + 1));
}
