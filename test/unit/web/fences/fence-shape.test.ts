import { expect, test } from "bun:test";
import { circleOf, drawnShapeOf } from "../../../../src/web/fences/drawn-shape.ts";
import type { NewFence } from "../../../../src/web/fences/fence.ts";
import { fenceBounds, fenceFeature, shapeText } from "../../../../src/web/fences/fence-shape.ts";
import { circleShape } from "../../../../src/web/geo/circle-shape.ts";
import { metersBetween } from "../../../../src/web/geo/earth.ts";

function circle(longitude: number, latitude: number, radius_meters: number): NewFence {
  return {
    ...{ type: "Feature", geometry: { type: "Point", coordinates: [longitude, latitude] } },
    properties: { radius_meters },
  };
}

/** From 179° to -179°, as GeoJSON has it. */
const ACROSS: NewFence = {
  type: "Feature",
  geometry: {
    type: "Polygon",
    coordinates: [
      [
        [179, 0],
        [-179, 0],
        [-179, 1],
        [179, 1],
        [179, 0],
      ],
      [
        [-179.5, 0.4],
        [-179.4, 0.4],
        [-179.4, 0.5],
        [-179.5, 0.4],
      ],
    ],
  },
  properties: { name: "Across" },
};

function ringsOf(fence: NewFence): number[][][] {
  return (fenceFeature(fence).geometry as GeoJSON.Polygon).coordinates;
}

test("a polygon across ±180° is drawn in one piece, with its holes in it", () => {
  const [outer, hole] = ringsOf(ACROSS);
  expect(outer!.map(([longitude]) => longitude)).toEqual([179, 181, 181, 179, 179]);
  expect(hole!.map(([longitude]) => longitude)).toEqual([180.5, 180.6, 180.6, 180.5]);
  expect(fenceBounds(ACROSS)).toEqual({ west: 179, south: 0, east: 181, north: 1 });
});

test("a ring round a pole reaches the edge of the map", () => {
  const [ring] = ringsOf({
    ...ACROSS,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [0, 80],
          [120, 80],
          [-120, 80],
          [0, 80],
        ],
      ],
    },
  });
  expect(Math.max(...ring!.map(([, latitude]) => latitude!))).toBeGreaterThan(85);
});

test("a circle has the corners of its radius, and the bounds of its reach", () => {
  const fence = circle(-0.1, 51.5, 150);
  for (const [longitude, latitude] of ringsOf(fence)[0]!)
    expect(metersBetween(51.5, -0.1, latitude!, longitude!)).toBeCloseTo(150, 3);
  const { west, south, east, north } = fenceBounds(fence);
  expect(metersBetween(51.5, west, 51.5, -0.1)).toBeCloseTo(150, 0);
  expect([(west + east) / 2, (south + north) / 2]).toEqual([
    expect.closeTo(-0.1, 9),
    expect.closeTo(51.5, 9),
  ]);
});

test("a corridor is a line with the width that it has on the ground", () => {
  const road: NewFence = {
    ...{ type: "Feature", properties: { buffer_meters: 1000 } },
    geometry: {
      type: "LineString",
      coordinates: [
        [0, 60],
        [1, 60],
      ],
    },
  };
  const { geometry, properties } = fenceFeature(road);
  expect(geometry.type).toBe("LineString");
  // 2 km of a parallel that is half as long as the equator.
  expect(properties!.width).toBeCloseTo((2000 / (40_030_174 / 2)) * 512, 5);
  expect(shapeText(road, (meters) => `${meters} m`)).toBe("Corridor, 1000 m to each side");
});

test("circleOf() gives back the center and the radius of a circle's corners", () => {
  for (const [longitude, latitude, radius] of [
    [-0.1, 51.5, 150],
    [179.9, -16, 5000],
    [20, 69, 100_000],
  ] as const) {
    const { edge } = circleShape({ longitude, latitude }, radius, 64);
    const { center, radiusMeters } = circleOf(edge);
    expect(center).toEqual([expect.closeTo(longitude, 2), expect.closeTo(latitude, 2)]);
    expect(radiusMeters / radius).toBeCloseTo(1, 2);
  }
});

test("the tool changes circles and polygons of one ring, and no others", () => {
  expect(drawnShapeOf(circle(1, 2, 30))).toEqual({ kind: "circle", center: [1, 2], radiusMeters: 30 });
  expect(drawnShapeOf(ACROSS)).toBeNull();
});

test("the name of a geofence shows from the zoom at which the geofence is 24 pixels wide", () => {
  const namedFrom = (fence: NewFence) => fenceFeature(fence).properties!.named_from as number;
  const pixelsWide = (fence: NewFence) => {
    const { west, east } = fenceBounds(fence);
    return ((east - west) / 360) * 512 * 2 ** namedFrom(fence);
  };
  for (const fence of [circle(0, 0, 50), circle(179.9, 60, 20_000), ACROSS])
    expect(pixelsWide(fence)).toBeCloseTo(24);
  const world = {
    ...ACROSS,
    geometry: {
      type: "LineString",
      coordinates: [
        [-179, 0],
        [-1, 0],
      ],
    },
  } as NewFence;
  expect(namedFrom({ ...world, properties: { buffer_meters: 10 } })).toBe(0);
});
