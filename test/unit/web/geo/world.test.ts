import { expect, test } from "bun:test";
import {
  LATITUDE_MAX,
  latitudeOf,
  longitudeOf,
  pixelMetersAt,
  WORLD_SIZE,
  worldX,
  worldY,
} from "../../../../src/web/geo/world.ts";
import * as fc from "../../../support/fast-check.ts";

/** Degrees that a part of the world's width is wide. */
const PART = 360 / WORLD_SIZE;

test("worldX() and longitudeOf() are each other's way back, to a part of the world", () => {
  fc.assert(
    fc.property(fc.double({ min: -180, max: 179.9999999, noNaN: true }), (longitude) => {
      expect(Math.abs(longitudeOf(worldX(longitude)) - longitude)).toBeLessThanOrEqual(PART);
    }),
  );
});

test("worldY() and latitudeOf() are each other's way back, to a part of the world", () => {
  fc.assert(
    fc.property(fc.double({ min: -LATITUDE_MAX, max: LATITUDE_MAX, noNaN: true }), (latitude) => {
      expect(Math.abs(latitudeOf(worldY(latitude)) - latitude)).toBeLessThanOrEqual(2 * PART);
    }),
  );
});

test("worldX() knows one ±180°, and what lies past it", () => {
  expect(worldX(180)).toBe(worldX(-180));
  expect(worldX(190)).toBe(worldX(-170));
  expect((worldX(179.999) - worldX(-179.999)) | 0).toBe(-((worldX(-179.999) - worldX(179.999)) | 0));
  expect(Math.abs((worldX(179.999) - worldX(-179.999)) | 0)).toBeLessThan(WORLD_SIZE / 100_000);
});

test("worldY() puts the poles on the map's ends", () => {
  expect(worldY(90)).toBe(0);
  expect(worldY(-90)).toBe(WORLD_SIZE - 1);
  expect(worldY(0)).toBe(WORLD_SIZE / 2);
});

test("a pixel shows half as much with each zoom, and less toward the poles", () => {
  expect(pixelMetersAt({ latitude: 0, zoom: 0 }) * 512).toBeCloseTo(40_030_230, -1);
  expect(pixelMetersAt({ latitude: 0, zoom: 1 }) * 1024).toBeCloseTo(40_030_230, -1);
  expect(pixelMetersAt({ latitude: 60, zoom: 0 }) * 1024).toBeCloseTo(40_030_230, -1);
});
