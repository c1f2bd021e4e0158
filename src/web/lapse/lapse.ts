import { render } from "lit-html";
import type { MapLibreMap } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import type { Units } from "../geo/units.ts";
import type { BaseMap } from "../map/base-map.ts";
import { createMap, createScale } from "../map/create-map.ts";
import type { Camera } from "../map/map-camera.ts";
import { mapStyle } from "../map/style.ts";
import { dayAt, type LocalDay } from "../time/local-day.ts";
import { LapseClock } from "./lapse-clock.ts";
import { LapseLayer } from "./lapse-layer.ts";
import { loadMovements } from "./lapse-loader.ts";
import { type LapseControls, lapseKey, lapsePanel } from "./lapse-panel.ts";
import { LAPSE_SPANS, type LapseSpan, lapseRange, toleranceFor, trailMsAt } from "./lapse-range.ts";
import type { Chunk } from "./movements.ts";

/** The used part of the page's map. */
export interface LapseMap {
  readonly baseMap: BaseMap | null;
  readonly camera: Camera | null;
  /** Stops drawing while the time lapse covers it. */
  pause(isPaused: boolean): void;
}

export interface LapseParts {
  readonly api: Pick<Api, "get" | "retries" | "pageHeader">;
  readonly map: LapseMap;
  readonly zones: { readonly zone: string };
  readonly settings: { readonly units: Units };
}

/** The controls are drawn again at most this often while the clock runs. */
const PANEL_MS = 100;

const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The time lapse of all devices: a window over the whole page with a dark map of its own, which exists only while it is
 * open.
 */
export class Lapse {
  readonly #parts: LapseParts;
  #window: LapseWindow | null = null;

  constructor(parts: LapseParts) {
    this.#parts = parts;
  }

  open(): void {
    const { baseMap, camera } = this.#parts.map;
    if (this.#window !== null || baseMap === null || camera === null) return;
    this.#parts.map.pause(true);
    this.#window = new LapseWindow(this.#parts, baseMap, camera, () => this.close());
  }

  close(): void {
    if (this.#window === null) return;
    this.#window.end();
    this.#window = null;
    this.#parts.map.pause(false);
  }
}

/** An open time lapse. */
class LapseWindow implements LapseControls {
  readonly #parts: LapseParts;
  readonly #element = document.createElement("dialog");
  /** Browsers show no dialog in full screen, so its content is. */
  readonly stage = document.createElement("div");
  readonly #panel = document.createElement("div");
  #map: MapLibreMap | null = null;
  readonly #toleranceMeters: number;
  readonly close: () => void;
  #loading = new AbortController();
  #chunks: Chunk[] = [];
  /** The start of the loaded range, which chunks count from, Unix ms. */
  #originMs = 0;
  #frame = 0;
  #drawnMs = 0;
  span: LapseSpan = LAPSE_SPANS[0];
  day: LocalDay;
  /** Null for a day that has not begun. */
  clock: LapseClock | null = null;
  isLoading = false;
  isIncomplete = false;
  fault: string | null = null;

  constructor(parts: LapseParts, baseMap: BaseMap, camera: Camera, close: () => void) {
    this.#parts = parts;
    this.close = close;
    this.day = dayAt(Date.now(), parts.zones.zone);
    this.#toleranceMeters = toleranceFor(camera);
    const element = this.#element;
    element.className = "lapse";
    element.setAttribute("aria-label", "Time lapse");
    this.stage.className = "lapse-stage";
    this.#panel.className = "lapse-panel";
    const container = document.createElement("div");
    container.className = "lapse-map";
    this.stage.append(container, this.#panel);
    element.append(this.stage);
    element.addEventListener("close", close);
    element.addEventListener("keydown", (event) => lapseKey(this, event));
    document.body.append(element);
    this.#draw();
    element.showModal();
    void this.load(); // Creating a map takes as long as the first answer.
    const scale = createScale();
    scale.setUnit(parts.settings.units === "metric" ? "metric" : "imperial");
    const map = createMap(container, mapStyle("dark", baseMap, location.origin), scale, parts.api.pageHeader);
    map.jumpTo({ center: [camera.longitude, camera.latitude], zoom: camera.zoom });
    map.on("style.load", () => queueMicrotask(() => this.#addLayer(map)));
    this.#map = map;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  get hasDevices(): boolean {
    return this.#chunks.length > 0;
  }

  end(): void {
    this.#loading.abort();
    cancelAnimationFrame(this.#frame);
    this.#element.removeEventListener("close", this.close);
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    this.#chunks = [];
    this.#map?.remove();
    this.#element.close(); // Returns the focus to the button.
    this.#element.remove();
  }

  choose(span: LapseSpan, day = this.day): void {
    this.span = span;
    this.day = day;
    void this.load();
  }

  toggle(): void {
    const nowMs = performance.now();
    if (this.clock?.isPlaying) this.clock.pause(nowMs);
    else if (this.hasDevices) this.clock?.play(nowMs);
    this.#run();
  }

  seek(ms: number): void {
    this.clock?.seek(ms, performance.now());
    this.#show();
  }

  setRate(rate: number): void {
    this.clock?.setRate(rate, performance.now());
    this.#show();
  }

  changeRate(step: number): void {
    this.clock?.changeRate(step, performance.now());
    this.#show();
  }

  /** Fills the screen, or no longer. */
  toggleScreen(): void {
    if (document.fullscreenElement === null) void this.stage.requestFullscreen();
    else void document.exitFullscreen();
  }

  /** Loads the chosen range, and plays it as soon as its first devices are there. */
  async load(): Promise<void> {
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    const range = lapseRange(this.span, this.day, this.zone, Date.now());
    this.#chunks = [];
    this.fault = null;
    this.isIncomplete = false;
    this.clock = range === null ? null : new LapseClock(range);
    this.isLoading = range !== null;
    this.#show();
    if (range === null) return;
    this.#originMs = range.startMs;
    try {
      const { isIncomplete } = await loadMovements({
        api: this.#parts.api,
        range,
        toleranceMeters: this.#toleranceMeters,
        signal,
        onLoaded: (chunk, loadedMs) => this.#take(chunk, loadedMs),
        onPause: (sentence) => {
          this.fault = sentence;
          this.#draw();
        },
      });
      this.isIncomplete = isIncomplete;
    } catch (error) {
      if (signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.isLoading = false;
    this.#show();
  }

  #take(chunk: Chunk | null, loadedMs: number): void {
    const clock = this.clock!;
    this.fault = null;
    if (chunk !== null) {
      const isFirst = !this.hasDevices;
      this.#chunks.push(chunk);
      if (isFirst) {
        clock.beginAt(this.#originMs + chunk.startMs);
        if (!REDUCED_MOTION.matches) clock.play(performance.now());
      }
    }
    clock.loadedTo(loadedMs);
    this.#run();
  }

  #addLayer(map: MapLibreMap): void {
    const scene = () => ({
      chunks: this.#chunks,
      clockMs: (this.clock?.clockMs ?? 0) - this.#originMs,
      trailMs: trailMsAt(this.clock?.rate ?? 1),
    });
    const labels = map.getStyle().layers.find(({ type }) => type === "symbol")?.id;
    map.addLayer(new LapseLayer(scene), labels);
  }

  /** Moves the clock with each frame while it runs. */
  #run(): void {
    cancelAnimationFrame(this.#frame);
    this.#show();
    if (this.clock?.isPlaying) this.#frame = requestAnimationFrame(() => this.#advance());
  }

  #advance(): void {
    const nowMs = performance.now();
    this.clock?.advance(nowMs);
    this.#map?.triggerRepaint();
    if (this.clock?.isPlaying) this.#frame = requestAnimationFrame(() => this.#advance());
    if (nowMs - this.#drawnMs >= PANEL_MS || !this.clock?.isPlaying) this.#draw();
  }

  #show(): void {
    this.#map?.triggerRepaint();
    this.#draw();
  }

  #draw(): void {
    this.#drawnMs = performance.now();
    render(lapsePanel(this), this.#panel);
  }
}
