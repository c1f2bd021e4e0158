import type { LngLat, MapLibreMap, MapMouseEvent } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";
import { WORLD_SIZE, worldX, worldY } from "../geo/world.ts";
import type { DotBuffer } from "../gl/dot-buffer.ts";
import { worldPixels } from "../gl/gl-layer.ts";
import type { CameraTarget } from "./map-camera.ts";

export type PickListener = (row: number | null, at: Place) => void;

interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** `pixel` is where the mouse is on the map. */
export type PointListener = (row: number | null, pixel: Pixel) => void;

/** The circles that stand for many dots. */
export interface ClickedClusters {
  targetAt(pixel: Pixel): CameraTarget | null;
  open(target: CameraTarget): void;
}

/** The largest distance of a click from a dot, in pixels. */
const PICK_PIXELS = 12;
const TOUCH_PIXELS = 24;

/** Clicks on the map choose the nearest device, unless a handler takes the next click. */
export class MapClicks {
  readonly #element: HTMLElement;
  readonly #buffer: DotBuffer;
  readonly #clusters: ClickedClusters;
  readonly #pickListeners = new Set<PickListener>();
  readonly #hoverListeners = new Set<(at: Place | null) => void>();
  readonly #pointListeners = new Set<PointListener>();
  #handler: ((at: Place) => void) | null = null;
  #isIgnoring = false;

  /** The element has the class `is-aiming` while a handler waits for the next click. */
  constructor(element: HTMLElement, buffer: DotBuffer, clusters: ClickedClusters) {
    this.#element = element;
    this.#buffer = buffer;
    this.#clusters = clusters;
  }

  /** Calls the listener with the clicked device and position; the row is null if no device is near. */
  onPick(listener: PickListener): () => void {
    this.#pickListeners.add(listener);
    return () => this.#pickListeners.delete(listener);
  }

  /** Calls the listener with the place at the mouse, once a frame at most; with null when it leaves the map. */
  onHover(listener: (at: Place | null) => void): () => void {
    this.#hoverListeners.add(listener);
    return () => this.#hoverListeners.delete(listener);
  }

  /** Calls the listener with the device under the mouse, once a frame at most; touches don't hover. */
  onPoint(listener: PointListener): () => void {
    this.#pointListeners.add(listener);
    return () => this.#pointListeners.delete(listener);
  }

  /** Passes the next click, or the map's center on Enter, to the handler instead of choosing a device. */
  takeNext(handler: ((at: Place) => void) | null): void {
    this.#handler = handler;
    this.#element.classList.toggle("is-aiming", handler !== null);
  }

  /** Neither chooses nor points at devices while another tool has the pointer. */
  ignore(isIgnoring: boolean): void {
    this.#isIgnoring = isIgnoring;
  }

  listenTo(map: MapLibreMap): void {
    let frame = 0;
    const tell = (at: Place | null) => {
      for (const listener of this.#hoverListeners) listener(at);
    };
    map.on("mousemove", ({ lngLat }) => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => tell(placeOf(lngLat)));
    });
    map.on("mouseout", () => {
      cancelAnimationFrame(frame);
      tell(null); // At once, or it would undo what the mouse points at next.
    });
    this.#listenToPointer(map);
    map.on("click", (event) => this.#click(map, event));
    map.getCanvas().addEventListener("keydown", ({ key }) => {
      if (key === "Enter" && this.#handler !== null) this.#handle(map.getCenter());
    });
  }

  #listenToPointer(map: MapLibreMap): void {
    const canvas = map.getCanvas();
    let frame = 0;
    const point = (row: number | null, pixel: Pixel, isOver = row !== null) => {
      this.#element.classList.toggle("is-over-dot", isOver);
      for (const listener of this.#pointListeners) listener(row, pixel);
    };
    canvas.addEventListener("pointermove", ({ pointerType, buttons, offsetX: x, offsetY: y }) => {
      cancelAnimationFrame(frame);
      if (pointerType === "touch") return;
      frame = requestAnimationFrame(() => {
        if (buttons !== 0 || this.#handler !== null || this.#isIgnoring) point(null, { x, y });
        else if (this.#clusters.targetAt({ x, y }) !== null) point(null, { x, y }, true);
        else point(this.#nearest(map, map.unproject([x, y]), PICK_PIXELS), { x, y });
      });
    });
    for (const leave of ["pointerdown", "pointerleave"] as const)
      canvas.addEventListener(leave, ({ offsetX: x, offsetY: y }) => {
        cancelAnimationFrame(frame);
        point(null, { x, y });
      });
  }

  #nearest(map: MapLibreMap, { lng, lat }: LngLat, pixels: number): number | null {
    const reach = (pixels / worldPixels(map)) * WORLD_SIZE;
    return this.#buffer.nearest(worldX(lng), worldY(lat), reach, performance.now());
  }

  #click(map: MapLibreMap, { lngLat, point, originalEvent }: MapMouseEvent): void {
    if (this.#isIgnoring) return;
    if (this.#handler !== null) {
      this.#handle(lngLat);
      return;
    }
    const cluster = this.#clusters.targetAt(point);
    if (cluster !== null) {
      this.#clusters.open(cluster);
      return;
    }
    const isTouch = originalEvent instanceof PointerEvent && originalEvent.pointerType === "touch";
    const row = this.#nearest(map, lngLat, isTouch ? TOUCH_PIXELS : PICK_PIXELS);
    for (const listener of this.#pickListeners) listener(row, placeOf(lngLat));
  }

  #handle(at: LngLat): void {
    const handler = this.#handler;
    this.takeNext(null);
    handler?.(placeOf(at));
  }
}

/** A place of MapLibre, with the longitude in its range. */
export function placeOf(at: LngLat): Place {
  const { lat, lng } = at.wrap();
  return { latitude: lat, longitude: lng };
}
