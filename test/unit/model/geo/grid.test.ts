import { expect, test } from "bun:test";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import { Grid } from "../../../../src/model/geo/grid.ts";
import * as fc from "../../../support/fast-check.ts";

const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const cellMeters = fc.double({ min: 10, max: 100_000, noNaN: true });

test("the center of a position's cell lies no further off than half a cell's diagonal, and in the same cell", () => {
  fc.assert(
    fc.property(latitude, longitude, cellMeters, (lat, lon, meters) => {
      const grid = new Grid(meters);
      const center = grid.centerOf(lat, lon);
      // Nearly square but at the poles, where a band has few cells or one.
      expect(haversineMeters(lat, lon, center.latitude, center.longitude)).toBeLessThan(0.9 * meters + 0.2);
      expect(Math.abs(center.latitude)).toBeLessThanOrEqual(90);
      expect(Math.abs(center.longitude)).toBeLessThanOrEqual(180);
      expect(grid.centerOf(center.latitude, center.longitude)).toEqual(center);
    }),
    { numRuns: 2000 },
  );
});

test("180° and -180° lie in one cell, and a pole in one band", () => {
  fc.assert(
    fc.property(latitude, cellMeters, (lat, meters) => {
      const grid = new Grid(meters);
      expect(grid.centerOf(lat, 180)).toEqual(grid.centerOf(lat, -180));
      expect(grid.centerOf(90, 0).latitude).toBeLessThan(90);
    }),
  );
});
