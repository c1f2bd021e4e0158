import { html, nothing, type TemplateResult } from "lit-html";
import type { MapLibreMap, ScaleControl, StyleSpecification } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import type { Bounds } from "../geo/bounds.ts";
import type { Place, Position } from "../geo/earth.ts";
import type { Units } from "../geo/units.ts";
import type { DensityCells } from "../gl/density-grid.ts";
import { DensityLayer } from "../gl/density-layer.ts";
import { type MapColors, readMapColors } from "../gl/map-colors.ts";
import type { DirectionMark } from "../history/direction-marks.ts";
import type { MomentMark } from "../history/moment.ts";
import type { Head } from "../history/track.ts";
import { faultNote, type Remedy } from "../shell/fault-note.ts";
import type { ThemeName } from "../shell/theme.ts";
import { type BaseMap, fromFillingZoom } from "./base-map.ts";
import type { DayMark, MoveMark } from "./correction-layers.ts";
import type { DayShape } from "./day-layers.ts";
import { DeviceDots } from "./device-dots.ts";
import { FenceMarks } from "./fence-marks.ts";
import { HoverCard } from "./hover-card.ts";
import {
  type Camera,
  type CameraListener,
  type CameraTarget,
  type Covered,
  MapCamera,
} from "./map-camera.ts";
import { MapClicks, type PickListener } from "./map-clicks.ts";
import { type HandleListener, MapMarkers } from "./map-markers.ts";
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

/** A sheet that covers more than this share of the map is being read, so the map does not move for it. */
const COVER_SHARE_MAX = 0.6;

/**
 * The map: every device as a dot, and the overlays of other parts. It is created once its element is on the page; calls
 * before that are remembered. All state survives a loss of the WebGL context.
 */
export class MapView {
  /** On the page as long as a user is signed in. */
  readonly element = document.createElement("div");
  readonly #parts: MapParts;
  readonly #dots: DeviceDots;
  readonly #clicks: MapClicks;
  readonly #overlays = new Overlays();
  readonly #markers = new MapMarkers();
  readonly #ground = new TrackGround(location.origin);
  readonly #speedLegend = new SpeedLegend();
  readonly #camera: MapCamera;
  readonly streetsHint: StreetsHint;
  /** The geofences on it. */
  readonly fences = new FenceMarks();
  #map: MapLibreMap | null = null;
  #scale: ScaleControl | null = null;
  #baseMap: BaseMap | null = null;
  #hasLayers = false;
  #colors: MapColors = readMapColors();
  #theme: ThemeName;
  #fault: string | null = null;
  #remedy: Remedy | null = null;
  #density: DensityCells | null = null;
  #covering: Element | null = null;
  readonly #coverObserver = new ResizeObserver(() => this.#makeRoom());

  constructor(parts: MapParts) {
    this.#parts = parts;
    this.#theme = parts.theme;
    this.#camera = new MapCamera(parts.changed);
    const [colors, camera] = [() => this.#colors, () => this.camera];
    this.#dots = new DeviceDots({ ...parts, colors, camera });
    this.#clicks = new MapClicks(this.element, this.#dots.buffer, {
      targetAt: (pixel) => this.#dots.clusters.targetAt(pixel),
      open: (target) => this.flyTo(target),
    });
    this.streetsHint = new StreetsHint(this, parts.changed);
    this.element.className = "map-canvas";
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

  fit(bounds: Bounds, zoomMax?: number, covered?: Covered): void {
    this.#camera.fit(bounds, zoomMax, covered);
  }

  flyTo(target: CameraTarget, isAnimated = true, covered?: Covered): void {
    this.#camera.flyTo(target, isAnimated, covered);
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
    if (row === this.#dots.chosenRow) return;
    this.#dots.choose(row);
    if (row === null) this.follow(false);
    this.#followChosen();
  }

  takeNextClick(handler: ((at: Place) => void) | null): void {
    this.#clicks.takeNext(handler);
  }

  /** Ignores clicks while another tool takes them. */
  ignoreClicks(isIgnoring: boolean): void {
    this.#clicks.ignore(isIgnoring);
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

  /** Marks suspicious and selected positions of the day. */
  setDayMarks(marks: readonly DayMark[]): void {
    this.#overlays.setDayMarks(marks);
  }

  setHead(head: Head | null): void {
    this.#markers.setHead(head);
    this.#followChosen();
  }

  /** Shows where a position was and where it would be, with a handle to move it. */
  setMove(move: MoveMark | null): void {
    this.#overlays.setMove(move);
    this.#markers.setHandle(move === null ? null : { ...move.to, label: move.label });
  }

  onHandle(listener: HandleListener): void {
    this.#markers.onHandle(listener);
  }

  /** Gives the handle the focus. */
  focusHandle(): void {
    this.#markers.focusHandle();
  }

  /** Shows a circle, and marks the devices in it. */
  setCircle(circle: Circle | null, rows: Iterable<number> = []): void {
    this.#overlays.setCircle(circle);
    this.#dots.mark(rows);
  }

  /** Shows the way of a file that may be imported. */
  setPreview(lines: readonly (readonly Position[])[]): void {
    this.#overlays.setPreview(lines);
  }

  setDensity(cells: DensityCells | null): void {
    this.#density = cells;
    this.#dots.fade(cells !== null);
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
    this.#dots.paint(this.#colors);
    this.#overlays.paint(this.#colors);
    this.fences.paint(this.#colors);
  }

  /** Shows lengths in the units of the settings. */
  setUnits(): void {
    this.#scale?.setUnit(this.#parts.settings.units === "metric" ? "metric" : "imperial");
  }

  /** Lets live devices move on without drawing them, while something else covers the map. */
  pause(isPaused: boolean): void {
    this.#dots.pause(isPaused);
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
    creation.retryTiles(this.#map, api.retries);
    this.#makeRoom();
    this.#camera.use(this.#map);
    this.#followChosen(); // The device may have moved while the map was loading.
    this.#dots.use(this.#map);
    this.#markers.use(this.#map, creation);
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
      this.#dots.leave();
      this.#overlays.leave();
      this.fences.leave();
      this.#ground.leave();
      this.#hasLayers = false;
      this.#setFault(LOST);
    });
    map.on("webglcontextrestored", () => this.#setFault(null));
    this.#clicks.listenTo(map);
    const card = new HoverCard({ ...this.#parts, buffer: this.#dots.buffer });
    card.addTo(map);
    this.#clicks.onPoint((row, pixel) => card.show(row, pixel));
  }

  /** Adds our layers to a style that has just been loaded, at the start or after a loss of the WebGL context. */
  #addLayers(map: MapLibreMap): void {
    this.#hasLayers = true;
    this.#paint(map);
    // Of the base map alone: a restored style has symbols of ours too, which are replaced.
    const labels = this.#style(this.#baseMap!).layers.find(({ type }) => type === "symbol")?.id;
    map.addLayer(new DensityLayer(() => ({ cells: this.#density, colors: this.#colors })), labels);
    this.#ground.addTo(map, this.#groundLook(), "density");
    this.fences.addTo(map, this.#colors, labels);
    this.#dots.addLabels(map, this.#colors);
    this.#overlays.addTo(map, this.#colors, labels);
    this.#dots.addDots(map, labels);
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
    if (change.kind === "shown") {
      this.#dots.update(change);
      return;
    }
    const { table } = this.#parts;
    const hadDevices = this.#dots.buffer.size > 0;
    this.#dots.update(change);
    if (hadDevices && table.size === 0) this.#camera.forget();
    this.#camera.beginWith(table);
    if (change.kind === "all") void this.#dots.loadTails(Date.now());
    this.#followChosen();
  }

  /** Follows the playback if it is shown, else the device. */
  #followChosen(): void {
    const { head } = this.#markers;
    if (head !== null) {
      this.#camera.keepInMiddle(head, 0);
      return;
    }
    const { latitude, longitude, size } = this.#parts.table;
    const row = this.#dots.chosenRow;
    if (row === null || row >= size) return;
    this.#camera.keepInMiddle(
      { latitude: latitude[row]!, longitude: longitude[row]! },
      this.#dots.buffer.glideMs,
    );
  }

  #setFault(fault: string | null, remedy: Remedy | null = null): void {
    this.#fault = fault;
    this.#remedy = remedy;
    this.#parts.changed();
  }
}

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
