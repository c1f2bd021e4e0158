import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from "maplibre-gl";
import { colorText, type MapColors } from "../gl/map-colors.ts";
import { MEDIUM, ROUND } from "./layer-parts.ts";

/* Geofences on the map: areas, corridors, names, and where events happened. */

export const FENCE_SOURCES = ["fences", "fence-chosen", "fence-events", "day-events"] as const;

/** A width at zoom 0 is doubled by each zoom. */
const ZOOM_MAX = 22;

const IS_LINE: FilterSpecification = ["==", ["geometry-type"], "LineString"];
const IS_AREA: FilterSpecification = ["!=", ["geometry-type"], "LineString"];

/** Below the names of places. */
export function fenceAreaLayers(colors: MapColors): LayerSpecification[] {
  const color = fenceColor(colors);
  const isActive: ExpressionSpecification = ["get", "active"];
  const ground = (source: string, opacity: number): LayerSpecification[] => [
    {
      id: `${source}-areas`,
      type: "fill",
      source,
      filter: IS_AREA,
      paint: { "fill-color": color, "fill-opacity": opacity, "fill-antialias": false },
    },
    {
      id: `${source}-corridors`,
      type: "line",
      source,
      filter: IS_LINE,
      layout: ROUND,
      paint: { "line-color": color, "line-opacity": opacity, "line-width": byGroundWidth() },
    },
  ];
  return [
    ...ground("fences", 0.12),
    {
      id: "fences-edges",
      type: "line",
      source: "fences",
      layout: ROUND,
      paint: { "line-color": color, "line-width": 1.5, "line-opacity": ["case", isActive, 0.9, 0.4] },
    },
    ...ground("fence-chosen", 0.22),
    {
      id: "fence-chosen-edges",
      type: "line",
      source: "fence-chosen",
      layout: ROUND,
      paint: { "line-color": color, "line-width": 3.5 },
    },
  ];
}

/** Over everything else. */
export function fenceMarkLayers(colors: MapColors): LayerSpecification[] {
  const [edge, text] = [colorText(colors.edge), colorText(colors.text)];
  const byKind: ExpressionSpecification = [
    "match",
    ["get", "kind"],
    "enter",
    colorText(colors.fresh),
    "exit",
    colorText(colors.aging),
    colorText(colors.old),
  ];
  return [
    {
      id: "fence-names",
      type: "symbol",
      source: "fences",
      filter: [">=", ["zoom"], ["get", "named_from"]],
      layout: {
        "text-field": ["get", "name"],
        "text-font": MEDIUM,
        "text-size": 12,
        "text-max-width": 9,
        "text-padding": 6,
      },
      paint: { "text-color": text, "text-halo-color": edge, "text-halo-width": 1.6 },
    },
    ...["day-events", "fence-events"].map(
      (source): LayerSpecification => ({
        id: `${source}-dots`,
        type: "circle",
        source,
        paint: {
          "circle-radius": 5.5,
          "circle-color": byKind,
          "circle-stroke-color": edge,
          "circle-stroke-width": 2,
        },
      }),
    ),
  ];
}

/** Its own color, or else the accent. */
function fenceColor({ accent }: MapColors): ExpressionSpecification {
  return ["case", ["==", ["get", "color"], ""], colorText(accent), ["get", "color"]];
}

/** The width of a corridor, as wide as it is on the ground. */
function byGroundWidth(): ExpressionSpecification {
  const width: ExpressionSpecification = ["get", "width"];
  return ["interpolate", ["exponential", 2], ["zoom"], 0, width, ZOOM_MAX, ["*", width, 2 ** ZOOM_MAX]];
}
