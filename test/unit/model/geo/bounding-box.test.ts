import { expect, test } from "bun:test";
import { BoundingBox } from "../../../../src/model/geo/bounding-box.ts";
import * as fc from "../../../support/fast-check.ts";

/** In steps of 2^-10°, so that whole turns are added exactly. */
function degrees(max: number) {
  const anywhere = fc.integer({ min: -max * 1024, max: max * 1024 }).map((steps) => steps / 1024);
  return fc.oneof(fc.constantFrom(-max, 1 - max, 0, max - 1, max), anywhere);
}

test("contains() agrees with walking east from the western edge", () => {
  fc.assert(
    fc.property(
      degrees(180),
      degrees(90),
      degrees(180),
      degrees(90),
      degrees(180),
      degrees(90),
      (w, a, e, b, lon, lat) => {
        const [south, north] = [Math.min(a, b), Math.max(a, b)];
        const box = new BoundingBox(w, south, e, north);
        // Whole turns are added until the places come in order from the western edge on.
        const east = e < w ? e + 360 : e;
        const isBetween = [lon - 360, lon, lon + 360].some((place) => place >= w && place <= east);
        expect(box.contains(lat, lon)).toBe(isBetween && lat >= south && lat <= north);
      },
    ),
    { numRuns: 2000 },
  );
});

test("contains() takes the edges, and both names of the meridian of 180°", () => {
  const fiji = new BoundingBox(177, -20, -178, -15);
  expect(fiji.contains(-17, 179)).toBe(true);
  expect(fiji.contains(-17, -179)).toBe(true);
  expect(fiji.contains(-20, 177)).toBe(true);
  expect(fiji.contains(-17, 0)).toBe(false);
  const toTheEdge = new BoundingBox(170, -1, 180, 1);
  expect(toTheEdge.contains(0, -180)).toBe(true);
  expect(toTheEdge.contains(0, -179.9)).toBe(false);
  expect(toTheEdge.contains(2, 180)).toBe(false);
});

test("touches() agrees with laying rectangles side by side, whole turns apart", () => {
  const place = fc.record({ latitude: degrees(90), longitude: degrees(180) });
  fc.assert(
    fc.property(
      degrees(180),
      degrees(90),
      degrees(180),
      degrees(90),
      place,
      place,
      (w, a, e, b, one, other) => {
        const [south, north] = [Math.min(a, b), Math.max(a, b)];
        const box = new BoundingBox(w, south, e, north);
        const step = ((((other.longitude - one.longitude) % 360) + 540) % 360) - 180;
        const [west, east] =
          step < 0 ? [one.longitude + step, one.longitude] : [one.longitude, one.longitude + step];
        const boxEast = e < w ? e + 360 : e;
        const isBeside = [-720, -360, 0, 360, 720].some((turn) => west + turn <= boxEast && east + turn >= w);
        const [low, high] = [one.latitude, other.latitude].sort((x, y) => x - y) as [number, number];
        const expected =
          Math.abs(step) > 90
            ? low + high > 0
              ? north >= low
              : south <= high
            : isBeside && low <= north && high >= south;
        expect(box.touches(one.latitude, one.longitude, other.latitude, other.longitude)).toBe(expected);
      },
    ),
    { numRuns: 3000 },
  );
});
