import {
  AttributionControl,
  type ErrorEvent,
  type ICanonicalTileID,
  MapLibreMap,
  Marker,
  NavigationControl,
  ScaleControl,
  type StyleSpecification,
  setWorkerUrl,
} from "maplibre-gl";
import type { Retries } from "../api/retries.ts";

/* The only module that imports MapLibre's code, so that the page works before it is loaded. */

setWorkerUrl(import.meta.resolve("maplibre-gl/worker"));

/** Street level: the base map has no more detail beyond. */
const ZOOM_MAX = 20;

/** A control that shows a length on the map. */
export function createScale(): ScaleControl {
  return new ScaleControl();
}

/**
 * Creates a map that can't tilt or rotate, since our own layers draw on a plane. Tiles of the API need the header of
 * the page's requests. Throws without WebGL.
 */
export function createMap(
  container: HTMLElement,
  style: StyleSpecification,
  scale: ScaleControl,
  headers: Readonly<Record<string, string>>,
): MapLibreMap {
  const map = new MapLibreMap({
    container,
    style,
    attributionControl: false,
    dragRotate: false,
    touchPitch: false,
    pitchWithRotate: false,
    maxPitch: 0,
    maxZoom: ZOOM_MAX,
    transformRequest: (url) =>
      url.startsWith(`${location.origin}/api/`) ? { url, headers: { ...headers } } : undefined,
    locale: { "Map.Title": "Map. Arrow keys move it, plus and minus zoom." },
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new AttributionControl({ compact: false }), "bottom-right");
  map.addControl(scale, "bottom-right");
  return map;
}

/** The error event of a source, which names the tile. */
type TileFailure = ErrorEvent & {
  readonly sourceId?: string;
  readonly tile?: { readonly tileID: { readonly canonical: ICanonicalTileID } };
};

/** Loads failed tiles again, which MapLibre by itself does not. */
export function retryTiles(map: MapLibreMap, retries: Retries): void {
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

/** The marker of the playback's position, with an arrow that CSS draws. */
export function createHead(map: MapLibreMap): Marker {
  const element = document.createElement("div");
  element.className = "map-head";
  element.setAttribute("aria-hidden", "true"); // The time bar has the same as text.
  return new Marker({ element, rotationAlignment: "map" }).setLngLat([0, 0]).addTo(map);
}

/** The handle that moves a position: a button, so that keys move it, too. CSS draws it. */
export function createHandle(map: MapLibreMap): Marker {
  const element = document.createElement("button");
  element.className = "map-handle";
  element.addEventListener("click", (event) => event.stopPropagation()); // Or it would be a click on the map.
  return new Marker({ element, draggable: true }).setLngLat([0, 0]).addTo(map);
}
