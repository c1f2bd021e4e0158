import { GeoJSONVT, type GeoJSONVTTile } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { Feature } from "geojson";
import type { WrittenTile } from "./pmtiles-writer.ts";

/* Features cut into vector tiles. */

export const ZOOM_MAX = 6;

const EXTENT = 4096;

/** Units that shapes reach beyond a tile, so that their outlines don't show at its edge. */
const BUFFER = 64;

/** Those with a `min_zoom` are in tiles from that zoom on, or the last. */
export interface MapLayer {
  readonly name: string;
  readonly features: readonly Feature[];
}

export function cutTiles(layers: readonly MapLayer[]): WrittenTile[] {
  const options = {
    maxZoom: ZOOM_MAX,
    indexMaxZoom: ZOOM_MAX,
    indexMaxPoints: 0,
    extent: EXTENT,
    buffer: BUFFER,
  };
  const indexes = layers.map(({ name, features }) => ({
    name,
    index: new GeoJSONVT({ type: "FeatureCollection", features: [...features] }, options),
  }));
  const tiles: WrittenTile[] = [];
  for (let z = 0; z <= ZOOM_MAX; z++) {
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) {
        const shown: Record<string, GeoJSONVTTile> = {};
        for (const { name, index } of indexes) {
          const tile = index.getTile(z, x, y);
          const features = tile?.features.filter(({ tags }) => minZoomOf(tags) <= z) ?? [];
          if (features.length > 0) shown[name] = { ...tile, features } as GeoJSONVTTile;
        }
        if (Object.keys(shown).length === 0) continue;
        tiles.push({ z, x, y, bytes: fromGeojsonVt(shown, { version: 2, extent: EXTENT }) });
      }
    }
  }
  return tiles;
}

function minZoomOf(tags: Feature["properties"]): number {
  return Math.min(ZOOM_MAX, tags?.min_zoom ?? 0);
}
