import { expect, test } from "bun:test";
import {
  cellAt,
  latitudeAt,
  longitudeAt,
  MERCATOR_LATITUDE_MAX,
  mercatorX,
  mercatorY,
} from "../../../src/map/mercator.ts";
import * as fc from "../../support/fast-check.ts";
import { real } from "../../support/reports/crowded-places.ts";

test("mercatorY() is the formula of the maps, and ends at 85.05112878°", () => {
  fc.assert(
    fc.property(real(-85, 85), (latitude) => {
      const radians = (latitude * Math.PI) / 180;
      const y = (1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2;
      expect(mercatorY(latitude)).toBeCloseTo(y, 13);
      expect(latitudeAt(mercatorY(latitude))).toBeCloseTo(latitude, 10);
    }),
  );
  expect(MERCATOR_LATITUDE_MAX).toBeCloseTo(85.05112878, 8);
  expect([90, 89, 85.0512].map(mercatorY)).toEqual([0, 0, 0]);
  expect([-90, -89, -85.0512].map(mercatorY)).toEqual([1, 1, 1]);
  expect(mercatorY(85.0511)).toBeGreaterThan(0);
});

test("mercatorX() goes from 0 at -180° to 1 at 180°", () => {
  expect([-180, 0, 180].map(mercatorX)).toEqual([0, 0.5, 1]);
  expect([0, 0.25, 1].map(longitudeAt)).toEqual([-180, -90, 180]);
});

test("cellAt() gives the far edge to the last cell, and halves with the grid", () => {
  expect([0, 0.5, 0.999, 1].map((place) => cellAt(place, 3))).toEqual([0, 4, 7, 7]);
  fc.assert(
    fc.property(real(0, 1), fc.integer({ min: 0, max: 28 }), (place, bits) => {
      expect(cellAt(place, 28) >>> (28 - bits)).toBe(cellAt(place, bits));
    }),
  );
});
