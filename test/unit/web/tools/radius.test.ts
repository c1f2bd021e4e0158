import { expect, test } from "bun:test";
import {
  fittingRadius,
  metersOf,
  milesOf,
  nearestStep,
  parseRadius,
  radiusMax,
  radiusSteps,
} from "../../../../src/web/tools/radius.ts";

const ENDPOINT_MILES_MAX = 50;

test("no radius is more than the endpoint takes", () => {
  for (const units of ["metric", "miles"] as const) {
    expect(milesOf(radiusMax(units), units)).toBeLessThanOrEqual(ENDPOINT_MILES_MAX);
    expect(radiusSteps(units).at(-1)).toBe(radiusMax(units));
  }
  expect(milesOf(5, "miles")).toBe(5);
  expect(milesOf(1.609344, "metric")).toBe(1);
  expect(metersOf(2, "metric")).toBe(2000);
});

test("what is typed is a radius, or nothing", () => {
  expect(["3", " 0.4 ", "0,4", "80"].map((text) => parseRadius(text, "metric"))).toEqual([3, 0.4, 0.4, 80]);
  const wrong = ["", "0", "-1", "81", "x", "Infinity"];
  expect(wrong.filter((text) => parseRadius(text, "metric") !== null)).toEqual([]);
  expect(parseRadius("51", "miles")).toBeNull();
});

test("the slider stands at the step that a typed radius is nearest to", () => {
  const steps = radiusSteps("metric");
  for (const [index, step] of steps.entries()) expect(nearestStep(step, "metric")).toBe(index);
  expect(steps[nearestStep(0.001, "metric")]).toBe(0.1);
  expect(steps[nearestStep(3, "metric")]).toBe(2);
  expect(steps[nearestStep(4, "metric")]).toBe(5);
});

test("the first circle fits into what is seen", () => {
  expect(fittingRadius(2500, "metric")).toBe(2);
  expect(fittingRadius(2500, "miles")).toBe(1);
  expect(fittingRadius(10, "metric")).toBe(0.1);
  expect(fittingRadius(20_000_000, "miles")).toBe(50);
});
