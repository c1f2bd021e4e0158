import { METERS_PER_MILE, type Units } from "../geo/units.ts";

/* The radius of the nearby circle, in the page's units. The endpoint accepts at most 50 miles. */

/** The steps of the slider, from a car park to a county. */
const STEPS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50];

const METERS_PER_UNIT: Readonly<Record<Units, number>> = { metric: 1000, miles: METERS_PER_MILE };
const MAX: Readonly<Record<Units, number>> = { metric: 80, miles: 50 };

export const UNIT_NAMES: Readonly<Record<Units, string>> = { metric: "km", miles: "mi" };

export function radiusMax(units: Units): number {
  return MAX[units];
}

export function radiusSteps(units: Units): readonly number[] {
  return STEPS.at(-1) === MAX[units] ? STEPS : [...STEPS, MAX[units]];
}

export function metersOf(radius: number, units: Units): number {
  return radius * METERS_PER_UNIT[units];
}

export function radiusOf(meters: number, units: Units): number {
  return meters / METERS_PER_UNIT[units];
}

export function milesOf(radius: number, units: Units): number {
  return units === "miles" ? radius : metersOf(radius, units) / METERS_PER_MILE;
}

/** Parses a typed radius; null if the endpoint would reject it. */
export function parseRadius(text: string, units: Units): number | null {
  const radius = Number(text.trim().replace(",", "."));
  return radius > 0 && radius <= MAX[units] ? radius : null;
}

/** The index of the step that is nearest to a radius. */
export function nearestStep(radius: number, units: Units): number {
  const distances = radiusSteps(units).map((step) => Math.abs(Math.log(step / radius)));
  return distances.indexOf(Math.min(...distances));
}

/** The largest step whose circle fits into a square with this distance from its center to each side. */
export function fittingRadius(meters: number, units: Units): number {
  const steps = radiusSteps(units);
  return steps.findLast((step) => metersOf(step, units) <= meters) ?? steps[0]!;
}
