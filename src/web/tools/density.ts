import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { boxOf } from "../geo/bounds.ts";
import { type DensityCells, shadeRange } from "../gl/density-layer.ts";
import type { Camera } from "../map/map-camera.ts";
import { addDays, dayAt, rangeOf, type TimeRange } from "../time/local-day.ts";
import { browserTimers, type Timers } from "../time/timers.ts";

/** As much of the map as is needed. */
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

/** Whole days of the zone that times are shown in. */
export interface DensityDays {
  readonly label: string;
  readonly days: number;
  /** How many days before today the last of them is. */
  readonly daysAgo: number;
}

export const DENSITY_DAYS: readonly DensityDays[] = [
  { label: "today", days: 1, daysAgo: 0 },
  { label: "yesterday", days: 1, daysAgo: 1 },
  { label: "7 days", days: 7, daysAgo: 0 },
  { label: "30 days", days: 30, daysAgo: 0 },
  { label: "a year", days: 365, daysAgo: 0 },
];

/** The camera rests when it has not moved for so long. */
const REST_MS = 250;
const ZOOM_MAX = 22;

interface DensityAnswer extends DensityCells {
  readonly incomplete?: true;
}

/** Where all devices were: how many positions each cell of what is seen has, in a range of days. */
export class Density {
  readonly #parts: DensityParts;
  #asking: AbortController | null = null;
  #stopResting = () => {};
  isOpen = false;
  chosen: DensityDays = DENSITY_DAYS[2]!;
  range: TimeRange = { startMs: 0, endMs: 0 };
  isLoading = false;
  fault: string | null = null;
  cells: DensityCells | null = null;
  /** Of all cells. */
  positions = 0;
  /** What the lightest and the darkest color mean. */
  shades = { least: 1, most: 1 };
  /** Whether cells are larger than the map's zoom asks for, since there would be too many. */
  isCoarser = false;
  /** Whether days are missing that the archive can't read. */
  isIncomplete = false;

  constructor(parts: DensityParts) {
    this.#parts = parts;
    parts.map.onCamera(() => this.#askAtRest());
  }

  open(): void {
    this.isOpen = true;
    void this.ask();
  }

  /** Whether there was anything to close. */
  close(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.isLoading = false;
    this.#asking?.abort();
    this.#stopResting();
    this.#show(null);
    this.#parts.changed();
    return true;
  }

  /** The days are others where the zone is. */
  reload(): void {
    if (this.isOpen) void this.ask();
  }

  choose(days: DensityDays): void {
    this.chosen = days;
    void this.ask();
  }

  /** Asks for what is seen now. What was asked before and is not answered yet is dropped. */
  async ask(): Promise<void> {
    const { api, map, zones, changed } = this.#parts;
    const { camera } = map;
    this.#asking?.abort();
    this.#stopResting();
    this.range = daysRange(this.chosen, zones.zone, Date.now());
    this.isLoading = true;
    this.fault = null;
    changed();
    if (camera === null) return; // The map asks once it is there.
    const asking = new AbortController();
    this.#asking = asking;
    const cellZoom = cellZoomOf(camera.zoom);
    const query = {
      start: this.range.startMs,
      end: this.range.endMs,
      bbox: boxOf(camera.bounds),
      zoom: cellZoom,
    };
    try {
      const { signal } = asking;
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
      if (asking.signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.isLoading = false;
    changed();
  }

  #askAtRest(): void {
    if (!this.isOpen) return;
    this.#stopResting();
    const { timers = browserTimers } = this.#parts;
    this.#stopResting = timers.after(REST_MS, () => void this.ask());
  }

  #show(cells: DensityCells | null): void {
    this.cells = cells;
    const counts = cells?.count ?? [];
    this.positions = counts.reduce((sum, count) => sum + count, 0);
    this.shades = shadeRange(counts);
    this.#parts.map.setDensity(cells);
  }
}

/** From midnight to midnight in a zone. */
export function daysRange({ days, daysAgo }: DensityDays, zone: string, nowMs: number): TimeRange {
  return rangeOf(addDays(dayAt(nowMs, zone), -daysAgo), zone, days);
}

/** The zoom whose cells are 4 pixels wide: maps count zooms in tiles of 512 pixels, the endpoint in those of 256. */
export function cellZoomOf(mapZoom: number): number {
  return Math.min(ZOOM_MAX, Math.max(0, Math.round(mapZoom) + 1));
}
