import { expect, test } from "bun:test";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { densityGrid, shading } from "../../../../src/web/gl/density-grid.ts";
import * as fc from "../../../support/fast-check.ts";

/** Column, row, shade and coverage of each cell that is not empty. */
function filled({ columns, texels }: NonNullable<ReturnType<typeof densityGrid>>) {
  return Array.from({ length: texels.length / 2 }, (_, cell) => ({
    column: cell % columns,
    row: Math.floor(cell / columns),
    shade: texels[2 * cell]!,
    coverage: texels[2 * cell + 1]!,
  })).filter(({ coverage }) => coverage > 0);
}

test("a cell is where the places that it counts are drawn", () => {
  const places = fc.record({
    latitude: fc.double({ min: -85, max: 85, noNaN: true }),
    longitude: fc.double({ min: -180, max: 179.999, noNaN: true }),
    zoom: fc.integer({ min: 0, max: 16 }),
  });
  fc.assert(
    fc.property(places, ({ latitude, longitude, zoom }) => {
      const cells = 64 * 2 ** zoom;
      const sine = Math.sin((latitude * Math.PI) / 180);
      const x = Math.floor(((longitude + 180) / 360) * cells);
      const y = Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * cells);
      const grid = densityGrid({ zoom, x: [x], y: [y], count: [1] })!;
      const [cell, ...others] = filled(grid);
      expect(others).toEqual([]);
      const west = grid.west + cell!.column * grid.cellSize;
      const north = grid.north + cell!.row * grid.cellSize;
      expect(worldX(longitude)).toBeWithin(west, west + grid.cellSize);
      expect(worldY(latitude)).toBeWithin(north, north + grid.cellSize);
    }),
  );
});

test("colors have two cells to run out, except beyond the world's north", () => {
  const { columns, rows, north } = densityGrid({ zoom: 4, x: [10, 12], y: [1, 1], count: [1, 1] })!;
  expect({ columns, rows, north }).toEqual({ columns: 3 + 4, rows: 1 + 3, north: 0 });
});

test("cells on both sides of ±180° are neighbours", () => {
  const grid = densityGrid({ zoom: 2, x: [0, 1, 254, 255], y: [7, 7, 7, 7], count: [3, 4, 1, 2] })!;
  expect(grid.columns).toBe(4 + 4);
  const counts = filled(grid).map(({ shade }) => shade);
  expect(counts).toEqual([1, 2, 3, 4].map((count) => Math.round(255 * shading([1, 2, 3, 4])(count))));
});

test("more columns than a picture has become fewer, with the greatest count of each", () => {
  const grid = densityGrid({ zoom: 20, x: [0, 1, 8190], y: [3, 3, 3], count: [1, 100, 10] })!;
  expect(grid.columns).toBeLessThanOrEqual(2048);
  expect(filled(grid).map(({ shade }) => shade)).toEqual([255, 128]);
});

test("no cells, no picture", () => {
  expect(densityGrid({ zoom: 3, x: [], y: [], count: [] })).toBeNull();
});

test("shading() grows with the count, from 0 to 1", () => {
  const counts = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 500 });
  fc.assert(
    fc.property(counts, (unsorted) => {
      const sorted = [...unsorted].sort((a, b) => a - b);
      const shades = sorted.map(shading(unsorted));
      for (const [index, shade] of shades.entries()) {
        expect(shade >= 0 && shade <= 1).toBe(true);
        expect(shade).toBeGreaterThanOrEqual(shades[index - 1] ?? 0);
      }
    }),
  );
});

test("shading() doesn't give the whole scale to one depot", () => {
  const streets = Array.from({ length: 999 }, (_, index) => 1 + (index % 100));
  const shadeOf = shading([...streets, 1_000_000]);
  expect(shadeOf(100)).toBe(1);
  expect(shadeOf(10)).toBeCloseTo(0.5);
  expect(shading([7, 7])(7)).toBe(0.5);
});
