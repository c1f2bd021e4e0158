/**
 * What an answer should be. Plain values must be equal; a function checks a value that was measured or derived,
 * and says what it should be, or null where it is.
 */
export type Expected =
  | string
  | number
  | boolean
  | null
  | Check
  | readonly Expected[]
  | { readonly [member: string]: Expected | undefined };

export type Check = (actual: unknown) => string | null;

/** The first place where they differ, such as `locations.3.speed should be 4 but is 5`; null where there is none. */
export function findDifference(actual: unknown, expected: Expected | undefined, place = ""): string | null {
  if (typeof expected === "function") {
    const should = expected(actual);
    return should === null ? null : `${place} should be ${should} but is ${JSON.stringify(actual)}`;
  }
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) {
    return Object.is(actual, expected)
      ? null
      : `${place} should be ${JSON.stringify(expected)} but is ${JSON.stringify(actual)}`;
  }
  const [found, wanted] = [actual as Record<string, unknown>, expected as Record<string, Expected>];
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return `${place}.length should be ${expected.length} but is ${actual.length}`;
  }
  for (const name in wanted) {
    const difference = findDifference(found[name], wanted[name], place === "" ? name : `${place}.${name}`);
    if (difference !== null) return difference;
  }
  for (const name in found)
    if (wanted[name] === undefined && found[name] !== undefined)
      return `${place}.${name} should not be there`;
  return null;
}

/** Within the tolerance, both included. */
export function near(value: number, tolerance: number): Check {
  return (actual) =>
    typeof actual === "number" && Math.abs(actual - value) <= tolerance * (1 + 1e-9)
      ? null
      : `about ${value}`;
}

/** The same around the compass. */
export function nearDegrees(value: number, tolerance: number): Check {
  return (actual) => {
    if (typeof actual !== "number" || actual < 0 || actual >= 360) return "0 to before 360";
    const turn = Math.abs(actual - value) % 360;
    return Math.min(turn, 360 - turn) <= tolerance ? null : `about ${value}`;
  };
}

export function atLeast(minimum: number): Check {
  return (actual) => (typeof actual === "number" && actual >= minimum ? null : `at least ${minimum}`);
}

export function oneOf(...values: readonly string[]): Check {
  return (actual) => (values.some((value) => value === actual) ? null : `one of ${values.join(", ")}`);
}

const digests = new Map<string, string>();
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A record's id: 48 bits of its time in the ULID alphabet, then 16 characters that are the same for a device of an
 * app for as long as this test runs, and another's never.
 */
export function recordIdOf(appId: string, deviceId: string, timestampMs: number): Check {
  return (actual) => {
    if (typeof actual !== "string" || !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(actual)) return "a ULID";
    let time = 0;
    for (const character of actual.slice(0, 10)) time = time * 32 + CROCKFORD.indexOf(character);
    if (time !== timestampMs) return `an id of the time ${timestampMs}`;
    const [device, digest] = [`${appId}\0${deviceId}`, actual.slice(10)];
    for (const [key, value] of [
      [device, digest],
      [digest, device],
    ] as const) {
      const known = digests.get(key) ?? value;
      digests.set(key, known);
      if (known !== value) return `an id that ends as others of "${deviceId}"`;
    }
    return null;
  };
}
