import type {
  LayerSpecification,
  MapLibreMap,
  StyleSpecification,
  VectorSourceSpecification,
} from "maplibre-gl";
import type { ThemeName } from "../shell/theme.ts";
import { type BaseMap, type Credit, fromFillingZoom, type TileMap } from "./base-map.ts";
import { PALETTES, type Palette } from "./palette.ts";
import { streetAreas, streetLabels, streetLines } from "./street-layers.ts";
import { WORLD_CREDITS, worldLabels, worldShapes } from "./world-layers.ts";

/*
 * The map's style: the world, the operator's streets over it, since its coasts and borders are finer, then all labels.
 */

/** The style of a theme. Tile URLs need the `origin`, since MapLibre's worker can't resolve a path. */
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

function tileSource({ tiles, minzoom, maxzoom, bounds, credits }: TileMap, origin: string) {
  const source: VectorSourceSpecification = {
    type: "vector",
    tiles: [origin + tiles],
    minzoom,
    maxzoom,
    bounds: [...bounds],
    attribution: credits.map(creditHtml).join(""),
  };
  return source;
}

/** A link opens only https addresses, whatever the file of streets says. */
function creditHtml({ text, url }: Credit): string {
  if (url === null || !url.startsWith("https://")) return escaped(text);
  return `<a href="${escaped(url)}" target="_blank" rel="noopener noreferrer">${escaped(text)}</a>`;
}

/** MapLibre interprets an attribution as HTML. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function background({ water }: Palette): LayerSpecification {
  return { id: "water", type: "background", paint: { "background-color": water } };
}

/** Paints layers of the map in the colors of `layers`, which are the same layers in another theme. */
export function repaint(map: MapLibreMap, layers: readonly LayerSpecification[]): void {
  for (const layer of layers)
    for (const [name, value] of Object.entries(layer.paint ?? {}))
      map.setPaintProperty(layer.id, name as Parameters<MapLibreMap["setPaintProperty"]>[1], value);
}
