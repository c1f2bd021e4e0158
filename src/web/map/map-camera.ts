import type { MapLibreMap } from "maplibre-gl";
import type { DeviceTable } from "../devices/device-table.ts";
import { type Bounds, boundsOf } from "../geo/bounds.ts";
import { denseBoundsOf } from "../geo/dense-bounds.ts";
import type { Place } from "../geo/earth.ts";

export interface Camera extends Place {
  readonly zoom: number;
  readonly bounds: Bounds;
}

/** Called at the end of every move. `isChosen` is false until the user, or the address, has moved the map. */
export type CameraListener = (camera: Camera, isChosen: boolean) => void;

export interface CameraTarget extends Place {
  readonly zoom?: number;
}

/** How much of the map a card covers, in pixels, besides the sheet. */
export interface Covered {
  readonly left: number;
  readonly bottom: number;
}

type Padding = Readonly<Record<"top" | "right" | "bottom" | "left", number>>;

const UNCOVERED: Covered = { left: 0, bottom: 0 };

/** A card leaves this much of the map for fitted bounds, with their distances from the edges. */
const UNCOVERED_PIXELS_MIN = 260;

/** The distance between fitted bounds and the edges, in pixels. */
const FIT_PADDING = 56;
const NARROW_PIXELS_MAX = 520;
const NARROW_PADDING = 32;
/** Above the legend of speeds, with space for the duration under the lowest stop. */
const LEGEND_PADDING = 120;
/** Below the note about streets, on maps that are high enough. */
const NOTE_PADDING = 84;
const HIGH_PIXELS_MIN = 480;
/** A single device is shown with the streets around it. */
const FIT_ZOOM_MAX = 15;
const MOVE_MS = 700;

/** Moves the map, if the user wants it or follows a device. The last move waits until there is a map. */
export class MapCamera {
  readonly #changed: () => void;
  readonly #listeners = new Set<CameraListener>();
  readonly #handListeners = new Set<() => void>();
  #map: MapLibreMap | null = null;
  #pendingMove: ((map: MapLibreMap) => void) | null = null;
  #isChosen = false;
  #hasBegun = false;
  #isFollowing = false;
  #isZoomedByHand = false;
  #followed: Place | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether the user, or the address, has moved the map. */
  get isChosen(): boolean {
    return this.#isChosen;
  }

  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Null while there is no map. */
  get camera(): Camera | null {
    if (this.#map === null) return null;
    const { lat, lng } = this.#map.getCenter().wrap();
    const bounds = this.#map.getBounds();
    const [west, south, east, north] = [
      bounds.getWest(),
      bounds.getSouth(),
      bounds.getEast(),
      bounds.getNorth(),
    ];
    return { latitude: lat, longitude: lng, zoom: this.#map.getZoom(), bounds: { west, south, east, north } };
  }

  onCamera(listener: CameraListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when the user begins to move the map by hand. */
  onHand(listener: () => void): () => void {
    this.#handListeners.add(listener);
    return () => this.#handListeners.delete(listener);
  }

  use(map: MapLibreMap): void {
    this.#map = map;
    map.on("moveend", () => {
      const { camera } = this;
      if (camera !== null) for (const listener of this.#listeners) listener(camera, this.#isChosen);
    });
    map.on("resize", () => this.#centerAgain());
    map.on("dragstart", () => this.#leave());
    map.on("zoomstart", (event) => {
      this.#isZoomedByHand = event.originalEvent !== undefined;
      if (this.#isZoomedByHand) this.#movedByHand();
    });
    map.on("zoomend", () => {
      this.#isZoomedByHand = false;
    });
    map.getCanvas().addEventListener("keydown", ({ key }) => {
      if (key.startsWith("Arrow")) this.#leave();
    });
    this.#pendingMove?.(map); // Now that listeners hear of it.
    this.#pendingMove = null;
  }

  flyTo({ latitude, longitude, zoom }: CameraTarget, isAnimated = true, { left, bottom } = UNCOVERED): void {
    this.#move((map) =>
      map.easeTo({
        center: [longitude, latitude],
        zoom: zoom ?? map.getZoom(),
        duration: isAnimated ? MOVE_MS : 0,
        offset: [left / 2, -bottom / 2],
      }),
    );
  }

  fit(bounds: Bounds, zoomMax = FIT_ZOOM_MAX, covered = UNCOVERED): void {
    this.#move((map) => fitTo(map, bounds, MOVE_MS, Math.min(zoomMax, FIT_ZOOM_MAX), covered));
  }

  /** Shows all devices that match the filter, or all devices if none does. */
  fitAll(table: DeviceTable): void {
    const bounds = shownBounds(table, boundsOf);
    if (bounds !== null) this.fit(bounds);
  }

  /** Shows most devices once there are any, unless the user has moved the map. */
  beginWith(table: DeviceTable): void {
    if (this.#isChosen || this.#hasBegun) return;
    const bounds = shownBounds(table, denseBoundsOf);
    if (bounds === null) return;
    this.#hasBegun = true;
    this.#go((map) => fitTo(map, bounds, 0));
  }

  /** Forgets the user's moves at the end of a session. */
  forget(): void {
    this.#isChosen = false;
    this.#hasBegun = false;
    this.#pendingMove = null;
    this.follow(false);
  }

  follow(isFollowing: boolean): void {
    if (this.#isFollowing === isFollowing) return;
    this.#isFollowing = isFollowing;
    this.#isChosen ||= isFollowing;
    this.#followed = null;
    this.#changed();
  }

  /** Keeps a followed device in the center. The move takes as long as the move of its dot. */
  keepInMiddle({ latitude, longitude }: Place, glideMs: number): void {
    if (!this.#isFollowing || this.#isZoomedByHand || this.#map === null) return;
    if (this.#followed?.latitude === latitude && this.#followed.longitude === longitude) return;
    this.#followed = { latitude, longitude };
    this.#map.easeTo({ center: [longitude, latitude], duration: glideMs, easing: (share) => share });
  }

  /** A panel has grown or shrunk: a move that was under way has ended beside the new middle. */
  #centerAgain(): void {
    const place = this.#followed;
    this.#followed = null;
    if (place !== null) this.keepInMiddle(place, 0);
  }

  #move(move: (map: MapLibreMap) => void): void {
    this.#isChosen = true;
    this.#go(move);
  }

  #go(move: (map: MapLibreMap) => void): void {
    if (this.#map === null) {
      this.#pendingMove = move;
      return;
    }
    this.#map.resize(); // MapLibre notices a new size late, and would fit the bounds into the previous one.
    move(this.#map);
  }

  #leave(): void {
    this.#movedByHand();
    this.follow(false);
  }

  #movedByHand(): void {
    this.#isChosen = true;
    for (const listener of this.#handListeners) listener();
  }
}

/**
 * The distance between fitted bounds and each edge. The legend takes a part of the lower edge, on a narrow map most of
 * it; on a wide map that is low it may hide an end of a line.
 */
export function fitPadding(widthPixels: number, heightPixels: number): Padding {
  const isNarrow = widthPixels <= NARROW_PIXELS_MAX;
  const isHigh = heightPixels >= HIGH_PIXELS_MIN;
  return {
    top: isHigh ? NOTE_PADDING : FIT_PADDING,
    right: FIT_PADDING,
    bottom: isHigh || isNarrow ? LEGEND_PADDING : FIT_PADDING,
    left: isNarrow ? NARROW_PADDING : FIT_PADDING,
  };
}

function fitTo(
  map: MapLibreMap,
  { west, south, east, north }: Bounds,
  duration: number,
  maxZoom = FIT_ZOOM_MAX,
  { left, bottom } = UNCOVERED,
): void {
  const { clientWidth, clientHeight } = map.getContainer();
  const free = fitPadding(clientWidth, clientHeight);
  const bottomPixels = Math.max(0, Math.min(bottom, clientHeight - UNCOVERED_PIXELS_MIN));
  // The card covers the legend, too.
  const padding = {
    ...free,
    left: free.left + left,
    bottom: bottom === 0 ? free.bottom : bottomPixels + free.left,
  };
  map.fitBounds([west, south, east, north], { padding, maxZoom, duration });
}

/** The bounds of the devices that match the filter, or of all devices if none does. */
function shownBounds(
  table: DeviceTable,
  bound: (latitudes: Float64Array, longitudes: Float64Array) => Bounds | null,
): Bounds | null {
  const latitudes = table.latitude.subarray(0, table.size);
  const longitudes = table.longitude.subarray(0, table.size);
  const isShown = (_: number, row: number) => table.isShown(row);
  const bounds = table.isWhole ? null : bound(latitudes.filter(isShown), longitudes.filter(isShown));
  return bounds ?? bound(latitudes, longitudes);
}
