import { expect, test } from "bun:test";
import { joinFiles } from "../../../src/map/joined-files.ts";
import type { Bounds, TileFile } from "../../../src/map/tile-file.ts";

function fileOf(name: string, bounds: Bounds, has: string): TileFile & { isOpen: boolean } {
  return {
    isOpen: true,
    facts: {
      version: name,
      minZoom: 0,
      maxZoom: 14,
      bounds,
      areas: [bounds],
      attribution: "OSM",
      credits: [{ text: "OSM", url: "https://osm.org/" }],
    },
    find: async (...address) =>
      address.join("/") === has || address[0] === 0
        ? { bytes: new TextEncoder().encode(name), isGzipped: false }
        : null,
    async close() {
      this.isOpen = false;
    },
  } as TileFile & { isOpen: boolean };
}

const BOSTON: Bounds = [-71.1, 42.3, -71, 42.4];
const LIVERPOOL: Bounds = [-3.1, 53.3, -2.8, 53.5];

test("several files are one map, which names each area and each credit once", async () => {
  const files = [fileOf("a", BOSTON, "9/1/1"), fileOf("b", LIVERPOOL, "9/2/2")];
  const joined = joinFiles(files)!;
  expect(joined.facts).toEqual({
    version: expect.stringMatching(/^[\w-]{16}$/),
    minZoom: 10, // Where the larger one fills a tile: shown before, it would be a spot of detail.
    maxZoom: 14,
    bounds: [-71.1, 42.3, -2.8, 53.5],
    areas: [BOSTON, LIVERPOOL],
    attribution: "OSM",
    credits: [{ text: "OSM", url: "https://osm.org/" }],
  });
  const found = async (z: number, x: number, y: number) => {
    const tile = await joined.find(z, x, y);
    return tile === null ? null : new TextDecoder().decode(tile.bytes);
  };
  expect([await found(9, 1, 1), await found(9, 2, 2), await found(0, 0, 0), await found(9, 3, 3)]).toEqual([
    "a",
    "b",
    "a",
    null,
  ]);
  await joined.close();
  expect(files.map(({ isOpen }) => isOpen)).toEqual([false, false]);
});

test("one file is itself, and none is none", () => {
  const file = fileOf("a", BOSTON, "");
  expect(joinFiles([file])).toBe(file);
  expect(joinFiles([])).toBeNull();
});
