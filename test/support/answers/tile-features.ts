import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";

/** The features of all layers of a vector tile as texts, sorted, since their order has no meaning. */
export function featuresOf(tile: Uint8Array): string[] {
  if (tile.length === 0) return [];
  const { layers } = new VectorTile(new PbfReader(tile));
  const features = Object.entries(layers).flatMap(([name, layer]) =>
    Array.from({ length: layer.length }, (_, index) => {
      const feature = layer.feature(index);
      return JSON.stringify([name, feature.type, feature.properties, feature.loadGeometry()]);
    }),
  );
  return features.sort();
}
