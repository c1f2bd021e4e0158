import type { ExpressionSpecification, SymbolLayerSpecification } from "maplibre-gl";
import type { Palette } from "./palette.ts";

/* Parts of layers that the world, the streets and our own overlays share: expressions, filters and texts. */

/** A number that grows with the zoom, from stop to stop. */
export function byZoom(
  ...stops: readonly (readonly [zoom: number, value: number])[]
): ExpressionSpecification {
  return ["interpolate", ["linear"], ["zoom"], ...stops.flat()] as unknown as ExpressionSpecification;
}

/** Almost like a width on the ground, which would double with each zoom. */
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

type Layout = NonNullable<SymbolLayerSpecification["layout"]>;
type Paint = NonNullable<SymbolLayerSpecification["paint"]>;

/*
 * Letters come from the machine's own fonts, since the style names no `glyphs`. MapLibre takes weight and slant from
 * the name of the first font; the first is only there for that, and the second is drawn.
 */
export const REGULAR = ["system-ui"];
export const MEDIUM = ["Label Medium", "system-ui"];
export const ITALIC = ["Label Italic", "system-ui"];

/** OpenStreetMap has names in the language of the place, and mostly one in English. */
export const NAME: ExpressionSpecification = ["coalesce", ["get", "name:en"], ["get", "name"]];

/** Text of a color, readable on whatever is under it. */
export function textPaint({ halo }: Palette, color: string): Paint {
  return { "text-color": color, "text-halo-color": halo, "text-halo-width": 1.4, "text-halo-blur": 0.4 };
}

/** Each place has a zoom from which on there is room for its name. */
export const IN_ZOOM: ExpressionSpecification = ["<=", ["to-number", ["get", "min_zoom"], 0], ["zoom"]];

/** The most people first. */
export const LARGEST_FIRST: ExpressionSpecification = ["-", 0, ["to-number", ["get", "population_rank"], 0]];

/** A place's name grows with its people. */
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

/** In the middle of what is named. */
export const CENTERED: Layout = { "text-max-width": 8, "text-line-height": 1.15, "text-padding": 4 };

/** There, or a little beside it where there is no room. */
export const MOVABLE: Layout = {
  ...CENTERED,
  "text-variable-anchor": ["center", "top", "bottom", "left", "right"],
  "text-radial-offset": 0.5,
  "text-justify": "auto",
};
