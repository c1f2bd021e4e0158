import { expect, test } from "bun:test";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import * as fc from "../../support/fast-check.ts";
import { numberOrder } from "../../support/number-order.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { crowdedPlace } from "../../support/reports/crowded-places.ts";

const DEVICES = 3000;

const box = fc.tuple(crowdedPlace, crowdedPlace).map(([a, b]) => ({
  minLatitude: Math.min(a.latitude, b.latitude),
  maxLatitude: Math.max(a.latitude, b.latitude),
  minLongitude: Math.min(a.longitude, b.longitude),
  maxLongitude: Math.max(a.longitude, b.longitude),
}));
const fleet = fc.array(crowdedPlace, { minLength: 1, maxLength: DEVICES, size: "max" });

test("near() has all devices of some boxes, each once, or says that they are too many", () => {
  let left = 0;
  fc.assert(
    fc.property(
      fleet,
      fc.array(box, { minLength: 1, maxLength: 3 }),
      fc.nat(DEVICES),
      (places, boxes, max) => {
        const index = new PositionIndex(new PositionSearch(), numberOrder(DEVICES));
        for (const [device, { latitude, longitude }] of places.entries())
          index.set(device, latitude, longitude, 0, 0);
        for (let device = 0; device < places.length; device += 5) index.remove(device);
        const inside = [...places.keys()].filter((device) => {
          const { latitude, longitude } = places[device]!;
          return (
            device % 5 !== 0 &&
            boxes.some(
              (each) =>
                latitude >= each.minLatitude &&
                latitude <= each.maxLatitude &&
                longitude >= each.minLongitude &&
                longitude <= each.maxLongitude,
            )
          );
        });
        const all = index.near(boxes, DEVICES)!;
        expect(new Set(all).size).toBe(all.length);
        expect(inside.filter((device) => !all.includes(device))).toEqual([]);
        expect(all.every((device) => device % 5 !== 0)).toBe(true);
        const near = index.near(boxes, max);
        expect(near === null ? null : [...near]).toEqual(all.length > max ? null : [...all]);
        left += places.length - all.length;
      },
    ),
    { numRuns: 60 },
  );
  expect(left).toBeGreaterThan(randomRuns(10_000)); // Else all would do as well.
});
