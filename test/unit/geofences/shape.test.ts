import { expect, test } from "bun:test";
import { geoArea, geoContains } from "d3-geo";
import type { MultiPolygon, Polygon as PolygonGeometry, Position } from "geojson";
import { feature } from "topojson-client";
import { createShape } from "../../../src/geofences/shape.ts";
import { EARTH_RADIUS_METERS, haversineMeters } from "../../../src/model/geo/distance.ts";
import type { Area, Polygon, Polygons } from "../../../src/model/watches/area.ts";
import * as fc from "../../support/fast-check.ts";
import { readShapes } from "../../system/world/shapes.ts";

/* d3-geo is independent: its edges are great circles on the sphere, so ours are given to it in short pieces. */

function polygons(...polygons: Position[][][]): Polygons {
  return {
    type: polygons.length === 1 ? "Polygon" : "MultiPolygon",
    polygons: polygons.map((rings) => rings.map((ring) => Float64Array.from(ring.flat()))),
  };
}

function square(west: number, south: number, east: number, north: number): Position[] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** The edges of a ring, each as its ends, the short way round. */
function edgesOf(ring: ArrayLike<number>): readonly (readonly [Position, Position])[] {
  const edges: [Position, Position][] = [];
  for (let at = 2; at < ring.length; at += 2) {
    const step = ring[at]! - ring[at - 2]!;
    const east = step > 180 ? step - 360 : step < -180 ? step + 360 : step;
    edges.push([
      [ring[at - 2]!, ring[at - 1]!],
      [ring[at - 2]! + east, ring[at + 1]!],
    ]);
  }
  return edges;
}

function pieceOf([[aX, aY], [bX, bY]]: readonly [Position, Position], part: number): Position {
  return [aX! + part * (bX! - aX!), aY! + part * (bY! - aY!)];
}

/** By walking along each edge in small steps, and in still smaller ones around the nearest of them. */
function walkedMeters(rings: Polygon, latitude: number, longitude: number): number {
  let least = Infinity;
  for (const edge of rings.flatMap(edgesOf)) {
    let [low, high] = [0, 1];
    for (let round = 0; round < 6; round++) {
      const steps = Array.from({ length: 101 }, (_, step) => low + (step / 100) * (high - low));
      const meters = steps.map((part) => {
        const [x, y] = pieceOf(edge, part);
        return haversineMeters(latitude, longitude, y!, ((((x! + 180) % 360) + 360) % 360) - 180);
      });
      const nearest = meters.indexOf(Math.min(...meters));
      least = Math.min(least, meters[nearest]!);
      [low, high] = [steps[Math.max(0, nearest - 1)]!, steps[Math.min(100, nearest + 1)]!];
    }
  }
  return least;
}

/** With edges of at most a quarter of a degree, which great circles follow within 30 m, as d3 winds them. */
function forD3(rings: Polygon): PolygonGeometry {
  const coordinates = rings.map((ring, index) => {
    const pieces = edgesOf(ring).flatMap((edge) => {
      const [[aX, aY], [bX, bY]] = edge;
      const count = Math.ceil(4 * Math.max(Math.abs(bX! - aX!), Math.abs(bY! - aY!))) || 1;
      return Array.from({ length: count }, (_, piece) => pieceOf(edge, piece / count));
    });
    const line = [...pieces, pieces[0]!];
    const isLarge = geoArea({ type: "Polygon", coordinates: [line] }) > 2 * Math.PI;
    return isLarge === (index === 0) ? line.reverse() : line;
  });
  return { type: "Polygon", coordinates };
}

const METERS_PER_DEGREE = (EARTH_RADIUS_METERS * Math.PI) / 180;

/** Rings around a center, with a corner every so many degrees at a random distance: they never cross themselves. */
const stars = fc
  .record({
    longitude: fc.oneof(
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.constantFrom(-180, 180, 179.99, 0),
    ),
    latitude: fc.oneof(fc.double({ min: -80, max: 80, noNaN: true }), fc.constantFrom(0, 70, -80)),
    degrees: fc.constantFrom(0.001, 0.05, 2, 8),
    radii: fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), { minLength: 3, maxLength: 40 }),
  })
  .map(({ longitude, latitude, degrees, radii }) => {
    const ring = radii.map((radius, corner) => {
      const angle = (2 * Math.PI * corner) / radii.length;
      const x = longitude + degrees * radius * Math.cos(angle);
      return [x > 180 ? x - 360 : x < -180 ? x + 360 : x, latitude + degrees * radius * Math.sin(angle)];
    });
    const area = polygons([[...ring, ring[0]!]]);
    return { area, rings: area.polygons[0]!, longitude, latitude, degrees };
  });

const places = fc.record({
  north: fc.double({ min: -1.5, max: 1.5, noNaN: true }),
  east: fc.double({ min: -1.5, max: 1.5, noNaN: true }),
});

test("a polygon's distance agrees with walking along its edges, and its side with d3-geo", () => {
  fc.assert(
    fc.property(stars, places, (star, { north, east }) => {
      const latitude = star.latitude + north * star.degrees;
      const x = star.longitude + east * star.degrees;
      const longitude = x > 180 ? x - 360 : x < -180 ? x + 360 : x;
      const shape = createShape(star.area);
      const meters = shape.distanceMeters(latitude, longitude);
      expect(Math.abs(Math.abs(meters) - walkedMeters(star.rings, latitude, longitude))).toBeLessThan(1e-4);
      // A great circle leaves the straight edge by as much as this.
      if (Math.abs(meters) > 100 * Math.min(1, star.degrees))
        expect(geoContains(forD3(star.rings), [longitude, latitude])).toBe(meters > 0);
      expect(shape.contains(latitude, longitude)).toBe(meters >= 0);
      if (meters >= 0) expect(isInBoxes(shape.boxes, latitude, longitude)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function isInBoxes(
  boxes: ReturnType<typeof createShape>["boxes"],
  latitude: number,
  longitude: number,
): boolean {
  return boxes.some(
    (box) =>
      latitude >= box.minLatitude &&
      latitude <= box.maxLatitude &&
      longitude >= box.minLongitude &&
      longitude <= box.maxLongitude,
  );
}

test("real borders contain what d3-geo says, with lakes, islands and ±180°", () => {
  const atlas = readShapes("world-atlas/countries-50m.json");
  const wanted = ["Fiji", "Russia", "South Africa", "Norway", "Lesotho", "Chile"];
  const countries = feature(atlas, atlas.objects.countries!).features.filter(({ properties }) =>
    wanted.includes(properties?.name ?? ""),
  );
  expect(countries.length).toBe(wanted.length);
  const random = fc.sample(
    fc.record({
      latitude: fc.integer({ min: -8999, max: 8999 }).map((step) => (step + 0.3) / 100),
      longitude: fc.integer({ min: -17999, max: 17999 }).map((step) => (step + 0.3) / 100),
    }),
    200,
  );
  for (const { geometry, properties } of countries) {
    const { type, coordinates } = geometry as PolygonGeometry | MultiPolygon;
    const area = polygons(...(type === "Polygon" ? [coordinates] : coordinates));
    const shape = createShape(area);
    const parts = area.polygons.map(forD3);
    // Beside random places, some on each side of each 20th corner.
    const corners = area.polygons.flatMap(([ring]) => {
      const middles = edgesOf(ring!).filter((_, index) => index % 20 === 0);
      return middles.flatMap(([[x, y]]) => [
        { latitude: Math.max(-90, y! - 0.02), longitude: x! },
        { latitude: Math.min(90, y! + 0.02), longitude: x! },
      ]);
    });
    let inside = 0;
    for (const { latitude, longitude } of [...random, ...corners]) {
      const meters = shape.distanceMeters(latitude, longitude);
      // In d3, the seam of parts at ±180° belongs to neither of them.
      if (Math.abs(meters) < 30 || Math.abs(longitude) === 180) continue;
      const expected = parts.some((part) => geoContains(part, [longitude, latitude]));
      if (expected) inside++;
      expect({ name: properties?.name, latitude, longitude, isInside: meters > 0 }).toEqual({
        name: properties?.name,
        latitude,
        longitude,
        isInside: expected,
      });
    }
    expect(inside).toBeGreaterThan(0);
  }
});

test("a shape has the area that it was created from", () => {
  const ring = square(1, 1, 9, 9);
  const hole = square(2, 2, 3, 3);
  const areas: Area[] = [
    polygons([ring]),
    { ...polygons([ring]), type: "MultiPolygon" },
    polygons([ring, hole]),
    polygons([ring], [square(20, 1, 29, 9)]),
    polygons([square(179, -1, -179, 1)]),
    polygons([square(179, -1, 180, 1)]),
    { type: "Point", latitude: 1, longitude: 2, radiusMeters: 30 },
    { type: "LineString", line: Float64Array.of(179, 1, -179, 2), bufferMeters: 30 },
  ];
  for (const area of areas) expect(createShape(area).area).toEqual(area);
});

test("an area that is cut at ±180° has no border there", () => {
  const cut = createShape(polygons([square(179, -1, 180, 1)], [square(-180, -1, -179, 1)]));
  const whole = createShape(polygons([square(179, -1, -179, 1)]));
  for (const shape of [cut, whole]) {
    expect(shape.distanceMeters(0, 180)).toBeCloseTo(METERS_PER_DEGREE * Math.cos(0), -2);
    expect(shape.distanceMeters(0, -180)).toBeCloseTo(shape.distanceMeters(0, 180), 6);
    expect(shape.distanceMeters(0, -179.9)).toBeCloseTo(0.9 * METERS_PER_DEGREE, -2);
    expect(shape.distanceMeters(0, 178)).toBeCloseTo(-METERS_PER_DEGREE, -2);
    expect(shape.contains(0, 0)).toBe(false);
    expect(shape.boxes.map((box) => [box.minLongitude, box.maxLongitude].map(Math.round))).toEqual([
      [-180, -179],
      [179, 180],
    ]);
  }
  // Where only one of two sides goes on, the meridian stays a border.
  const half = createShape(polygons([square(179, -1, 180, 1)], [square(-180, 0, -179, 1)]));
  expect(half.distanceMeters(-0.5, 179.9)).toBeCloseTo(0.1 * METERS_PER_DEGREE, -1);
  expect(half.distanceMeters(0.5, 180)).toBeCloseTo(0.5 * METERS_PER_DEGREE, -1);
});

test("a pole is inside of a ring around it, however the ring is written", () => {
  const around: Position[] = [
    [0, 80],
    [120, 80],
    [-120, 80],
    [0, 80],
  ];
  const asBand = square(-180, 80, 180, 90);
  for (const ring of [around, around.toReversed(), asBand, asBand.toReversed()]) {
    const shape = createShape(polygons([ring]));
    for (const longitude of [0, 77, 180, -180])
      expect(shape.distanceMeters(90, longitude)).toBeCloseTo(10 * METERS_PER_DEGREE, 3);
    expect(shape.distanceMeters(85, 180)).toBeCloseTo(5 * METERS_PER_DEGREE, 3);
    expect(shape.distanceMeters(79, 180)).toBeCloseTo(-METERS_PER_DEGREE, 3);
    expect(shape.contains(-85, 0)).toBe(false);
    expect(shape.accuracyMetersMax).toBeGreaterThan(0.98 * 5 * METERS_PER_DEGREE);
    expect(shape.boxes.map((box) => [box.minLongitude, box.maxLongitude])).toEqual([[-180, 180]]);
  }
  const south = createShape(polygons([around.map(([x, y]) => [x!, -y!])]));
  expect(south.distanceMeters(-90, 5)).toBeCloseTo(10 * METERS_PER_DEGREE, 3);
  const withHole = createShape(polygons([around, around.map(([x]) => [x!, 89])]));
  expect(withHole.distanceMeters(90, 0)).toBeCloseTo(-METERS_PER_DEGREE, 3);
  expect(withHole.distanceMeters(88, 179)).toBeCloseTo(METERS_PER_DEGREE, 3);
});

test("circles and corridors measure along the sphere, across ±180° and a pole too", () => {
  const circle = createShape({ type: "Point", latitude: 0, longitude: 179.999, radiusMeters: 1000 });
  expect(circle.distanceMeters(0, -179.999)).toBeCloseTo(1000 - 0.002 * METERS_PER_DEGREE, 6);
  expect(circle.boxes.length).toBe(2);
  expect(circle.accuracyMetersMax).toBe(500);
  const line = Float64Array.of(179, 0, -179, 0, -179, 1);
  const corridor = createShape({ type: "LineString", line, bufferMeters: 100 });
  expect(corridor.distanceMeters(0, 180)).toBeCloseTo(100, 6);
  expect(corridor.distanceMeters(0.001, -179.5)).toBeCloseTo(100 - 0.001 * METERS_PER_DEGREE, 3);
  expect(corridor.distanceMeters(0, 0)).toBeLessThan(-178 * METERS_PER_DEGREE);
  expect(corridor.accuracyMetersMax).toBe(50);
  expect(isInBoxes(corridor.boxes, -0.0008, 180)).toBe(true);
  expect(isInBoxes(corridor.boxes, -0.0008, 170)).toBe(false);
  const overPole = createShape({
    type: "LineString",
    line: Float64Array.of(10, 89.9, 10, 90),
    bufferMeters: 500,
  });
  expect(overPole.distanceMeters(89.999, -170)).toBeCloseTo(500 - 0.001 * METERS_PER_DEGREE, 3);
  expect(isInBoxes(overPole.boxes, 89.999, -170)).toBe(true);
});

test("accuracyMetersMax of a polygon is half of the greatest distance that a fine grid finds", () => {
  fc.assert(
    fc.property(stars, ({ area, longitude, latitude, degrees }) => {
      const shape = createShape(area);
      let greatest = 0;
      for (let row = -40; row <= 40; row++)
        for (let column = -40; column <= 40; column++) {
          const x = longitude + (degrees * column) / 40;
          const meters = shape.distanceMeters(
            latitude + (degrees * row) / 40,
            x > 180 ? x - 360 : x < -180 ? x + 360 : x,
          );
          greatest = Math.max(greatest, meters);
        }
      expect(2 * shape.accuracyMetersMax).toBeGreaterThan(greatest * 0.98);
      // A point of the grid is at most this far from the place with the greatest distance.
      expect(2 * shape.accuracyMetersMax).toBeLessThan(greatest + (degrees / 40) * METERS_PER_DEGREE);
    }),
    { numRuns: 20 },
  );
});

test("contains() decides exactly on edges and corners", () => {
  const shape = createShape(
    polygons(
      [
        [
          [0, 0],
          [3, 1],
          [3, 3],
          [0, 0],
        ],
        [],
      ].slice(0, 1),
    ),
  );
  expect([shape.contains(0, 0), shape.contains(1, 3), shape.contains(2, 2)]).toEqual([true, true, true]);
  // One ulp beside the edge from (0, 0) to (3, 3), where a plain cross product rounds to 0.
  expect(shape.contains(1.0000000000000002, 1)).toBe(false);
  expect(shape.contains(0.9999999999999999, 1)).toBe(true);
  const hole = createShape(polygons([square(0, 0, 4, 4), square(1, 1, 2, 2)]));
  expect([hole.contains(1.5, 1.5), hole.contains(1, 1.5), hole.contains(3, 3)]).toEqual([false, true, true]);
  expect(hole.distanceMeters(1.5, 1.5)).toBeCloseTo(-0.5 * METERS_PER_DEGREE, -2);
});
