import { html, nothing, type TemplateResult } from "lit-html";
import type { ErrorEvent, ICanonicalTileID, MapLibreMap, Marker, StyleSpecification } from "maplibre-gl";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { DeviceTable, TableChange } from "../devices/device-table.ts";
import type { Bounds } from "../geo/bounds.ts";
import type { Place } from "../geo/earth.ts";
import type { Units } from "../geo/units.ts";
import { type DensityCells, DensityLayer } from "../gl/density-layer.ts";
import { DotBuffer } from "../gl/dot-buffer.ts";
import { DotsLayer } from "../gl/dots-layer.ts";
import { GlidePace } from "../gl/glide-pace.ts";
import { type MapColors, readMapColors } from "../gl/map-colors.ts";
import type { Head } from "../history/track.ts";
import type { ThemeName } from "../shell/theme.ts";
import type { BaseMap } from "./base-map.ts";
import { type Camera, type CameraListener, type CameraTarget, MapCamera } from "./map-camera.ts";
import { MapClicks, type PickListener } from "./map-clicks.ts";
import { type Circle, type DayShape, Overlays } from "./overlays.ts";
import { mapStyle, repaint } from "./style.ts";

/** What the map takes from the page. */
export interface MapParts {
  readonly table: DeviceTable;
  readonly api: Pick<Api, "get" | "fetch" | "retries">;
  readonly theme: ThemeName;
  readonly units: Units;
  /** Something that panels show is another. */
  readonly changed: () => void;
}

const NO_WEBGL =
  "There is no map here: this browser gives no WebGL to draw it with. The list and the details work without.";
const LOST = "The map is being drawn anew: the browser took its graphics away for a moment.";

/** Dots become older without anybody telling: this often they are looked at. */
const AGING_MS = 5000;

/** After what was typed last, the map shows what it finds. */
const SHOW_MS = 150;

/** A sheet over more than this share of the map is there to be read: the map stays where it is. */
const COVER_SHARE_MAX = 0.6;

const REDUCED_MOTION = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The map: every device as a dot, and what other parts want drawn over it. It begins when its element has a place on
 * the page; what it is told before is kept, and so is everything through a loss of the graphics.
 */
export class MapView {
  /** Stands in the page for as long as somebody is signed in. */
  readonly element = document.createElement("div");
  readonly #parts: MapParts;
  readonly #buffer = new DotBuffer();
  readonly #clicks = new MapClicks(this.element, this.#buffer);
  readonly #pace = new GlidePace(REDUCED_MOTION);
  readonly #overlays = new Overlays();
  readonly #camera: MapCamera;
  #map: MapLibreMap | null = null;
  #headMarker: Marker | null = null;
  #createHead: ((map: MapLibreMap) => Marker) | null = null;
  #baseMap: BaseMap | null = null;
  /** Whether our layers are on the map. */
  #isDressed = false;
  #showing: ReturnType<typeof setTimeout> | undefined;
  /** Null while no frame is waited for. */
  #drawing: ReturnType<typeof setTimeout> | null = null;
  #colors: MapColors = readMapColors();
  #theme: ThemeName;
  #fault: string | null = null;
  #chosenRow: number | null = null;
  /** Up to when dots were seen to age, Unix ms. */
  #agedMs = Date.now();
  #density: DensityCells | null = null;
  #head: Head | null = null;
  #covering: Element | null = null;
  readonly #coverObserver = new ResizeObserver(() => this.#makeRoom());

  constructor(parts: MapParts) {
    this.#parts = parts;
    this.#theme = parts.theme;
    this.#camera = new MapCamera(parts.changed);
    this.element.className = "map-canvas";
    REDUCED_MOTION.addEventListener("change", () => this.#setMotion());
    parts.table.onChange((change) => this.#take(change));
    this.#take({ kind: "all" });
    void this.#begin();
  }

  /** Why there is no map. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Null while there is no map. */
  get camera(): Camera | null {
    return this.#camera.camera;
  }

  onCamera(listener: CameraListener): () => void {
    return this.#camera.onCamera(listener);
  }

  /** Hears when the user's own hand begins to move the map. */
  onHand(listener: () => void): () => void {
    return this.#camera.onHand(listener);
  }

  /** Hears which device was clicked, and where; the row is null where none was near. */
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

  get isFollowing(): boolean {
    return this.#camera.isFollowing;
  }

  /** Keeps the chosen device in the middle, or its playback, until somebody moves the map. */
  follow(isFollowing: boolean): void {
    this.#camera.follow(isFollowing);
    this.#followChosen();
  }

  choose(row: number | null): void {
    if (row === this.#chosenRow) return;
    this.#chosenRow = row;
    if (row === null) this.follow(false);
    this.#followChosen();
    this.#map?.triggerRepaint();
  }

  /** The next click, or Enter for the middle, is for the handler, and chooses no device. */
  takeNextClick(handler: ((at: Place) => void) | null): void {
    this.#clicks.takeNext(handler);
  }

  setDay(day: DayShape | null): void {
    this.#overlays.setDay(day);
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

  /** A circle, with the rows of the devices in it. */
  setCircle(circle: Circle | null, rows: Iterable<number> = []): void {
    this.#overlays.setCircle(circle);
    this.#buffer.mark(new Set(rows), this.#parts.table);
    this.#map?.triggerRepaint();
  }

  setDensity(cells: DensityCells | null): void {
    this.#density = cells;
    this.#map?.triggerRepaint();
  }

  /** Once the page's style sheets have it. Paints what there is anew; nothing is loaded again. */
  setTheme(theme: ThemeName): void {
    if (theme === this.#theme) return;
    this.#theme = theme;
    this.#colors = readMapColors();
    if (this.#map === null || !this.#isDressed) return;
    this.#paint(this.#map);
    this.#overlays.paint(this.#colors);
  }

  /** What lies over the lower end of the map: its middle is that of what is left. */
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
        signal: new AbortController().signal, // It tries for as long as the page is open.
        onPause: (error) => this.#setFault(`The map can't be loaded. ${retryingSentenceOf(error)}`),
      });
    } catch (error) {
      this.#setFault(`The map can't be loaded. ${sentenceOf(error)}`);
      return;
    }
    const [baseMap, creation] = loaded;
    this.#setFault(null);
    await hasSize(this.element);
    this.#baseMap = baseMap;
    this.#createHead = creation.createHead;
    try {
      this.#map = creation.createMap(this.element, this.#style(baseMap), this.#parts.units);
    } catch {
      this.#setFault(NO_WEBGL);
      return;
    }
    this.#listen(this.#map);
    this.#makeRoom();
    this.#camera.use(this.#map);
    this.#followChosen(); // It may have moved since it was looked for.
    this.setHead(this.#head);
    setInterval(() => this.#growOlder(), AGING_MS);
  }

  /** Dots are drawn again where one of them looks older than it did. */
  #growOlder(): void {
    const nowMs = Date.now();
    if (this.#buffer.hasAged(this.#agedMs, nowMs)) this.#map?.triggerRepaint();
    this.#agedMs = nowMs;
  }

  #makeRoom(): void {
    const { bottom, height } = this.element.getBoundingClientRect();
    const cover = this.#covering?.getBoundingClientRect();
    const pixels = cover === undefined || cover.height === 0 ? 0 : Math.max(0, bottom - cover.top);
    const kept = Math.min(pixels, height * COVER_SHARE_MAX);
    this.element.style.setProperty("--covered", `${kept}px`);
    if (this.#map !== null && this.#map.getPadding().bottom !== kept) this.#map.setPadding({ bottom: kept });
  }

  #listen(map: MapLibreMap): void {
    // Later, since MapLibre swallows what is thrown while a style is being loaded.
    map.on("style.load", () => queueMicrotask(() => this.#dress(map)));
    map.on("webglcontextlost", () => {
      this.#overlays.leave();
      this.#isDressed = false;
      this.#setFault(LOST);
    });
    map.on("webglcontextrestored", () => this.#setFault(null));
    this.#retryTiles(map);
    this.#clicks.listenTo(map);
  }

  /** Loads tiles again that could not be loaded: MapLibre by itself leaves a hole. */
  #retryTiles(map: MapLibreMap): void {
    const { retries } = this.#parts.api;
    const holes = new Map<string, ICanonicalTileID[]>(); // By source.
    let failures = 0;
    map.on("error", async ({ error, sourceId, tile }: TileFailure) => {
      if (sourceId === undefined || tile === undefined) {
        console.error(error); // As MapLibre does if nobody listens.
        return;
      }
      const isFirst = holes.size === 0;
      holes.set(sourceId, [...(holes.get(sourceId) ?? []), tile.tileID.canonical]);
      if (!isFirst) return;
      await retries.pause(++failures, null, new AbortController().signal, () => undefined);
      const missing = [...holes];
      holes.clear();
      for (const [source, tiles] of missing) map.refreshTiles(source, tiles);
    });
    map.on("idle", () => {
      if (holes.size === 0) failures = 0;
    });
  }

  /** Puts our layers on a style that has just been loaded: on the first, and on that after a loss of the graphics. */
  #dress(map: MapLibreMap): void {
    this.#isDressed = true;
    this.#paint(map);
    const labels = map.getStyle().layers.find(({ type }) => type === "symbol")?.id;
    map.addLayer(new DensityLayer(() => ({ cells: this.#density, colors: this.#colors })), labels);
    this.#overlays.addTo(map, this.#colors, labels);
    const dots = new DotsLayer(() => ({
      buffer: this.#buffer,
      colors: this.#colors,
      chosenRow: this.#chosenRow,
      pace: this.#pace,
      nowMs: Date.now(),
    }));
    map.addLayer(dots);
  }

  /** Gives the base map the theme's colors. */
  #paint(map: MapLibreMap): void {
    repaint(map, this.#style(this.#baseMap!).layers);
  }

  #style(baseMap: BaseMap): StyleSpecification {
    return mapStyle(this.#theme, baseMap, location.origin);
  }

  #take(change: TableChange): void {
    const { table } = this.#parts;
    if (change.kind === "shown") {
      this.#showSoon();
      return;
    }
    const hadDevices = this.#buffer.size > 0;
    this.#setMotion();
    this.#buffer.take(table, change, performance.now());
    if (hadDevices && table.size === 0) this.#camera.forget();
    this.#camera.beginWith(table);
    this.#followChosen();
    this.#drawSoon();
  }

  /** At once, unless to draw takes so long that there would be no time for anything else. */
  #drawSoon(): void {
    const waitMs = this.#pace.waitMs(performance.now());
    if (waitMs === 0) this.#map?.triggerRepaint();
    else
      this.#drawing ??= setTimeout(() => {
        this.#drawing = null;
        this.#map?.triggerRepaint();
      }, waitMs);
  }

  /** The filter lets others by. The list comes first, and each letter of what is typed would be a frame of all dots. */
  #showSoon(): void {
    clearTimeout(this.#showing);
    this.#showing = setTimeout(() => {
      this.#buffer.take(this.#parts.table, { kind: "shown" }, performance.now());
      this.#map?.triggerRepaint();
    }, SHOW_MS);
  }

  /** Where its playback stands, while that is shown; else where it is. */
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

  #setFault(fault: string | null): void {
    this.#fault = fault;
    this.#parts.changed();
  }
}

/** The error event of a source names the tile. */
type TileFailure = ErrorEvent & {
  readonly sourceId?: string;
  readonly tile?: { readonly tileID: { readonly canonical: ICanonicalTileID } };
};

/** Once the element has a place on the page. */
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
export function mapPanel({ element, fault }: MapView): TemplateResult {
  return html`${element}${fault === null ? nothing : html`<p class="no-map" role="status">${fault}</p>`}`;
}
