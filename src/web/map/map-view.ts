import { html, nothing, type TemplateResult } from "lit-html";
import type {
  ErrorEvent,
  ICanonicalTileID,
  MapLibreMap,
  Marker,
  ScaleControl,
  StyleSpecification,
} from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import type { Bounds } from "../geo/bounds.ts";
import type { Place, Position } from "../geo/earth.ts";
import type { Units } from "../geo/units.ts";
import { pixelMetersAt } from "../geo/world.ts";
import type { DensityCells } from "../gl/density-grid.ts";
import { DensityLayer } from "../gl/density-layer.ts";
import { DotBuffer } from "../gl/dot-buffer.ts";
import { ChosenDotLayer, type DotScene, DotsLayer } from "../gl/dots-layer.ts";
import { Fade } from "../gl/fade.ts";
import { GlidePace } from "../gl/glide-pace.ts";
import { type MapColors, readMapColors } from "../gl/map-colors.ts";
import { loadPastTails } from "../gl/past-tails.ts";
import { TailBuffer } from "../gl/tail-buffer.ts";
import { TailsLayer } from "../gl/tails-layer.ts";
import type { DirectionMark } from "../history/direction-marks.ts";
import type { MomentMark } from "../history/moment.ts";
import type { Head } from "../history/track.ts";
import { faultNote, type Remedy } from "../shell/fault-note.ts";
import type { ThemeName } from "../shell/theme.ts";
import { type BaseMap, fromFillingZoom } from "./base-map.ts";
import { ClusterMarks } from "./cluster-marks.ts";
import type { DayShape } from "./day-layers.ts";
import { DeviceNames } from "./device-names.ts";
import { HoverCard } from "./hover-card.ts";
import { type Camera, type CameraListener, type CameraTarget, MapCamera } from "./map-camera.ts";
import { MapClicks, type PickListener } from "./map-clicks.ts";
import { type Circle, Overlays } from "./overlays.ts";
import { SpeedLegend } from "./speed-legend.ts";
import { StreetsHint } from "./streets-hint.ts";
import { mapStyle, repaint } from "./style.ts";
import { TrackGround } from "./track-ground.ts";

/** What the page provides to the map. */
export interface MapParts {
  readonly table: DeviceTable;
  readonly api: Pick<Api, "get" | "fetch" | "retries" | "pageHeader">;
  readonly theme: ThemeName;
  readonly settings: { readonly units: Units };
  /** Whether the user may read all devices, not only those of a share link. */
  readonly mayRead: () => boolean;
  /** Draws the panels again. */
  readonly changed: () => void;
}

const NO_WEBGL =
  "The map can't be shown: this browser does not support WebGL. The list and the details work without it.";
const LOST = "Redrawing the map after the browser reset its graphics.";

/** How often the map checks whether dots and tails have aged. */
const AGING_MS = 5000;

/** How long after the last key of a search the map follows. */
const SHOW_MS = 150;

/** A sheet that covers more than this share of the map is being read, so the map does not move for it. */
const COVER_SHARE_MAX = 0.6;

/** Dots over the heatmap: still visible, and what lies below as well. */
const DOT_FADE = 0.16;

const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The map: every device as a dot, and the overlays of other parts. It is created once its element is on the page; calls
 * before that are remembered. All state survives a loss of the WebGL context.
 */
export class MapView {
  /** On the page as long as a user is signed in. */
  readonly element = document.createElement("div");
  readonly #parts: MapParts;
  readonly #buffer = new DotBuffer();
  readonly #tails = new TailBuffer();
  readonly #clusters = new ClusterMarks(this.#buffer, () => this.#density !== null);
  readonly #clicks = new MapClicks(this.element, this.#buffer, {
    targetAt: (pixel) => this.#clusters.targetAt(pixel),
    open: (target) => this.flyTo(target),
  });
  readonly #pace = new GlidePace(REDUCED_MOTION);
  readonly #dotFade = new Fade(REDUCED_MOTION, 1);
  readonly #overlays = new Overlays();
  readonly #ground = new TrackGround(location.origin);
  readonly #names: DeviceNames;
  readonly #speedLegend = new SpeedLegend();
  readonly #camera: MapCamera;
  readonly streetsHint: StreetsHint;
  #map: MapLibreMap | null = null;
  #scale: ScaleControl | null = null;
  #headMarker: Marker | null = null;
  #createHead: ((map: MapLibreMap) => Marker) | null = null;
  #baseMap: BaseMap | null = null;
  #hasLayers = false;
  #showing: ReturnType<typeof setTimeout> | undefined;
  /** Null while no frame is scheduled. */
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #colors: MapColors = readMapColors();
  #theme: ThemeName;
  #fault: string | null = null;
  #remedy: Remedy | null = null;
  #chosenRow: number | null = null;
  /** When dots were last checked for their age, Unix ms. */
  #agedMs = Date.now();
  #density: DensityCells | null = null;
  #head: Head | null = null;
  #covering: Element | null = null;
  #isPaused = false;
  readonly #coverObserver = new ResizeObserver(() => this.#makeRoom());

  constructor(parts: MapParts) {
    this.#parts = parts;
    this.#theme = parts.theme;
    const chosenRow = () => this.#chosenRow;
    const areFaded = () => this.#density !== null;
    const pace = this.#pace;
    this.#names = new DeviceNames({ table: parts.table, buffer: this.#buffer, chosenRow, areFaded, pace });
    this.#camera = new MapCamera(parts.changed);
    this.streetsHint = new StreetsHint(this, parts.changed);
    this.element.className = "map-canvas";
    REDUCED_MOTION.addEventListener("change", () => this.#setMotion());
    parts.table.onChange((change) => this.#update(change));
    this.#update({ kind: "all" });
    void this.#begin();
  }

  /** Why there is no map. */
  get fault(): string | null {
    return this.#fault;
  }

  /** What helps if there is no map; null if nothing does. */
  get remedy(): Remedy | null {
    return this.#remedy;
  }

  /** Null until it is loaded. */
  get baseMap(): BaseMap | null {
    return this.#baseMap;
  }

  /** Null while there is no map. */
  get camera(): Camera | null {
    return this.#camera.camera;
  }

  onCamera(listener: CameraListener): () => void {
    return this.#camera.onCamera(listener);
  }

  onHand(listener: () => void): () => void {
    return this.#camera.onHand(listener);
  }

  /** Calls the listener with the place at the mouse; with null when it leaves the map. */
  onHover(listener: (at: Place | null) => void): () => void {
    return this.#clicks.onHover(listener);
  }

  onPick(listener: PickListener): () => void {
    return this.#clicks.onPick(listener);
  }

  fitAll(): void {
    this.#camera.fitAll(this.#parts.table);
  }

  fit(bounds: Bounds, zoomMax?: number): void {
    this.#camera.fit(bounds, zoomMax);
  }

  flyTo(target: CameraTarget, isAnimated = true): void {
    this.#camera.flyTo(target, isAnimated);
  }

  /** Whether the user, or the address, has moved the map. */
  get isPlaced(): boolean {
    return this.#camera.isChosen;
  }

  get isFollowing(): boolean {
    return this.#camera.isFollowing;
  }

  /** Keeps the chosen device, or its playback, in the center until the user moves the map. */
  follow(isFollowing: boolean): void {
    this.#camera.follow(isFollowing);
    this.#followChosen();
  }

  choose(row: number | null): void {
    if (row === this.#chosenRow) return;
    this.#chosenRow = row;
    this.#names.update();
    if (row === null) this.follow(false);
    this.#followChosen();
    this.#map?.triggerRepaint();
  }

  takeNextClick(handler: ((at: Place) => void) | null): void {
    this.#clicks.takeNext(handler);
  }

  setDay(day: DayShape | null): void {
    this.#overlays.setDay(day);
    const hasUnknown = day?.pieces.some(({ band }) => band === null);
    this.#speedLegend.show(day?.scale ?? null, hasUnknown);
  }

  /** Draws the lines that lead to several devices. */
  setTrails(lines: readonly (readonly Position[])[]): void {
    this.#overlays.setTrails(lines);
  }

  setDirections(marks: readonly DirectionMark[]): void {
    this.#overlays.setDirections(marks);
  }

  setMoment(mark: MomentMark | null): void {
    this.#overlays.setMoment(mark);
  }

  setHead(head: Head | null): void {
    this.#head = head;
    this.#followChosen();
    if (this.#map === null || this.#createHead === null) return;
    if (head === null) {
      this.#headMarker?.remove();
      this.#headMarker = null;
      return;
    }
    this.#headMarker ??= this.#createHead(this.#map);
    this.#headMarker.setLngLat([head.longitude, head.latitude]).setRotation(head.bearing ?? 0);
    this.#headMarker.getElement().classList.toggle("is-pointing", head.bearing !== null);
  }

  /** Shows a circle, and marks the devices in it. */
  setCircle(circle: Circle | null, rows: Iterable<number> = []): void {
    this.#overlays.setCircle(circle);
    this.#buffer.mark(new Set(rows), this.#parts.table);
    this.#map?.triggerRepaint();
  }

  /** Shows the way of a file that may be imported. */
  setPreview(lines: readonly (readonly Position[])[]): void {
    this.#overlays.setPreview(lines);
  }

  setDensity(cells: DensityCells | null): void {
    this.#density = cells;
    this.#dotFade.moveTo(cells === null ? 1 : DOT_FADE, performance.now());
    this.#names.update();
    this.#clusters.update();
    this.#map?.triggerRepaint();
  }

  /** Shows where devices have been as the ground of cities without streets. Without it nothing of that stays here. */
  showTracks(isShown: boolean): void {
    this.#ground.show(isShown);
  }

  /** Paints the map in another theme, without loading anything. The page's style sheets must have the theme already. */
  setTheme(theme: ThemeName): void {
    if (theme === this.#theme) return;
    this.#theme = theme;
    this.#colors = readMapColors();
    if (this.#map === null || !this.#hasLayers) return;
    this.#paint(this.#map);
    this.#clusters.paint(this.#colors);
    this.#names.paint(this.#colors);
    this.#overlays.paint(this.#colors);
  }

  /** Shows lengths in the units of the settings. */
  setUnits(): void {
    this.#scale?.setUnit(this.#parts.settings.units === "metric" ? "metric" : "imperial");
  }

  /** Lets live devices move on without drawing them, while something else covers the map. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!isPaused) this.#map?.triggerRepaint();
  }

  /** Keeps the map's center clear of an element that covers its lower end. */
  keepClearOf(element: Element | null): void {
    if (element === this.#covering) return;
    this.#covering = element;
    this.#coverObserver.disconnect();
    if (element !== null) this.#coverObserver.observe(element);
  }

  async #begin(): Promise<void> {
    const { api } = this.#parts;
    const creating = new LateModule(api, "map/create-map.ts", () => import("./create-map.ts"));
    const load = () => Promise.all([api.get<BaseMap>("/map/base.json"), creating.load()]);
    let loaded: Awaited<ReturnType<typeof load>>;
    try {
      loaded = await api.retries.ask(load, {
        signal: new AbortController().signal, // Retries as long as the page is open.
        onPause: (error) =>
          this.#setFault(`The map can't be loaded. ${retryingSentenceOf(error)}`, {
            label: "Try now",
            act: () => api.retries.wake(),
          }),
      });
    } catch (error) {
      const remedy = { label: "Reload the page", act: () => location.reload() };
      this.#setFault(`The map can't be loaded. ${sentenceOf(error)}`, remedy);
      return;
    }
    const [baseMap, creation] = loaded;
    this.#setFault(null);
    await hasSize(this.element);
    this.#baseMap = baseMap;
    this.#createHead = creation.createHead;
    try {
      this.#scale = creation.createScale();
      this.#map = creation.createMap(this.element, this.#style(baseMap), this.#scale, api.pageHeader);
      this.setUnits();
    } catch {
      this.#setFault(NO_WEBGL);
      return;
    }
    this.#map.addControl(this.#speedLegend, "bottom-left");
    this.#listen(this.#map);
    this.#makeRoom();
    this.#camera.use(this.#map);
    this.#followChosen(); // The device may have moved while the map was loading.
    void this.#loadTails(Date.now());
    this.setHead(this.#head);
    setInterval(() => this.#growOlder(), AGING_MS);
  }

  /** Draws the map again if a dot or a tail looks older now. */
  #growOlder(): void {
    const nowMs = Date.now();
    if (this.#isPaused) return;
    if (!this.#tails.isEmpty || this.#buffer.hasAged(this.#agedMs, nowMs)) this.#map?.triggerRepaint();
    this.#agedMs = nowMs;
  }

  #makeRoom(): void {
    const { bottom, height } = this.element.getBoundingClientRect();
    const cover = this.#covering?.getBoundingClientRect();
    const pixels = cover === undefined || cover.height === 0 ? 0 : Math.max(0, bottom - cover.top);
    const bottomPixels = Math.min(pixels, height * COVER_SHARE_MAX);
    this.element.style.setProperty("--covered", `${bottomPixels}px`);
    if (this.#map !== null && this.#map.getPadding().bottom !== bottomPixels)
      this.#map.setPadding({ bottom: bottomPixels });
  }

  #listen(map: MapLibreMap): void {
    // In a microtask, since MapLibre swallows exceptions of this event's listeners.
    map.on("style.load", () => queueMicrotask(() => this.#addLayers(map)));
    map.on("webglcontextlost", () => {
      this.#clusters.leave();
      this.#names.leave();
      this.#overlays.leave();
      this.#ground.leave();
      this.#hasLayers = false;
      this.#setFault(LOST);
    });
    map.on("webglcontextrestored", () => this.#setFault(null));
    this.#retryTiles(map);
    this.#clicks.listenTo(map);
    const card = new HoverCard({ ...this.#parts, buffer: this.#buffer });
    card.addTo(map);
    this.#clicks.onPoint((row, pixel) => card.show(row, pixel));
  }

  /** Loads failed tiles again, which MapLibre by itself does not. */
  #retryTiles(map: MapLibreMap): void {
    const { retries } = this.#parts.api;
    const holes = new Map<string, ICanonicalTileID[]>(); // By source.
    let failures = 0;
    map.on("error", async ({ error, sourceId, tile }: TileFailure) => {
      if (sourceId === undefined || tile === undefined) {
        console.error(error); // MapLibre does this if there is no listener.
        return;
      }
      const isFirst = holes.size === 0;
      holes.set(sourceId, [...(holes.get(sourceId) ?? []), tile.tileID.canonical]);
      if (!isFirst) return;
      await retries.pause(++failures, null, new AbortController().signal, () => undefined);
      const missing = [...holes];
      holes.clear();
      for (const [source, tiles] of missing)
        if (map.getSource(source) !== undefined) map.refreshTiles(source, tiles);
    });
    map.on("idle", () => {
      if (holes.size === 0) failures = 0;
    });
  }

  /** Adds our layers to a style that has just been loaded, at the start or after a loss of the WebGL context. */
  #addLayers(map: MapLibreMap): void {
    this.#hasLayers = true;
    this.#paint(map);
    // Of the base map alone: a restored style has symbols of ours too, which are replaced.
    const labels = this.#style(this.#baseMap!).layers.find(({ type }) => type === "symbol")?.id;
    map.addLayer(new DensityLayer(() => ({ cells: this.#density, colors: this.#colors })), labels);
    this.#clusters.addTo(map, this.#colors);
    this.#ground.addTo(map, this.#groundLook(), "density");
    this.#names.addTo(map, this.#colors);
    this.#overlays.addTo(map, this.#colors, labels);
    const tails = new TailsLayer(() => ({
      tails: this.#tails,
      pace: this.#pace,
      hasClusters: this.#clusters.isShowing,
      dots: this.#buffer,
      colors: this.#colors,
      fade: this.#dotFade,
      nowMs: Date.now(),
    }));
    const scene = (): DotScene => ({
      buffer: this.#buffer,
      colors: this.#colors,
      chosenRow: this.#chosenRow,
      pace: this.#pace,
      fade: this.#dotFade,
      nowMs: Date.now(),
    });
    map.addLayer(tails, labels);
    map.addLayer(new DotsLayer(scene), labels);
    map.addLayer(new ChosenDotLayer(scene));
  }

  /** Paints the base map in the theme's colors. */
  #paint(map: MapLibreMap): void {
    repaint(map, this.#style(this.#baseMap!).layers);
  }

  #groundLook() {
    const { streets } = this.#baseMap!;
    return { theme: this.#theme, streets: streets === null ? null : fromFillingZoom(streets) };
  }

  #style(baseMap: BaseMap): StyleSpecification {
    return mapStyle(this.#theme, baseMap, location.origin);
  }

  #update(change: TableChange): void {
    const { table } = this.#parts;
    if (change.kind === "shown") {
      this.#showSoon();
      return;
    }
    const hadDevices = this.#buffer.size > 0;
    this.#setMotion();
    this.#updateDots(change);
    if (hadDevices && table.size === 0) this.#camera.forget();
    this.#camera.beginWith(table);
    if (change.kind === "all") void this.#loadTails(Date.now());
    this.#followChosen();
    this.#clusters.update();
    this.#names.update();
    this.#drawSoon();
  }

  #updateDots(change: TableChange): void {
    const { table } = this.#parts;
    const pageMs = performance.now();
    const unixMs = Date.now();
    this.#tails.update(table, change, this.#buffer, { pageMs, unixMs });
    this.#buffer.update(table, change, pageMs);
  }

  /** Adds the tails of the time before the page saw the devices, as far as this map shows them. */
  async #loadTails(nowMs: number): Promise<void> {
    const { api, table, mayRead } = this.#parts;
    const { camera } = this;
    if (camera === null || !mayRead()) return;
    await loadPastTails(api, table, this.#tails, { nowMs, pixelMeters: pixelMetersAt(camera) });
    this.#drawSoon();
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

  /** Follows the playback if it is shown, else the device. */
  #followChosen(): void {
    if (this.#head !== null) {
      this.#camera.keepInMiddle(this.#head, 0);
      return;
    }
    const { latitude, longitude, size } = this.#parts.table;
    const row = this.#chosenRow;
    if (row === null || row >= size) return;
    this.#camera.keepInMiddle({ latitude: latitude[row]!, longitude: longitude[row]! }, this.#buffer.glideMs);
  }

  #setMotion(): void {
    this.#buffer.glideMs = this.#pace.glideMs(performance.now());
  }

  #setFault(fault: string | null, remedy: Remedy | null = null): void {
    this.#fault = fault;
    this.#remedy = remedy;
    this.#parts.changed();
  }
}

/** The error event of a source, which names the tile. */
type TileFailure = ErrorEvent & {
  readonly sourceId?: string;
  readonly tile?: { readonly tileID: { readonly canonical: ICanonicalTileID } };
};

/** Resolves once the element is on the page. */
function hasSize(element: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === 0) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
}

/** The map, or why there is none. */
export function mapPanel({ element, fault, remedy }: MapView): TemplateResult {
  return html`${element}${fault === null ? nothing : faultNote(fault, remedy, "no-map")}`;
}
