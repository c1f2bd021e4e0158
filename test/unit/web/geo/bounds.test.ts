import { expect, test } from "bun:test";
import { boundsOf, boxOf, isInside } from "../../../../src/web/geo/bounds.ts";
import * as fc from "../../../support/fast-check.ts";

const longitudes = fc.oneof(fc.integer({ min: -180, max: 179 }), fc.integer({ min: 170, max: 179 }));

test("boundsOf() is the least that holds every place", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -90, max: 90 }), longitudes), { minLength: 1 }),
      (places) => {
        const bounds = boundsOf(
          places.map(([latitude]) => latitude),
          places.map(([, longitude]) => longitude),
        )!;
        // Starting at each place in turn, how far east one has to go to have seen all.
        const widths = places.map(([, start]) =>
          Math.max(...places.map(([, at]) => (at - start + 360) % 360)),
        );
        expect(bounds.east - bounds.west).toBe(Math.min(...widths));
        for (const [latitude, longitude] of places) {
          expect(latitude >= bounds.south && latitude <= bounds.north).toBe(true);
          expect((longitude - bounds.west + 360) % 360).toBeLessThanOrEqual(bounds.east - bounds.west);
        }
      },
    ),
  );
});

test("boundsOf() crosses ±180° where that is shorter, and is a point for one place", () => {
  expect(boundsOf([-18, -17], [178, -179])).toEqual({ west: 178, south: -18, east: 181, north: -17 });
  expect(boundsOf([42], [-71])).toEqual({ west: -71, south: 42, east: -71, north: 42 });
  expect(boundsOf([], [])).toBeNull();
});

test("boxOf() is inside the world, and crosses ±180° where the bounds do", () => {
  expect(boxOf({ west: 170, south: -95, east: 190, north: 10 })).toBe("170,-90,-170,10");
  expect(boxOf({ west: -200, south: 0, east: 160, north: 1 })).toBeUndefined();
  expect(boxOf({ west: 359, south: 0, east: 361, north: 1 / 3 })).toBe("-1,0,1,0.333333");
  expect(boxOf({ west: 179.999_999_9, south: -1e-9, east: 180.5, north: 1e-6 })).toBe(
    "180,0,-179.5,0.000001",
  );
});

test("isInside() takes the edges in, and any turn of the world", () => {
  const bounds = { west: 170, south: -10, east: 190, north: 10 };
  const at = (longitude: number, latitude = 0) => isInside({ latitude, longitude }, bounds);
  expect([170, 180, -180, -175, 190, -170, 535].map((longitude) => at(longitude))).toEqual(
    Array(7).fill(true),
  );
  expect([at(169), at(-169), at(0), at(180, 11), at(180, -11)]).toEqual(Array(5).fill(false));
  expect(at(180, 10)).toBe(true);
});
