import type { MapLibreMap } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";
import type { MapColors } from "../gl/map-colors.ts";
import { FENCE_SOURCES, fenceAreaLayers, fenceMarkLayers } from "./fence-layers.ts";
import { GeoSources, point } from "./geo-sources.ts";
import { repaint } from "./style.ts";

/** Where an event of a geofence happened. */
export interface EventMark extends Place {
  readonly kind: string;
}

const AREAS = ["fence-chosen-areas", "fences-areas", "fence-chosen-corridors", "fences-corridors"];

/** The geofences on the map. */
export class FenceMarks {
  readonly #sources = new GeoSources(FENCE_SOURCES, "fences");
  readonly #begun: ((map: MapLibreMap) => void)[] = [];
  #map: MapLibreMap | null = null;

  /** Adds the layers once the map's style is loaded: areas below the given layer, marks on top. */
  addTo(map: MapLibreMap, colors: MapColors, below: string | undefined): void {
    this.#map = map;
    for (const { id } of layersIn(colors)) if (map.getLayer(id) !== undefined) map.removeLayer(id);
    this.#sources.addTo(map);
    for (const layer of fenceAreaLayers(colors)) map.addLayer(layer, below);
    for (const layer of fenceMarkLayers(colors)) map.addLayer(layer);
    for (const begin of this.#begun.splice(0)) begin(map);
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
    this.#sources.leave();
  }

  paint(colors: MapColors): void {
    if (this.#map !== null) repaint(this.#map, layersIn(colors));
  }

  /** Adds or replaces geofences, and takes others off the map. */
  change(added: readonly GeoJSON.Feature[], removedIds: readonly string[]): void {
    this.#sources.change("fences", added, removedIds);
  }

  setChosen(feature: GeoJSON.Feature | null): void {
    this.#sources.set("fence-chosen", feature === null ? [] : [feature]);
  }

  /** Shows an event of a preview. */
  setEvents(marks: readonly EventMark[]): void {
    this.#sources.set("fence-events", marks.map(eventPoint));
  }

  /** Shows the events of a device's day. */
  setDayEvents(marks: readonly EventMark[]): void {
    this.#sources.set("day-events", marks.map(eventPoint));
  }

  /** The id of the smallest geofence on top of a place that the map shows; null if there is none. */
  idAt({ longitude, latitude }: Place): string | null {
    const map = this.#map;
    if (map === null) return null;
    const layers = AREAS.filter((id) => map.getLayer(id) !== undefined);
    const [top] = map.queryRenderedFeatures(map.project([longitude, latitude]), { layers });
    const id: unknown = top?.properties.id;
    return typeof id === "string" && id !== "" ? id : null;
  }

  /** Calls the function with the map, for tools that draw on it; once there is one. */
  withMap(begin: (map: MapLibreMap) => void): void {
    if (this.#map === null) this.#begun.push(begin);
    else begin(this.#map);
  }
}

function eventPoint(mark: EventMark): GeoJSON.Feature {
  return point(mark, { kind: mark.kind });
}

function layersIn(colors: MapColors) {
  return [...fenceAreaLayers(colors), ...fenceMarkLayers(colors)];
}
