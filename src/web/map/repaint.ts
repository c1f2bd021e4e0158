import type { LayerSpecification, MapLibreMap } from "maplibre-gl";

/** Gives layers that are on the map the colors of these: the same layers in another theme. */
export function repaint(map: MapLibreMap, layers: readonly LayerSpecification[]): void {
  for (const layer of layers)
    for (const [name, value] of Object.entries(layer.paint ?? {}))
      map.setPaintProperty(layer.id, name as Parameters<MapLibreMap["setPaintProperty"]>[1], value);
}
