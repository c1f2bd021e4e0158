import type { GeoJSONSource, MapLibreMap } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";

const EMPTY: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** Sources of the map whose data parts of the page set. They keep it until there is a map, and over a lost context. */
export class GeoSources<Name extends string> {
  readonly #data: Record<Name, GeoJSON.FeatureCollection>;
  #map: MapLibreMap | null = null;

  constructor(names: readonly Name[]) {
    this.#data = Object.fromEntries(names.map((name) => [name, EMPTY])) as Record<Name, typeof EMPTY>;
  }

  /** Adds the sources once the map's style is loaded. */
  addTo(map: MapLibreMap): void {
    this.#map = map;
    for (const [name, data] of Object.entries<GeoJSON.FeatureCollection>(this.#data)) {
      if (map.getSource(name) === undefined) map.addSource(name, { type: "geojson", data });
      else map.getSource<GeoJSONSource>(name)!.setData(data);
    }
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
  }

  set(name: Name, features: GeoJSON.Feature[]): void {
    this.#data[name] = { type: "FeatureCollection", features };
    this.#map?.getSource<GeoJSONSource>(name)?.setData(this.#data[name]);
  }
}

export function feature(
  geometry: GeoJSON.Geometry,
  properties: GeoJSON.GeoJsonProperties = null,
): GeoJSON.Feature {
  return { type: "Feature", geometry, properties };
}

export function point(
  { longitude, latitude }: Place,
  properties: GeoJSON.GeoJsonProperties,
): GeoJSON.Feature {
  return feature({ type: "Point", coordinates: [longitude, latitude] }, properties);
}
