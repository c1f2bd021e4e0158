import { beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { VectorTile, type VectorTileFeature } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { type BaseMap, openBaseMap } from "../../../src/map/base-map.ts";
import { latitudeAt, longitudeAt, mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import { createNodeInputs } from "../../../src/runtime/node-inputs.ts";
import { makeWorld } from "./make-world.ts";

/* data/map/world.pmtiles: that it is what its script makes, and what is on it. */

const FILE = join(import.meta.dir, "../../../data/map/world.pmtiles");

let map: BaseMap;
beforeAll(async () => {
  map = await openBaseMap(createNodeInputs(), null);
});

async function tileAt(z: number, x: number, y: number): Promise<VectorTile> {
  const found = await map.world.find(z, x, y);
  return new VectorTile(new PbfReader(found === null ? new Uint8Array() : gunzipSync(found.bytes)));
}

function featuresOf(tile: VectorTile, layer: string): VectorTileFeature[] {
  const found = tile.layers[layer];
  return Array.from({ length: found?.length ?? 0 }, (_, index) => found!.feature(index));
}

/** Whether a place is on land, by the tile of zoom 6 that it is in. */
async function isLand(longitude: number, latitude: number): Promise<boolean> {
  const [x, y] = [mercatorX(longitude) * 64, mercatorY(latitude) * 64];
  const [column, row] = [Math.min(63, Math.floor(x)), Math.min(63, Math.floor(y))];
  const tile = await tileAt(6, column, row);
  let crossings = 0;
  for (const land of featuresOf(tile, "earth"))
    for (const ring of land.loadGeometry())
      for (const [index, from] of ring.entries()) {
        const to = ring[(index + 1) % ring.length]!;
        const [px, py] = [(x - column) * land.extent, (y - row) * land.extent];
        if (from.y > py === to.y > py) continue;
        if (px < ((to.x - from.x) * (py - from.y)) / (to.y - from.y) + from.x) crossings++;
      }
  return crossings % 2 === 1;
}

test("the committed file is what its script makes of the packages", () => {
  const made = createHash("sha256").update(makeWorld()).digest("hex");
  expect(made).toBe(createHash("sha256").update(readFileSync(FILE)).digest("hex"));
});

test.each([
  ["Chukotka west of ±180°", 178, 68, true],
  ["Chukotka east of it", -174, 65.5, true],
  ["Wrangel Island, which it cuts", 179.9, 71.2, true],
  ["Taveuni, which it cuts", 179.99, -16.82, true],
  ["Vanua Levu", 179, -16.6, true],
  ["Viti Levu", 178, -17.8, true],
  ["the sea between Fiji and Tonga", -178, -18, false],
  ["the Antarctic at ±180°", 180, -84.7, true],
  ["the Antarctic at 0°", 0, -80, true],
  ["near the south pole's edge of the map", 90, -85, true],
  ["the Atlantic at Chukotka's latitude", -15, 68.5, false],
  ["the Atlantic at Wrangel's latitude", 0, 71, false],
  ["the Atlantic at Fiji's latitude", -20, -16.5, false],
  ["the Pacific beside Russia", 175, 55, false],
  ["the north pole's edge of the map", 60, 85, false],
  ["where 0° meets 0°", 0, 0, false],
] as const)("land is whole, sea is empty: %s", async (_place, longitude, latitude, expected) => {
  expect(await isLand(longitude, latitude)).toBe(expected);
});

test("no outline of the land crosses the world", async () => {
  const [land] = featuresOf(await tileAt(0, 0, 0), "earth");
  const isAtEdge = (x: number) => x <= 0 || x >= land!.extent;
  for (const ring of land!.loadGeometry())
    for (const [index, from] of ring.entries()) {
      const to = ring[(index + 1) % ring.length]!;
      const isAlongSouth = from.y >= land!.extent && to.y >= land!.extent; // The Antarctic's, round the pole.
      if (!isAlongSouth && !(isAtEdge(from.x) && isAtEdge(to.x)))
        expect(Math.abs(from.x - to.x)).toBeLessThan(land!.extent / 8);
    }
});

test("tiles are small", () => {
  const { length } = readFileSync(FILE);
  expect(length).toBeLessThan(4_000_000);
});

test("names are where the places are, each from its zoom on", async () => {
  const tile = await tileAt(6, 19, 23);
  const names = featuresOf(tile, "places").map(({ properties }) => properties.name);
  expect(names).toContain("Boston");
  expect(names).toContain("Quincy");
  const far = featuresOf(await tileAt(2, 0, 1), "places").map(({ properties }) => properties.name);
  expect(far).toContain("United States");
  expect(far).not.toContain("Quincy");
  const boston = featuresOf(tile, "places").find(({ properties }) => properties.name === "Boston")!;
  const point = boston.loadGeometry()[0]![0]!;
  expect(longitudeAt((19 + point.x / boston.extent) / 64)).toBeCloseTo(-71.06, 1);
  expect(latitudeAt((23 + point.y / boston.extent) / 64)).toBeCloseTo(42.36, 1);
});

test("layers and kinds are those of a Protomaps basemap", async () => {
  const kinds: Record<string, Set<unknown>> = {};
  for (const [z, x, y] of [
    [6, 19, 23],
    [6, 17, 23],
    [2, 1, 1],
  ] as const) {
    const tile = await tileAt(z, x, y);
    for (const layer of Object.keys(tile.layers)) {
      kinds[layer] ??= new Set();
      for (const { properties } of featuresOf(tile, layer)) kinds[layer].add(properties.kind);
    }
  }
  expect(Object.fromEntries(Object.entries(kinds).map(([layer, of]) => [layer, [...of].sort()]))).toEqual({
    earth: ["earth"],
    water: ["lake", "ocean", "river"],
    boundaries: ["country", "region"],
    places: ["country", "locality", "neighbourhood"],
  });
});
