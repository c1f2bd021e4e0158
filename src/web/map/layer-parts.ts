import type { ExpressionSpecification, SymbolLayerSpecification } from "maplibre-gl";
import type { Palette } from "./palette.ts";

/* Expressions, filters and text styles that the world, the streets and our own overlays share. */

/** Interpolates linearly between zooms. */
export function byZoom(
  ...stops: readonly (readonly [zoom: number, value: number])[]
): ExpressionSpecification {
  return ["interpolate", ["linear"], ["zoom"], ...stops.flat()] as unknown as ExpressionSpecification;
}

/** Interpolates exponentially, almost like a width on the ground, which doubles with each zoom. */
export function byScale(
  ...stops: readonly (readonly [zoom: number, value: number])[]
): ExpressionSpecification {
  return [
    "interpolate",
    ["exponential", 1.6],
    ["zoom"],
    ...stops.flat(),
  ] as unknown as ExpressionSpecification;
}

/** A filter for features of these kinds. */
export function ofKind(...kinds: readonly string[]): ExpressionSpecification {
  return ["in", ["get", "kind"], ["literal", [...kinds]]];
}

export function all(...filters: readonly ExpressionSpecification[]): ExpressionSpecification {
  return ["all", ...filters];
}

/** Lines with round ends and corners. */
export const ROUND = { "line-cap": "round", "line-join": "round" } as const;

type Layout = NonNullable<SymbolLayerSpecification["layout"]>;
type Paint = NonNullable<SymbolLayerSpecification["paint"]>;

/*
 * Letters are drawn with the machine's fonts, since the style names no `glyphs`. MapLibre reads weight and slant from
 * the name of the first font and draws with the second.
 */
export const REGULAR = ["system-ui"];
export const MEDIUM = ["Label Medium", "system-ui"];
export const ITALIC = ["Label Italic", "system-ui"];

/** The English name, or else the local one: OpenStreetMap mostly has both. */
export const NAME: ExpressionSpecification = ["coalesce", ["get", "name:en"], ["get", "name"]];

/** Colored text with a halo, readable on any background. */
export function textPaint({ halo }: Palette, color: string): Paint {
  return { "text-color": color, "text-halo-color": halo, "text-halo-width": 1.4, "text-halo-blur": 0.4 };
}

/** A filter for features whose lowest zoom is reached. */
export const IN_ZOOM: ExpressionSpecification = ["<=", ["to-number", ["get", "min_zoom"], 0], ["zoom"]];

/** A sort key that puts places with more people first. */
export const LARGEST_FIRST: ExpressionSpecification = ["-", 0, ["to-number", ["get", "population_rank"], 0]];

/** A text size that increases with a place's population. */
export function placeSize(small: number, large: number): ExpressionSpecification {
  const size = (factor: number): ExpressionSpecification => [
    "interpolate",
    ["linear"],
    ["to-number", ["get", "population_rank"], 0],
    4,
    small * factor,
    13,
    large * factor,
  ];
  return ["interpolate", ["linear"], ["zoom"], 3, size(1), 12, size(1.35)];
}

/** The name is centered on its feature. */
export const CENTERED: Layout = { "text-max-width": 8, "text-line-height": 1.15, "text-padding": 4 };

/** The name is centered, or moves aside if there is no space. */
export const MOVABLE: Layout = {
  ...CENTERED,
  "text-variable-anchor": ["center", "top", "bottom", "left", "right"],
  "text-radial-offset": 0.5,
  "text-justify": "auto",
};
