import fc from "fast-check";

/** Positions that are difficult for a spatial index. */

/** Uniform numbers; `fc.double` draws exponents uniformly, so most are tiny. */
export const real = (min: number, max: number) =>
  fc.integer({ min: 0, max: 2 ** 31 }).map((step) => min + (max - min) * (step / 2 ** 31));

const crowd = { latitude: real(42.3, 42.4), longitude: real(-71.1, -71) };
const edges = {
  latitude: fc.oneof(real(89.9, 90), real(-90, -89.9), real(-90, 90), fc.constantFrom(90, -90, 0, 42.34375)),
  longitude: fc.oneof(real(179.9, 180), real(-180, -179.9), real(-180, 180), fc.constantFrom(180, -180, 0)),
};

/** Positions in one city, at the poles, on both sides of ±180°, and identical ones. */
export const crowdedPlace = fc.oneof(
  { weight: 3, arbitrary: fc.record(crowd) },
  { weight: 1, arbitrary: fc.record(edges) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ latitude: 42.35, longitude: -71.05 }, { latitude: 0, longitude: 0 }),
  },
);
