import type { ExpressionSpecification } from "maplibre-gl";
import { WORLD_SIZE, worldY } from "../geo/world.ts";
import type { TileMap } from "./base-map.ts";

/*
 * What an extract of a map covers. Its tiles reach beyond its bounds: that of zoom 0 is the whole world.
 */

/** The map from the zoom on at which its bounds fill about a tile; before, its tiles end in the middle of a view. */
export function fromFillingZoom(map: TileMap): TileMap {
  const [west, south, east, north] = map.bounds;
  const share = Math.max((east - west) / 360, (worldY(south) - worldY(north)) / WORLD_SIZE);
  const zoom = Math.floor(-Math.log2(share));
  return { ...map, minzoom: Math.min(map.maxzoom, Math.max(map.minzoom, zoom)) };
}

/** Points in its bounds, at the zooms that it has. */
export function isCoveredBy({
  bounds: [west, south, east, north],
  minzoom,
}: TileMap): ExpressionSpecification {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return ["all", [">=", ["zoom"], minzoom], ["within", { type: "Polygon", coordinates: [corners] }]];
}
