/** The part of d3-geo that tests use; it brings no types. */
declare module "d3-geo" {
  import type { MultiPolygon, Polygon } from "geojson";

  export function geoContains(geometry: Polygon | MultiPolygon, position: [number, number]): boolean;
  /** In steradians; the area is on the right of its rings. */
  export function geoArea(geometry: Polygon | MultiPolygon): number;
}
