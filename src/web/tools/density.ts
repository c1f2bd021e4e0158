import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { boxOf } from "../geo/bounds.ts";
import { type DensityCells, shadeRange } from "../gl/density-grid.ts";
import type { Camera } from "../map/map-camera.ts";
import type { TimeRange } from "../time/local-day.ts";
import { localTextOf } from "../time/local-time.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { type DensityPreset, type OwnRange, ownRange, presetRange, USUAL_PRESET } from "./density-range.ts";

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
  /** The sheet of a phone, which covers half of the map. */
  readonly sheet: { lower(): void };
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** The heatmap is loaded once the camera has not moved for this long. */
const REST_MS = 250;
const ZOOM_MAX = 22;

interface DensityAnswer extends DensityCells {
  readonly incomplete?: true;
}

/** The heatmap: how many positions of all devices each visible cell has, in a range of time. */
export class Density {
  readonly #parts: DensityParts;
  #request: AbortController | null = null;
  #stopResting = () => {};
  isOpen = false;
  preset: DensityPreset = USUAL_PRESET;
  /** The range that the user typed; null for the preset. */
  own: OwnRange | null = null;
  range: TimeRange = { startMs: 0, endMs: 0 };
  isLoading = false;
  fault: string | null = null;
  cells: DensityCells | null = null;
  /** The latitude of the middle of the cells in view. */
  latitude = 0;
  /** The sum of all cells. */
  positions = 0;
  /** The counts of the first and the last color. */
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
    this.#parts.sheet.lower();
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

  choose(preset: DensityPreset): void {
    this.preset = preset;
    this.own = null;
    void this.load();
  }

  /** Lets the user type a range, which begins as the one that is shown. */
  chooseOwn(own: OwnRange = this.#ownOfShown()): void {
    this.own = own;
    void this.load();
  }

  /** Loads the cells in view, and drops a request that is still running. */
  async load(): Promise<void> {
    const { api, map, zones, changed } = this.#parts;
    const { camera } = map;
    this.#request?.abort();
    this.#stopResting();
    const range =
      this.own === null ? presetRange(this.preset, zones.zone, Date.now()) : ownRange(this.own, zones.zone);
    const isValid = !("fault" in range);
    this.isLoading = isValid;
    this.fault = isValid ? null : range.fault;
    if (isValid) this.range = range;
    else this.#show(null);
    changed();
    if (!isValid) return;
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
      this.latitude = camera.latitude;
      this.#show(answer);
    } catch (error) {
      if (request.signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.isLoading = false;
    changed();
  }

  #ownOfShown(): OwnRange {
    const { startMs, endMs } = this.range;
    const { zone } = this.#parts.zones;
    return { start: localTextOf(startMs, zone), end: localTextOf(endMs, zone) };
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

/** The zoom whose cells are 4 pixels wide. MapLibre's zooms are for tiles of 512 pixels, the endpoint's for 256. */
export function cellZoomOf(mapZoom: number): number {
  return Math.min(ZOOM_MAX, Math.max(0, Math.round(mapZoom) + 1));
}

const EQUATOR_METERS = 40_075_017;

/** The width of a cell on the ground. */
export function cellMeters(zoom: number, latitude: number): number {
  return (EQUATOR_METERS * Math.cos((latitude * Math.PI) / 180)) / (64 * 2 ** zoom);
}
