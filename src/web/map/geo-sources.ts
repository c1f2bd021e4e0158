import type { GeoJSONSource, MapLibreMap } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";

const EMPTY: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** Sources of the map whose data parts of the page set. They keep it until there is a map, and over a lost context. */
export class GeoSources<Name extends string> {
  readonly #data: Record<Name, GeoJSON.FeatureCollection>;
  readonly #changing: Name | null;
  #map: MapLibreMap | null = null;

  /** Features of the source `changing` have ids as properties; it can be changed in part. */
  constructor(names: readonly Name[], changing: Name | null = null) {
    this.#changing = changing;
    this.#data = Object.fromEntries(names.map((name) => [name, EMPTY])) as Record<Name, typeof EMPTY>;
  }

  /** Adds the sources once the map's style is loaded. */
  addTo(map: MapLibreMap): void {
    this.#map = map;
    for (const [name, data] of Object.entries<GeoJSON.FeatureCollection>(this.#data)) {
      const ids = name === this.#changing ? { promoteId: "id" } : {};
      if (map.getSource(name) === undefined) map.addSource(name, { type: "geojson", data, ...ids });
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

  /** Adds or replaces features, and removes others, without handing all of them to MapLibre again. */
  change(name: Name, added: readonly GeoJSON.Feature[], removedIds: readonly string[]): void {
    if (added.length === 0 && removedIds.length === 0) return;
    const byId = new Map(this.#data[name].features.map((each) => [each.properties!.id as string, each]));
    for (const id of removedIds) byId.delete(id);
    for (const each of added) byId.set(each.properties!.id as string, each);
    this.#data[name] = { type: "FeatureCollection", features: [...byId.values()] };
    void this.#map?.getSource<GeoJSONSource>(name)?.updateData({ add: [...added], remove: [...removedIds] });
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
