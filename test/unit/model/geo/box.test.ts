import { describe, expect, test } from "bun:test";
import { areFarFrom, type Box, circleBoxes } from "../../../../src/model/geo/box.ts";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import * as fc from "../../../support/fast-check.ts";

function holds(boxes: readonly Box[], latitude: number, longitude: number): boolean {
  return boxes.some(
    (box) =>
      latitude >= box.minLatitude &&
      latitude <= box.maxLatitude &&
      longitude >= box.minLongitude &&
      longitude <= box.maxLongitude,
  );
}

describe("circleBoxes()", () => {
  test("is one tight box in the middle of the map", () => {
    const [box, ...more] = circleBoxes(0, 10, 111_195.08); // One degree.
    expect(more).toEqual([]);
    expect(box!.minLatitude).toBeCloseTo(-1, 4);
    expect(box!.maxLatitude).toBeCloseTo(1, 4);
    expect(box!.minLongitude).toBeCloseTo(9, 4);
    expect(box!.maxLongitude).toBeCloseTo(11, 4);
  });

  test("is two boxes over ±180, and both write 180 with their own sign", () => {
    for (const longitude of [179.9, 180, -180, -179.9]) {
      const boxes = circleBoxes(0, longitude, 20_000);
      expect(boxes).toHaveLength(2);
      expect(holds(boxes, 0, 180) && holds(boxes, 0, -180)).toBe(true);
      expect(holds(boxes, 0, 0)).toBe(false);
    }
  });

  test("finds a point on the other sign of 180 with no radius at all", () => {
    expect(holds(circleBoxes(52, -180, 0), 52, 180)).toBe(true);
    expect(holds(circleBoxes(52, 180, 0), 52, -180)).toBe(true);
    expect(circleBoxes(52, 13, 0)).toHaveLength(1);
    expect(holds(circleBoxes(52, 13, 0), 52, 13)).toBe(true);
  });

  test("is every longitude around a pole, down to the circle's far side", () => {
    for (const sign of [1, -1]) {
      const [box, ...more] = circleBoxes(sign * 89.9, 45, 20_000);
      expect(more).toEqual([]);
      expect([box!.minLongitude, box!.maxLongitude]).toEqual([-180, 180]);
      expect(sign === 1 ? box!.maxLatitude : box!.minLatitude).toBe(sign * 90);
      expect(sign === 1 ? box!.minLatitude : box!.maxLatitude).toBeCloseTo(
        sign * (89.9 - 20_000 / 111_195.08),
        4,
      );
    }
  });

  test("is the whole earth from half its circumference on", () => {
    const earth: Box = { minLatitude: -90, maxLatitude: 90, minLongitude: -180, maxLongitude: 180 };
    for (const radiusMeters of [Math.PI * 6_371_008.8, 1e9, Number.MAX_VALUE]) {
      expect(circleBoxes(12, 34, radiusMeters)).toEqual([earth]);
    }
  });
});

describe("areFarFrom()", () => {
  const latitudes = fc.oneof(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.constantFrom(-90, -89.9999, 0, 89.9999, 90),
  );
  const longitudes = fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.constantFrom(-180, -179.9999, 0, 179.9999, 180),
  );
  const meters = fc.oneof(fc.double({ min: 0, max: 5e6, noNaN: true }), fc.constantFrom(0, 1, 2e7));

  test("is never true of a circle that is nearer", () => {
    fc.assert(
      fc.property(
        fc.tuple(latitudes, longitudes, meters),
        fc.tuple(latitudes, longitudes, meters),
        ([latitude, longitude, radiusMeters], [otherLatitude, otherLongitude, farMeters]) => {
          const boxes = circleBoxes(latitude, longitude, radiusMeters);
          const distance = haversineMeters(latitude, longitude, otherLatitude, otherLongitude) - radiusMeters;
          if (areFarFrom(boxes, otherLatitude, otherLongitude, farMeters))
            expect(distance).toBeGreaterThan(farMeters);
        },
      ),
      { numRuns: 10_000 },
    );
  });

  test("is true of what is a little farther to each side, over ±180° too", () => {
    for (const longitude of [0, 179.999, -180]) {
      const boxes = circleBoxes(60, longitude, 100);
      const far = (north: number, east: number) => {
        const other = longitude + east;
        return areFarFrom(
          boxes,
          60 + north,
          other > 180 ? other - 360 : other < -180 ? other + 360 : other,
          200,
        );
      };
      // 300 m are 0.0027 degrees of latitude, and 0.0054 of longitude there.
      expect([far(0.003, 0), far(-0.003, 0), far(0, 0.006), far(0, -0.006)]).toEqual([
        true,
        true,
        true,
        true,
      ]);
      expect([far(0.0025, 0), far(-0.0025, 0), far(0, 0.005), far(0, -0.005)]).toEqual([
        false,
        false,
        false,
        false,
      ]);
    }
  });
});
