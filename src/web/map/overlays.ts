import type { GeoJSONSource, LayerSpecification, MapLibreMap } from "maplibre-gl";
import { circleShape } from "../geo/circle-shape.ts";
import { type Place, type Position, unwrapped } from "../geo/earth.ts";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import { MEDIUM } from "./layer-parts.ts";
import { repaint } from "./style.ts";

/** A device's day on the map. */
export interface DayShape {
  /** Lines break at gaps and jumps, where the route is unknown. */
  readonly lines: readonly (readonly Position[])[];
  readonly stops: readonly (Place & { readonly number: number })[];
}

export interface Circle extends Place {
  readonly radiusMeters: number;
}

type SourceName = "day-lines" | "day-stops" | "circle";

const EMPTY: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

/** A day's lines and stops, and a circle, over the base map. They survive a change of the style. */
export class Overlays {
  readonly #data: Record<SourceName, GeoJSON.FeatureCollection> = {
    "day-lines": EMPTY,
    "day-stops": EMPTY,
    circle: EMPTY,
  };
  #map: MapLibreMap | null = null;

  /**
   * Adds the layers once the map's style is loaded. After a loss of the WebGL context MapLibre restores sources and
   * layers, but not our custom layers between them, so the layers are replaced. Lines go below the given layer, stops
   * on top.
   */
  addTo(map: MapLibreMap, colors: MapColors, below: string | undefined): void {
    this.#map = map;
    for (const layer of layersIn(colors)) if (map.getLayer(layer.id) !== undefined) map.removeLayer(layer.id);
    for (const [name, data] of Object.entries(this.#data)) {
      if (map.getSource(name) === undefined) map.addSource(name, { type: "geojson", data });
      else map.getSource<GeoJSONSource>(name)!.setData(data);
    }
    for (const layer of layersIn(colors))
      map.addLayer(layer, layer.id.startsWith("stop") ? undefined : below);
  }

  /** Detaches from the map until `addTo`. */
  leave(): void {
    this.#map = null;
  }

  paint(colors: MapColors): void {
    if (this.#map !== null) repaint(this.#map, layersIn(colors));
  }

  setDay(day: DayShape | null): void {
    const lines = (day?.lines ?? []).map((line) => unwrapped(line));
    this.#set("day-lines", [feature({ type: "MultiLineString", coordinates: lines })]);
    this.#set(
      "day-stops",
      (day?.stops ?? []).map(({ longitude, latitude, number }) =>
        feature({ type: "Point", coordinates: [longitude, latitude] }, { number: String(number) }),
      ),
    );
  }

  setCircle(circle: Circle | null): void {
    const shape = circle === null ? null : circleShape(circle, circle.radiusMeters);
    const features = [
      feature({ type: "Polygon", coordinates: shape?.area ?? [] }),
      feature({ type: "LineString", coordinates: shape?.edge ?? [] }),
    ];
    this.#set("circle", shape === null ? [] : features);
  }

  #set(name: SourceName, features: GeoJSON.Feature[]): void {
    this.#data[name] = { type: "FeatureCollection", features };
    this.#map?.getSource<GeoJSONSource>(name)?.setData(this.#data[name]);
  }
}

function feature(geometry: GeoJSON.Geometry, properties: GeoJSON.GeoJsonProperties = null): GeoJSON.Feature {
  return { type: "Feature", geometry, properties };
}

function layersIn(colors: MapColors): LayerSpecification[] {
  const accent = colorText(colors.accent);
  const edge = colorText(colors.edge);
  const round = { "line-cap": "round", "line-join": "round" } as const;
  return [
    {
      id: "circle-area",
      type: "fill",
      source: "circle",
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "fill-color": accent, "fill-opacity": 0.1, "fill-antialias": false },
    },
    {
      id: "circle-edge",
      type: "line",
      source: "circle",
      filter: ["==", ["geometry-type"], "LineString"],
      paint: { "line-color": accent, "line-width": 2, "line-dasharray": [2, 1.5] },
    },
    {
      id: "day-edge",
      type: "line",
      source: "day-lines",
      layout: round,
      paint: { "line-color": edge, "line-width": 7, "line-opacity": 0.8 },
    },
    {
      id: "day-line",
      type: "line",
      source: "day-lines",
      layout: round,
      paint: { "line-color": accent, "line-width": 3.5 },
    },
    {
      id: "stop-rings",
      type: "circle",
      source: "day-stops",
      paint: {
        "circle-radius": 9,
        "circle-color": edge,
        "circle-stroke-color": accent,
        "circle-stroke-width": 2.5,
      },
    },
    {
      id: "stop-numbers",
      type: "symbol",
      source: "day-stops",
      layout: {
        "text-field": ["get", "number"],
        "text-font": MEDIUM,
        "text-size": 12,
        "text-allow-overlap": true,
        "text-ignore-placement": true,
      },
      paint: { "text-color": accent },
    },
  ];
}
