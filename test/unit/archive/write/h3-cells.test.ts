import { expect, test } from "bun:test";
import { cellToLatLng, cellToVertexes, getPentagons, gridDisk, latLngToCell, vertexToLatLng } from "h3-js";
import { H3_RESOLUTION } from "../../../../src/archive/columns.ts";
import { createCellFinder } from "../../../../src/archive/write/h3-cells.ts";
import * as fc from "../../../support/fast-check.ts";

type Point = readonly [latitude: number, longitude: number];

function digitsOf([latitude, longitude]: Point): string {
  return BigInt(`0x${latLngToCell(latitude, longitude, H3_RESOLUTION)}`).toString();
}

function expectSameCells(points: readonly Point[]): void {
  const cells = createCellFinder();
  const found = points.map(([latitude, longitude]) => cells.find(latitude, longitude));
  expect(found).toEqual(points.map(digitsOf));
}

/** Back into the range of degrees, over the pole and across ±180°. */
function wrapped(latitude: number, longitude: number): Point {
  const isOver = Math.abs(latitude) > 90;
  const turned = isOver ? longitude + 180 : longitude;
  const lat = isOver ? Math.sign(latitude) * 180 - latitude : latitude;
  return [lat, ((((turned + 180) % 360) + 360) % 360) - 180];
}

const pentagons = getPentagons(H3_RESOLUTION);

/** Where cells are odd: poles, ±180°, pentagons, and the cells around those, which edges of the icosahedron cut. */
const starts: fc.Arbitrary<Point> = fc.oneof(
  fc.tuple(fc.double({ min: -90, max: 90, noNaN: true }), fc.double({ min: -180, max: 180, noNaN: true })),
  fc.constantFrom<Point>(
    [90, 0],
    [-90, 0],
    [89.999, 100],
    [0, 180],
    [0, -180],
    [67, 179.999],
    [42.36, -71.06],
  ),
  fc.constantFrom(...pentagons.flatMap((cell) => gridDisk(cell, 6))).map(cellToLatLng),
);

test("find() agrees with H3 along random walks", () => {
  const steps = fc.array(
    fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -1, max: 1, noNaN: true })),
    { minLength: 2, maxLength: 60 },
  );
  fc.assert(
    fc.property(
      starts,
      steps,
      fc.constantFrom(0.0001, 0.002, 0.01, 0.05),
      ([latitude, longitude], walk, size) => {
        const points = [wrapped(latitude, longitude)];
        const widest = 1 / Math.max(0.001, Math.cos((latitude * Math.PI) / 180));
        for (const [north, east] of walk) {
          const [lat, lon] = points.at(-1)!;
          points.push(wrapped(lat + north * size, lon + east * size * widest));
        }
        expectSameCells(points);
      },
    ),
    { numRuns: 1000 },
  );
});

test("find() agrees with H3 just inside and outside the corners and edges of a cell it remembers", () => {
  fc.assert(
    fc.property(starts, ([latitude, longitude]) => {
      const cell = latLngToCell(latitude, longitude, H3_RESOLUTION);
      const center = cellToLatLng(cell);
      const corners = cellToVertexes(cell).map((vertex) => vertexToLatLng(vertex));
      const points: Point[] = [center, [center[0] + 1e-9 * (center[0] > 0 ? -1 : 1), center[1]]];
      corners.forEach(([lat, lon], i) => {
        const [nextLat, nextLon] = corners[(i + 1) % corners.length]!;
        if (Math.abs(lon - nextLon) > 90 || Math.abs(lon - center[1]) > 90) return; // Cells across ±180° are walked.
        for (const [rim, rimLon] of [
          [lat, lon],
          [(lat + nextLat) / 2, (lon + nextLon) / 2],
        ] as const) {
          for (const share of [0.9, 0.97, 0.979, 0.981, 0.99, 1.01, 1.1]) {
            points.push([center[0] + (rim - center[0]) * share, center[1] + (rimLon - center[1]) * share]);
            points.push(center); // Back into the cell, so that it is the one remembered.
          }
        }
      });
      expectSameCells(points);
    }),
    { numRuns: 1000 },
  );
});
