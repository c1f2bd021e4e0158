import type { MapLibreMap } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import { pixelMetersAt } from "../geo/world.ts";
import { DotBuffer } from "../gl/dot-buffer.ts";
import { ChosenDotLayer, type DotScene, DotsLayer } from "../gl/dots-layer.ts";
import { Fade } from "../gl/fade.ts";
import { GlidePace } from "../gl/glide-pace.ts";
import type { MapColors } from "../gl/map-colors.ts";
import { loadPastTails } from "../gl/past-tails.ts";
import { TailBuffer } from "../gl/tail-buffer.ts";
import { TailsLayer } from "../gl/tails-layer.ts";
import { ClusterMarks } from "./cluster-marks.ts";
import { DeviceNames } from "./device-names.ts";
import type { Camera } from "./map-camera.ts";

/** What the map provides to the dots. */
interface DeviceDotsParts {
  readonly table: DeviceTable;
  readonly api: Pick<Api, "get">;
  /** Whether the user may read all devices, not only those of a share link. */
  readonly mayRead: () => boolean;
  readonly colors: () => MapColors;
  /** Null while there is no map. */
  readonly camera: () => Camera | null;
}

/** How often the map checks whether dots and tails have aged. */
const AGING_MS = 5000;

/** How long after the last key of a search the map follows. */
const SHOW_MS = 150;

/** Dots over the heatmap: still visible, and what lies below as well. */
const DOT_FADE = 0.16;

const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");

/** Every device as a dot with its tail and its name; where dots overlap, a circle with their count. */
export class DeviceDots {
  readonly buffer = new DotBuffer();
  readonly clusters = new ClusterMarks(this.buffer, () => this.#areFaded);
  readonly #parts: DeviceDotsParts;
  readonly #tails = new TailBuffer();
  readonly #pace = new GlidePace(REDUCED_MOTION);
  readonly #fade = new Fade(REDUCED_MOTION, 1);
  readonly #names: DeviceNames;
  #map: MapLibreMap | null = null;
  #areFaded = false;
  #isPaused = false;
  #chosenRow: number | null = null;
  #showing: ReturnType<typeof setTimeout> | undefined;
  /** Null while no frame is scheduled. */
  #drawing: ReturnType<typeof setTimeout> | null = null;
  /** When dots were last checked for their age, Unix ms. */
  #agedMs = Date.now();

  constructor(parts: DeviceDotsParts) {
    this.#parts = parts;
    const { buffer } = this;
    const [chosenRow, areFaded] = [() => this.#chosenRow, () => this.#areFaded];
    this.#names = new DeviceNames({ table: parts.table, buffer, chosenRow, areFaded, pace: this.#pace });
    REDUCED_MOTION.addEventListener("change", () => this.#setMotion());
  }

  /** Draws on this map from now on, once its layers are added. */
  use(map: MapLibreMap): void {
    this.#map = map;
    void this.loadTails(Date.now());
    setInterval(() => this.#growOlder(), AGING_MS);
  }

  /** Adds circles with counts, and names. */
  addLabels(map: MapLibreMap, colors: MapColors): void {
    this.clusters.addTo(map, colors);
    this.#names.addTo(map, colors);
  }

  /** Adds the dots: below the labels of the base map, but the chosen one on top. */
  addDots(map: MapLibreMap, labels: string | undefined): void {
    const { buffer } = this;
    const scene = (): DotScene => ({
      buffer,
      colors: this.#parts.colors(),
      chosenRow: this.#chosenRow,
      pace: this.#pace,
      fade: this.#fade,
      nowMs: Date.now(),
    });
    const tails = () => {
      const { colors, pace, fade, nowMs } = scene();
      const hasClusters = this.clusters.isShowing;
      return { tails: this.#tails, dots: buffer, hasClusters, colors, pace, fade, nowMs };
    };
    map.addLayer(new TailsLayer(tails), labels);
    map.addLayer(new DotsLayer(scene), labels);
    map.addLayer(new ChosenDotLayer(scene));
  }

  /** Detaches from a map that has lost its layers, until they are added again. */
  leave(): void {
    this.clusters.leave();
    this.#names.leave();
  }

  paint(colors: MapColors): void {
    this.clusters.paint(colors);
    this.#names.paint(colors);
  }

  get chosenRow(): number | null {
    return this.#chosenRow;
  }

  choose(row: number | null): void {
    this.#chosenRow = row;
    this.#names.update();
    this.#map?.triggerRepaint();
  }

  /** Fades the dots, under the heatmap. */
  fade(areFaded: boolean): void {
    this.#areFaded = areFaded;
    this.#fade.moveTo(areFaded ? DOT_FADE : 1, performance.now());
    this.#names.update();
    this.clusters.update();
    this.#map?.triggerRepaint();
  }

  /** Marks the dots of these rows. */
  mark(rows: Iterable<number>): void {
    this.buffer.mark(new Set(rows), this.#parts.table);
    this.#map?.triggerRepaint();
  }

  /** Lets devices move on without drawing them, while something else covers the map. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!isPaused) this.#map?.triggerRepaint();
  }

  update(change: TableChange): void {
    if (change.kind === "shown") {
      this.#showSoon();
      return;
    }
    this.#setMotion();
    this.#updateDots(change);
    this.clusters.update();
    this.#names.update();
    this.#drawSoon();
  }

  /** Adds the tails of the time before the page saw the devices, as far as this map shows them. */
  async loadTails(nowMs: number): Promise<void> {
    const { api, table, mayRead } = this.#parts;
    const camera = this.#parts.camera();
    if (camera === null || !mayRead()) return;
    await loadPastTails(api, table, this.#tails, { nowMs, pixelMeters: pixelMetersAt(camera) });
    this.#drawSoon();
  }

  #setMotion(): void {
    this.buffer.glideMs = this.#pace.glideMs(performance.now());
  }

  #updateDots(change: TableChange): void {
    const { table } = this.#parts;
    const pageMs = performance.now();
    const unixMs = Date.now();
    this.#tails.update(table, change, this.buffer, { pageMs, unixMs });
    this.buffer.update(table, change, pageMs);
  }

  /** Draws the map again if a dot or a tail looks older now. */
  #growOlder(): void {
    const nowMs = Date.now();
    if (this.#isPaused) return;
    if (!this.#tails.isEmpty || this.buffer.hasAged(this.#agedMs, nowMs)) this.#map?.triggerRepaint();
    this.#agedMs = nowMs;
  }

  /** Draws immediately, or later if drawing is too slow to leave time for anything else. */
  #drawSoon(): void {
    if (this.#isPaused) return;
    const waitMs = this.#pace.waitMs(performance.now());
    if (waitMs === 0) this.#map?.triggerRepaint();
    else
      this.#drawing ??= setTimeout(() => {
        this.#drawing = null;
        this.#map?.triggerRepaint();
      }, waitMs);
  }

  /** Follows the filter after a delay: each typed letter would need a frame of all dots, and the list comes first. */
  #showSoon(): void {
    clearTimeout(this.#showing);
    this.#showing = setTimeout(() => {
      this.#updateDots({ kind: "shown" });
      this.#map?.triggerRepaint();
    }, SHOW_MS);
  }
}
