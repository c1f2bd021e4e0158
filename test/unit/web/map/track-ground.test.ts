import { describe, expect, test } from "bun:test";
import {
  type Feature,
  featureFilter,
  type ICanonicalTileID,
  validateStyleMin,
} from "@maplibre/maplibre-gl-style-spec";
import type { LayerSpecification, MapLibreMap } from "maplibre-gl";
import { WORLD_SIZE, worldX, worldY } from "../../../../src/web/geo/world.ts";
import type { TileMap } from "../../../../src/web/map/base-map.ts";
import { PALETTES } from "../../../../src/web/map/palette.ts";
import { type Ground, TrackGround, trackLayer, trackSource } from "../../../../src/web/map/track-ground.ts";
import { contrast, rgbOf } from "./theme-colors.ts";

const STREETS: TileMap = {
  tiles: "/map/streets/{z}/{x}/{y}",
  minzoom: 9,
  maxzoom: 15,
  bounds: [-3.2, 53.2, -2.7, 53.6],
  areas: [[-3.2, 53.2, -2.7, 53.6]],
  credits: [],
};
const LIGHT: Ground = { theme: "light", streets: null };

/** A map that has a layer of the heatmap, and says which sources and layers it has. */
function createMap() {
  const sources = new Set<string>();
  const layers = ["world-land", "density"];
  const painted: string[] = [];
  const map = {
    getSource: (name: string) => (sources.has(name) ? {} : undefined),
    addSource: (name: string) => sources.add(name),
    removeSource: (name: string) => sources.delete(name),
    getLayer: (name: string) => (layers.includes(name) ? {} : undefined),
    addLayer: ({ id }: LayerSpecification, below: string) => layers.splice(layers.indexOf(below), 0, id),
    removeLayer: (name: string) => layers.splice(layers.indexOf(name), 1),
    setPaintProperty: (_: string, property: string) => painted.push(property),
  };
  return { map: map as unknown as MapLibreMap, sources, layers, painted };
}

describe("the ground of tracks", () => {
  test("lies below the heatmap while it is shown, and leaves nothing behind", () => {
    const { map, sources, layers } = createMap();
    const ground = new TrackGround("http://127.0.0.1");
    ground.addTo(map, LIGHT, "density");
    expect([[...sources], layers]).toEqual([[], ["world-land", "density"]]);
    ground.show(true);
    expect([[...sources], layers]).toEqual([["tracks"], ["world-land", "tracks", "density"]]);
    ground.show(false);
    expect([[...sources], layers]).toEqual([[], ["world-land", "density"]]);
  });

  test("is added to a map that comes later, and again after a loss of its context", () => {
    const { map, layers } = createMap();
    const ground = new TrackGround("http://127.0.0.1");
    ground.show(true);
    ground.addTo(map, LIGHT, "density");
    ground.leave();
    layers.splice(0, layers.length, "tracks", "density"); // As MapLibre restores them.
    ground.addTo(map, LIGHT, "density");
    expect(layers).toEqual(["tracks", "density"]);
  });

  test("takes the colors of another theme", () => {
    const { map, painted } = createMap();
    const ground = new TrackGround("http://127.0.0.1");
    ground.addTo(map, LIGHT, "density");
    ground.paint({ ...LIGHT, theme: "dark" });
    expect(painted).toEqual([]);
    ground.show(true);
    ground.paint({ ...LIGHT, theme: "dark" });
    expect(painted).toContain("heatmap-color");
  });
});

test("its tiles are asked for at three zooms alone", () => {
  const { minzoom, maxzoom, tiles } = trackSource("http://127.0.0.1");
  expect([minzoom, maxzoom]).toEqual([11, 13]);
  expect(tiles).toEqual(["http://127.0.0.1/api/v1/tiles/{z}/{x}/{y}.mvt?layer=tracks"]);
});

test("nothing is drawn where the operator has streets, from the zoom on at which they are shown", () => {
  const { filter } = trackLayer({ theme: "light", streets: STREETS });
  const isDrawn = (longitude: number, latitude: number, zoom: number) => {
    const [tiles, extent] = [2 ** 11, 8192];
    const [x, y] = [(worldX(longitude) / WORLD_SIZE) * tiles, (worldY(latitude) / WORLD_SIZE) * tiles];
    const tile = { z: 11, x: Math.floor(x), y: Math.floor(y) };
    const point = { x: Math.floor((x - tile.x) * extent), y: Math.floor((y - tile.y) * extent) };
    const feature = { type: 1, properties: { count: 1 }, geometry: [[point]] } as unknown as Feature;
    return featureFilter(filter, "layers.tracks.filter").filter({ zoom }, feature, tile as ICanonicalTileID);
  };
  expect([isDrawn(-2.95, 53.4, 12), isDrawn(-2.95, 53.4, 8), isDrawn(-71.06, 42.35, 12)]).toEqual([
    false,
    true,
    true,
  ]);
});

test.each(["light", "dark"] as const)("the layer is valid, and faint: %s", (theme) => {
  for (const streets of [null, STREETS]) {
    const layer = trackLayer({ theme, streets });
    expect(
      validateStyleMin({ version: 8, sources: { tracks: trackSource("http://h") }, layers: [layer] }),
    ).toEqual([]);
    expect("filter" in layer).toBe(streets !== null);
  }
  const [track, land] = [PALETTES[theme].track, PALETTES[theme].land].map(rgbOf);
  expect(contrast(track!, land!)).toBeWithin(1.3, 1.7);
});
