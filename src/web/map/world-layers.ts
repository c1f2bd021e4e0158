import type { ExpressionSpecification, LayerSpecification } from "maplibre-gl";
import { isCoveredBy, type TileMap } from "./base-map.ts";
import {
  all,
  byZoom,
  CENTERED,
  IN_ZOOM,
  ITALIC,
  LARGEST_FIRST,
  MEDIUM,
  MOVABLE,
  ofKind,
  placeSize,
  REGULAR,
  ROUND,
  textPaint,
} from "./layer-parts.ts";
import type { Palette } from "./palette.ts";

/* Layers for the world map that is part of the program; data/map/README.md describes its content. */

export const WORLD_CREDITS = [
  link("https://www.naturalearthdata.com/", "Natural Earth"),
  `${link("https://www.geonames.org/", "GeoNames")} (${link("https://creativecommons.org/licenses/by/4.0/", "CC BY 4.0")})`,
].join(", ");

function link(href: string, text: string): string {
  return `<a href="${href}" target="_blank" rel="noopener noreferrer">${text}</a>`;
}

const WORLD = { source: "world" } as const;

export function worldShapes(palette: Palette): LayerSpecification[] {
  const { land, water, river, countryBorder, regionBorder } = palette;
  return [
    { id: "world-land", type: "fill", ...WORLD, "source-layer": "earth", paint: { "fill-color": land } },
    {
      id: "world-rivers",
      type: "line",
      ...WORLD,
      "source-layer": "water",
      minzoom: 3,
      filter: ofKind("river"),
      layout: ROUND,
      paint: { "line-color": river, "line-width": byZoom([3, 0.4], [6, 1], [10, 2.4]) },
    },
    {
      id: "world-lakes",
      type: "fill",
      ...WORLD,
      "source-layer": "water",
      filter: ofKind("lake"),
      paint: { "fill-color": water },
    },
    {
      id: "world-region-borders",
      type: "line",
      ...WORLD,
      "source-layer": "boundaries",
      minzoom: 4,
      filter: ofKind("region"),
      layout: { "line-join": "round" },
      paint: {
        "line-color": regionBorder,
        "line-width": byZoom([4, 0.6], [9, 1.4]),
        "line-dasharray": [3, 2],
      },
    },
    {
      id: "world-country-borders",
      type: "line",
      ...WORLD,
      "source-layer": "boundaries",
      filter: ofKind("country"),
      layout: { "line-join": "round" },
      paint: { "line-color": countryBorder, "line-width": byZoom([1, 0.5], [5, 1], [9, 1.8]) },
    },
  ];
}

/** Labels, the least important first, since MapLibre gives later layers precedence. */
export function worldLabels(palette: Palette, streets: TileMap | null): LayerSpecification[] {
  // The streets' file has its own labels, and no place may have two.
  const outside: ExpressionSpecification[] = streets === null ? [] : [["!", isCoveredBy(streets)]];
  const places = { ...WORLD, type: "symbol", "source-layer": "places" } as const;
  return [
    {
      id: "world-seas",
      ...WORLD,
      type: "symbol",
      "source-layer": "water",
      maxzoom: 9,
      filter: all(ofKind("ocean", "sea"), IN_ZOOM, ...outside),
      layout: {
        ...CENTERED,
        "text-field": ["get", "name"],
        "text-font": ITALIC,
        "text-letter-spacing": 0.08,
        "text-size": byZoom([1, 10], [4, 12.5], [8, 15]),
        "symbol-sort-key": ["get", "min_zoom"],
      },
      paint: textPaint(palette, palette.waterText),
    },
    {
      id: "world-quarters",
      ...places,
      minzoom: 9,
      filter: all(ofKind("neighbourhood"), IN_ZOOM, ...outside),
      layout: {
        ...CENTERED,
        "text-field": ["get", "name"],
        "text-font": REGULAR,
        "text-size": byZoom([9, 10], [14, 13]),
        "symbol-sort-key": LARGEST_FIRST,
      },
      paint: textPaint(palette, palette.smallText),
    },
    {
      id: "world-places",
      ...places,
      minzoom: 2,
      filter: all(ofKind("locality"), IN_ZOOM, ...outside),
      layout: {
        ...MOVABLE,
        "text-field": ["get", "name"],
        "text-font": ["case", ["has", "capital"], ["literal", MEDIUM], ["literal", REGULAR]],
        "text-size": placeSize(10.5, 15),
        "symbol-sort-key": LARGEST_FIRST,
      },
      paint: textPaint(palette, palette.placeText),
    },
    {
      id: "world-countries",
      ...places,
      maxzoom: 8,
      filter: all(ofKind("country"), IN_ZOOM, ...outside),
      layout: {
        ...CENTERED,
        "text-field": ["get", "name"],
        "text-font": MEDIUM,
        "text-transform": "uppercase",
        "text-letter-spacing": 0.12,
        "text-size": byZoom([1, 9], [4, 11], [7, 14]),
        "symbol-sort-key": ["get", "min_zoom"],
      },
      paint: textPaint(palette, palette.countryText),
    },
  ];
}
