import {
  AttributionControl,
  MapLibreMap,
  Marker,
  NavigationControl,
  ScaleControl,
  type StyleSpecification,
  setWorkerUrl,
} from "maplibre-gl";
import type { Units } from "../geo/units.ts";

/* Everything of MapLibre that is more than a type: loaded while the rest of the page already works. */

setWorkerUrl(import.meta.resolve("maplibre-gl/worker"));

/** Street level; beyond, the base map has nothing more to show. */
const ZOOM_MAX = 20;

/** A map that never tilts or turns: our own layers draw on a plane. Throws where the browser has no WebGL. */
export function createMap(container: HTMLElement, style: StyleSpecification, units: Units): MapLibreMap {
  const map = new MapLibreMap({
    container,
    style,
    attributionControl: false,
    dragRotate: false,
    touchPitch: false,
    pitchWithRotate: false,
    maxPitch: 0,
    maxZoom: ZOOM_MAX,
    locale: { "Map.Title": "Map. Arrow keys move it, plus and minus zoom." },
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new AttributionControl({ compact: false }), "bottom-right");
  map.addControl(new ScaleControl({ unit: units === "metric" ? "metric" : "imperial" }), "bottom-right");
  return map;
}

/** Where the playback stands, with an arrow that CSS draws. */
export function createHead(map: MapLibreMap): Marker {
  const element = document.createElement("div");
  element.className = "map-head";
  element.setAttribute("aria-hidden", "true"); // The time line says the same in words.
  return new Marker({ element, rotationAlignment: "map" }).setLngLat([0, 0]).addTo(map);
}
