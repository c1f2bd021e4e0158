import type {
  LayerSpecification,
  MapLibreMap,
  StyleSpecification,
  VectorSourceSpecification,
} from "maplibre-gl";
import type { ThemeName } from "../shell/theme.ts";
import { type BaseMap, fromFillingZoom, type TileMap } from "./base-map.ts";
import { PALETTES, type Palette } from "./palette.ts";
import { streetAreas, streetLabels, streetLines } from "./street-layers.ts";
import { WORLD_CREDITS, worldLabels, worldShapes } from "./world-layers.ts";

/*
 * How the map looks. What the operator's streets cover lies over the world, whose coasts and borders are coarser;
 * labels of both come last.
 */

/** A style by day or by night. `origin` is where the tiles come from: MapLibre's worker takes no path alone. */
export function mapStyle(theme: ThemeName, base: BaseMap, origin: string): StyleSpecification {
  const palette = PALETTES[theme];
  const { world } = base;
  const streets = base.streets === null ? null : fromFillingZoom(base.streets);
  return {
    version: 8,
    sources: {
      world: { ...tileSource(world, origin), attribution: WORLD_CREDITS },
      ...(streets === null ? {} : { streets: tileSource(streets, origin) }),
    },
    layers: [
      background(palette),
      ...worldShapes(palette),
      ...(streets === null
        ? []
        : [...streetAreas(palette), ...streetLines(palette), ...streetLabels(palette, streets)]),
      ...worldLabels(palette, streets),
    ],
  };
}

function tileSource({ tiles, minzoom, maxzoom, bounds, attribution }: TileMap, origin: string) {
  const source: VectorSourceSpecification = {
    type: "vector",
    tiles: [origin + tiles],
    minzoom,
    maxzoom,
    bounds: [...bounds],
    attribution: escaped(attribution),
  };
  return source;
}

/** MapLibre takes an attribution for HTML. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function background({ water }: Palette): LayerSpecification {
  return { id: "water", type: "background", paint: { "background-color": water } };
}

/** Gives layers that are on the map the colors of `layers`: the same ones in another theme. */
export function repaint(map: MapLibreMap, layers: readonly LayerSpecification[]): void {
  for (const layer of layers)
    for (const [name, value] of Object.entries(layer.paint ?? {}))
      map.setPaintProperty(layer.id, name as Parameters<MapLibreMap["setPaintProperty"]>[1], value);
}
