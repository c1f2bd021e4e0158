import { expect, test } from "bun:test";
import { roughTripText, tripText, wayText } from "../../../../src/web/device/story-list.ts";

const placeOf = (name: string) => ({ name, country: "GB", distance_miles: 1, bearing_degrees: 0 });

const TRIP = {
  ...({ kind: "trip", startMs: 0, endMs: 1_200_000, from: null, to: null } as const),
  ...{ meters: 12_000, movingMs: 1_200_000, topSpeed: 61.4 },
  bounds: { west: 0, south: 0, east: 1, north: 1 },
};

test("a trip has its distance, its average and its top speed", () => {
  expect(tripText(TRIP, "metric")).toBe("12.0 km, average 36 km/h, top 61 km/h");
  expect(tripText({ ...TRIP, topSpeed: null }, "miles")).toBe("7.46 mi, average 22 mph");
});

test("a trip that was replayed faster than its recorded speeds has no average", () => {
  expect(tripText({ ...TRIP, topSpeed: 35 }, "metric")).toBe("12.0 km, top 35 km/h");
});

test("a trip of a simplified line has a rough distance, and no average", () => {
  expect(roughTripText(TRIP, "metric")).toBe("About 12.0 km, top 61 km/h");
  expect(roughTripText({ ...TRIP, topSpeed: null }, "metric")).toBe("About 12.0 km");
});

test("a silence is no part of the average", () => {
  const silent = { ...TRIP, movingMs: 600_000, topSpeed: null };
  expect(tripText(silent, "metric")).toBe("12.0 km, average 72 km/h, silent for 10 min");
});

test("a trip leads from place to place, as far as they are known", () => {
  const [chelsea, boston] = [placeOf("Chelsea"), placeOf("Boston")];
  expect(wayText({ from: chelsea, to: boston })).toBe("Chelsea to Boston");
  expect(wayText({ from: chelsea, to: chelsea })).toBe("Around Chelsea");
  expect(wayText({ from: null, to: boston })).toBe("To Boston");
  expect(wayText({ from: chelsea, to: null })).toBe("From Chelsea");
  expect(wayText({ from: null, to: null })).toBeNull();
});
