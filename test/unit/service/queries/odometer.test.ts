import { expect, test } from "bun:test";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import { unitVector } from "../../../../src/model/geo/unit-vector.ts";
import { Odometer } from "../../../../src/service/queries/odometer.ts";
import * as fc from "../../../support/fast-check.ts";
import { type Leg, path, paths } from "./paths.ts";

function read(positions: readonly { timestampMs: number; latitude: number; longitude: number }[]): Odometer {
  const odometer = new Odometer();
  for (const { timestampMs, latitude, longitude } of positions) {
    odometer.add(timestampMs, unitVector(latitude, longitude));
  }
  return odometer;
}

/** Meters to the millimeter. */
function metersOf(legs: readonly Leg[]): number {
  return Math.round(read(path(legs)).meters * 1000) / 1000;
}

test("Odometer adds up the steps of a path", () => {
  fc.assert(
    fc.property(paths, (positions) => {
      let meters = 0;
      for (const [i, to] of positions.entries()) {
        const from = positions[Math.max(0, i - 1)]!;
        meters += haversineMeters(from.latitude, from.longitude, to.latitude, to.longitude);
      }
      // No leg of these paths is as fast as 400 m/s but from one stretch to the next.
      const slow = positions.map((at, i) => ({ ...at, timestampMs: i * 1_000_000 }));
      expect(read(slow).meters).toBeCloseTo(meters, 3);
    }),
  );
});

test("Odometer leaves out a position that the device can't have come to", () => {
  const drive: Leg[] = [
    [0, 0, 0],
    [10, 100, 0],
    [20, 50_000, 0],
    [30, 300, 0],
  ];
  expect(metersOf(drive)).toBe(300);
});

test("Odometer goes on from where two positions agree, without the jump", () => {
  const moved: Leg[] = [
    [0, 0, 0],
    [10, 50_000, 0],
    [20, 50_100, 0],
    [30, 50_300, 0],
  ];
  expect(metersOf(moved)).toBeCloseTo(300, 1);
});

test("Odometer counts a step of 400 m/s, and none that is faster", () => {
  const steps = (meters: number): Leg[] => [
    [0, 0, 0],
    [1, meters, 0],
  ];
  expect(metersOf(steps(399.9))).toBe(399.9);
  expect(metersOf(steps(400.1))).toBe(0);
});

test("Odometer counts the way over a silence, and not its time", () => {
  const silent = read(
    path([
      [0, 0, 0],
      [600, 1000, 0],
      [1201, 3000, 0],
    ]),
  );
  expect(Math.round(silent.meters)).toBe(3000);
  expect(silent.heardMs).toBe(600_000);
});
