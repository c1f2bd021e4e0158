import type { ExpressionSpecification, LayerSpecification, LineLayerSpecification } from "maplibre-gl";
import { isCoveredBy, type TileMap } from "./base-map.ts";
import {
  all,
  byScale,
  byZoom,
  CENTERED,
  IN_ZOOM,
  ITALIC,
  LARGEST_FIRST,
  MEDIUM,
  MOVABLE,
  NAME,
  ofKind,
  placeSize,
  REGULAR,
  ROUND,
  textPaint,
} from "./layer-parts.ts";
import type { Palette } from "./palette.ts";

/* Layers for an extract of a Protomaps basemap, version 4. */

const STREETS = { source: "streets" } as const;

const GREEN = ["park", "nature_reserve", "national_park", "protected_area", "forest", "wood", "golf_course"];
const MORE_GREEN = ["cemetery", "grass", "grassland", "scrub", "recreation_ground", "pitch", "playground"];
const BUILT = [
  "residential",
  "commercial",
  "industrial",
  "school",
  "university",
  "college",
  "hospital",
  "railway",
];

const AREA: ExpressionSpecification = ["==", ["geometry-type"], "Polygon"];
const LINE: ExpressionSpecification = ["==", ["geometry-type"], "LineString"];

export function streetAreas({ land, built, park, water, building }: Palette): LayerSpecification[] {
  return [
    area("land", "earth", land, AREA),
    area("built", "landuse", built, all(AREA, ofKind(...BUILT))),
    area("parks", "landuse", park, all(AREA, ofKind(...GREEN, ...MORE_GREEN))),
    area("water", "water", water, AREA),
    area("buildings", "buildings", building, AREA, 14),
  ];
}

function area(
  id: string,
  layer: string,
  color: string,
  filter: ExpressionSpecification,
  minzoom = 0,
): LayerSpecification {
  const paint = { "fill-color": color };
  return { id: `street-${id}`, type: "fill", ...STREETS, "source-layer": layer, minzoom, filter, paint };
}

interface Road {
  readonly id: string;
  readonly filter: ExpressionSpecification;
  readonly minzoom: number;
  readonly color: "path" | "rail" | "road" | "motorway";
  /** In pixels at zoom 6, 12 and 18. */
  readonly widths: readonly [number, number, number];
}

const IS_LINK: ExpressionSpecification = ["==", ["get", "is_link"], true];
const IS_TUNNEL: ExpressionSpecification = ["==", ["get", "is_tunnel"], true];
const IN_TOWN: ExpressionSpecification = [
  "in",
  ["get", "kind_detail"],
  ["literal", ["secondary", "tertiary"]],
];

const RAMPS = all(ofKind("highway", "major_road"), IS_LINK);
const MEDIUM_ROADS = all(ofKind("major_road"), IN_TOWN, ["!", IS_LINK]);
const MAJOR_ROADS = all(ofKind("major_road"), ["!", IN_TOWN], ["!", IS_LINK]);
const MOTORWAYS = all(ofKind("highway"), ["!", IS_LINK]);

/** Lines without an edge. */
const WAYS: readonly Road[] = [
  { id: "paths", filter: ofKind("path"), minzoom: 14, color: "path", widths: [0, 0.5, 4] },
  { id: "rails", filter: ofKind("rail"), minzoom: 10, color: "rail", widths: [0.3, 0.8, 3] },
];

/** Lines with an edge, the least important first. */
const ROADS: readonly Road[] = [
  { id: "minor", filter: ofKind("minor_road", "other"), minzoom: 12, color: "road", widths: [0, 0.8, 16] },
  { id: "ramps", filter: RAMPS, minzoom: 11, color: "road", widths: [0, 0.8, 14] },
  { id: "medium", filter: MEDIUM_ROADS, minzoom: 9, color: "road", widths: [0, 1.6, 22] },
  { id: "major", filter: MAJOR_ROADS, minzoom: 7, color: "road", widths: [0.4, 2.4, 26] },
  { id: "motorways", filter: MOTORWAYS, minzoom: 5, color: "motorway", widths: [0.8, 3, 30] },
];

/** All edges lie below all roads, so that crossings are open. */
export function streetLines(palette: Palette): LayerSpecification[] {
  const { countryBorder, regionBorder, river, roadEdge } = palette;
  return [
    line("rivers", "water", all(LINE, ofKind("river", "canal", "stream")), 9, {
      "line-color": river,
      "line-width": byZoom([9, 0.6], [14, 2.4]),
    }),
    ...WAYS.map((way) => road(way, palette[way.color], 0)),
    ...ROADS.map((way) => road({ ...way, id: `${way.id}-edge`, minzoom: way.minzoom + 1 }, roadEdge, 1)),
    ...ROADS.map((way) => road(way, palette[way.color], 0)),
    line("region-borders", "boundaries", ofKind("region"), 4, {
      "line-color": regionBorder,
      "line-width": byZoom([4, 0.6], [9, 1.4]),
      "line-dasharray": [3, 2],
    }),
    line("country-borders", "boundaries", ofKind("country"), 0, {
      "line-color": countryBorder,
      "line-width": byZoom([1, 0.5], [5, 1], [9, 1.8]),
    }),
  ];
}

/** `edge` pixels wider on both sides. */
function road({ id, filter, minzoom, widths }: Road, color: string, edge: number): LayerSpecification {
  const [far, middle, near] = widths.map((width) => width + 2 * edge);
  const width = byScale([6, far!], [12, middle!], [18, near!]);
  return line(id, "roads", filter, minzoom, {
    "line-color": color,
    "line-width": width,
    "line-opacity": ["case", IS_TUNNEL, 0.35, 1],
  });
}

function line(
  id: string,
  layer: string,
  filter: ExpressionSpecification,
  minzoom: number,
  paint: NonNullable<LineLayerSpecification["paint"]>,
): LayerSpecification {
  return {
    id: `street-${id}`,
    type: "line",
    ...STREETS,
    "source-layer": layer,
    minzoom,
    filter,
    layout: ROUND,
    paint,
  };
}

/** Labels, the least important first, since MapLibre gives later layers precedence. */
export function streetLabels(palette: Palette, streets: TileMap): LayerSpecification[] {
  const { smallText, placeText, waterText, countryText } = palette;
  const places = { ...STREETS, type: "symbol", "source-layer": "places" } as const;
  const isShown = all(IN_ZOOM, isCoveredBy(streets)); // The world's labels cover the rest.
  return [
    {
      id: "street-road-names",
      ...STREETS,
      type: "symbol",
      "source-layer": "roads",
      minzoom: 13,
      filter: ofKind("highway", "major_road", "minor_road"),
      layout: {
        "symbol-placement": "line",
        "text-field": NAME,
        "text-font": REGULAR,
        "text-size": byZoom([13, 10.5], [18, 14]),
        "symbol-sort-key": ["to-number", ["get", "min_zoom"], 0],
      },
      paint: textPaint(palette, smallText),
    },
    {
      id: "street-water-names",
      ...STREETS,
      type: "symbol",
      "source-layer": "water",
      minzoom: 1,
      filter: all(["==", ["geometry-type"], "Point"], ["has", "name"], isShown),
      layout: {
        ...CENTERED,
        "text-field": NAME,
        "text-font": ITALIC,
        "text-size": byZoom([6, 10.5], [14, 13]),
      },
      paint: textPaint(palette, waterText),
    },
    {
      id: "street-quarters",
      ...places,
      minzoom: 11,
      filter: all(ofKind("neighbourhood", "macrohood"), isShown),
      layout: {
        ...CENTERED,
        "text-field": NAME,
        "text-font": REGULAR,
        "text-size": byZoom([11, 10.5], [15, 13]),
      },
      paint: textPaint(palette, smallText),
    },
    {
      id: "street-places",
      ...places,
      filter: all(ofKind("locality"), isShown),
      layout: {
        ...MOVABLE,
        "text-field": NAME,
        "text-font": ["case", ["has", "capital"], ["literal", MEDIUM], ["literal", REGULAR]],
        "text-size": placeSize(10.5, 15),
        "symbol-sort-key": LARGEST_FIRST,
      },
      paint: textPaint(palette, placeText),
    },
    {
      id: "street-countries",
      ...places,
      maxzoom: 8,
      filter: all(ofKind("country"), isShown),
      layout: {
        ...CENTERED,
        "text-field": NAME,
        "text-font": MEDIUM,
        "text-transform": "uppercase",
        "text-letter-spacing": 0.12,
        "text-size": byZoom([1, 9], [4, 11], [7, 14]),
      },
      paint: textPaint(palette, countryText),
    },
  ];
}
