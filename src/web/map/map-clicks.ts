import type { LngLat, MapLibreMap, MapMouseEvent } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";
import { WORLD_SIZE, worldX, worldY } from "../geo/world.ts";
import type { DotBuffer } from "../gl/dot-buffer.ts";
import { worldPixels } from "../gl/gl-layer.ts";

export type PickListener = (row: number | null, at: Place) => void;

/** How far from a dot a click may be, in pixels. */
const PICK_PIXELS = 12;
const TOUCH_PIXELS = 24;

/** What clicks on the map are for: they choose the device that is near, unless somebody has asked for the next one. */
export class MapClicks {
  readonly #element: HTMLElement;
  readonly #buffer: DotBuffer;
  readonly #pickListeners = new Set<PickListener>();
  #taker: ((at: Place) => void) | null = null;

  /** The element is marked while the next click is somebody's. */
  constructor(element: HTMLElement, buffer: DotBuffer) {
    this.#element = element;
    this.#buffer = buffer;
  }

  /** Hears which device was clicked, and where; the row is null where none was near. */
  onPick(listener: PickListener): () => void {
    this.#pickListeners.add(listener);
    return () => this.#pickListeners.delete(listener);
  }

  /** The next click, or Enter for the middle, is for the handler, and chooses no device. */
  takeNext(handler: ((at: Place) => void) | null): void {
    this.#taker = handler;
    this.#element.classList.toggle("is-aiming", handler !== null);
  }

  listenTo(map: MapLibreMap): void {
    map.on("click", (event) => this.#click(map, event));
    map.getCanvas().addEventListener("keydown", ({ key }) => {
      if (key === "Enter" && this.#taker !== null) this.#give(map.getCenter());
    });
  }

  #click(map: MapLibreMap, { lngLat, originalEvent }: MapMouseEvent): void {
    if (this.#taker !== null) {
      this.#give(lngLat);
      return;
    }
    const isTouch = originalEvent instanceof PointerEvent && originalEvent.pointerType === "touch";
    const reach = ((isTouch ? TOUCH_PIXELS : PICK_PIXELS) / worldPixels(map)) * WORLD_SIZE;
    const row = this.#buffer.nearest(worldX(lngLat.lng), worldY(lngLat.lat), reach, performance.now());
    for (const listener of this.#pickListeners) listener(row, placeOf(lngLat));
  }

  #give(at: LngLat): void {
    const taker = this.#taker;
    this.takeNext(null);
    taker?.(placeOf(at));
  }
}

function placeOf(at: LngLat): Place {
  const { lat, lng } = at.wrap();
  return { latitude: lat, longitude: lng };
}
