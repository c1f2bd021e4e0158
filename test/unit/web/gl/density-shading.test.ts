import { expect, test } from "bun:test";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { densitySquares, shading, squareSize } from "../../../../src/web/gl/density-layer.ts";
import * as fc from "../../../support/fast-check.ts";

test("densitySquares() puts a cell where the places that it counts are drawn", () => {
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
      const [west, north] = densitySquares({ zoom, x: [x], y: [y], count: [1] });
      const size = squareSize(zoom);
      expect(worldX(longitude)).toBeWithin(west!, west! + size);
      expect(worldY(latitude)).toBeWithin(north!, north! + size);
    }),
  );
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
