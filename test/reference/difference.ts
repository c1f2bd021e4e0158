import type { ReferenceAnswer } from "./asked.ts";

/**
 * How an answer of a process differs from the reference's. Another runtime rounds sines in its own way and answers show
 * some decimals, so distances and bearings are compared within a tolerance; what was measured must be possible.
 */

/** The last decimal that nearby shows. */
const MILES_TOLERANCE = 1e-4;
const METERS_TOLERANCE = MILES_TOLERANCE * 1609.344;
/** The last of a bearing's two decimals, and rounding. */
const DEGREES_TOLERANCE = 0.011;

const SOURCES: readonly unknown[] = ["hot", "archive", "hot+archive"];

/** The first such as `locations.3.speed should be 4 but is 5`; null where there is none. */
export function findAnswerDifference(
  actual: { readonly status: number; readonly body: unknown },
  expected: ReferenceAnswer,
): string | null {
  return (
    findDifference(actual.status, expected.status, ["status"]) ?? findDifference(actual.body, expected.body)
  );
}

/** The same of any values. */
export function findDifference(
  actual: unknown,
  expected: unknown,
  path: readonly string[] = [],
): string | null {
  if (!isObject(expected) || !isObject(actual)) {
    return isRight(actual, expected, path)
      ? null
      : `${path.join(".")} should be ${JSON.stringify(expected)} but is ${JSON.stringify(actual)}`;
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) {
    return `${path.join(".")}.length should be ${expected.length} but is ${actual.length}`;
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    if (expected[name] === undefined && actual[name] !== undefined) {
      return `${[...path, name].join(".")} should not be there`;
    }
    const difference = findDifference(actual[name], expected[name], [...path, name]);
    if (difference !== null) return difference;
  }
  return candidatesDifference(actual);
}

/** Nearby looks at no fewer positions than it finds. */
function candidatesDifference({ total_candidates, pagination }: Record<string, unknown>): string | null {
  if (total_candidates === undefined) return null;
  const { total_matches } = pagination as { readonly total_matches: number };
  return (total_candidates as number) >= total_matches ? null : `total_candidates is below total_matches`;
}

function isRight(actual: unknown, expected: unknown, path: readonly string[]): boolean {
  const name = path.at(-1);
  if (name === "source") return SOURCES.includes(actual);
  if (expected === null) return typeof actual === "number" && actual >= 0; // Measured.
  if (typeof actual !== "number" || typeof expected !== "number") return Object.is(actual, expected);
  const off = Math.abs(actual - expected);
  if (name === "bearing_degrees") {
    return actual >= 0 && actual < 360 && Math.min(off, 360 - off) <= DEGREES_TOLERANCE;
  }
  if (name === "miles" || name === "distance_miles") return off <= MILES_TOLERANCE * (1 + 1e-9);
  if (name === "meters" || path.at(-2) === "by_device") return off <= METERS_TOLERANCE * (1 + 1e-9);
  return Object.is(actual, expected);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
