import type { ExpressionSpecification } from "maplibre-gl";
import { WORLD_SIZE, worldY } from "../geo/world.ts";

/** The answer of `/map/base.json`: the world, and the operator's streets if there are any. */
export interface BaseMap {
  readonly world: TileMap;
  readonly streets: TileMap | null;
}

export interface TileMap {
  /** A path with `{z}`, `{x}` and `{y}`. */
  readonly tiles: string;
  readonly minzoom: number;
  readonly maxzoom: number;
  readonly bounds: readonly [west: number, south: number, east: number, north: number];
  /** The bounds of each file; one file has only one. */
  readonly areas: readonly TileMap["bounds"][];
  readonly credits: readonly Credit[];
}

/** A piece of the attribution: plain text, and where it links to. */
export interface Credit {
  readonly text: string;
  readonly url: string | null;
}

/**
 * Raises the map's lowest zoom to the one at which its bounds fill about a tile. An extract's tiles reach beyond its
 * bounds, at zoom 0 over the whole world, so at lower zooms their detail would end in the middle of a view.
 */
export function fromFillingZoom(map: TileMap): TileMap {
  const [west, south, east, north] = map.bounds;
  const share = Math.max((east - west) / 360, (worldY(south) - worldY(north)) / WORLD_SIZE);
  const zoom = Math.floor(-Math.log2(share));
  return { ...map, minzoom: Math.min(map.maxzoom, Math.max(map.minzoom, zoom)) };
}

/** A filter for points within the bounds and the zooms of a map. */
export function isCoveredBy({ areas, minzoom }: TileMap): ExpressionSpecification {
  const coordinates = areas.map(([west, south, east, north]) => [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ]);
  return ["all", [">=", ["zoom"], minzoom], ["within", { type: "MultiPolygon", coordinates }]];
}
