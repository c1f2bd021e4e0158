import { describe, expect, test } from "bun:test";
import { type Box, circleBoxes } from "../../../../src/model/geo/box.ts";

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
