import type { ExpressionSpecification } from "maplibre-gl";

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

/** Features of these kinds. */
export function ofKind(...kinds: readonly string[]): ExpressionSpecification {
  return ["in", ["get", "kind"], ["literal", [...kinds]]];
}

export function all(...filters: readonly ExpressionSpecification[]): ExpressionSpecification {
  return ["all", ...filters];
}
