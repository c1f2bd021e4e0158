import { EARTH_RADIUS_METERS } from "../model/geo/distance.ts";

// Squares of chords between points of the unit sphere, which order points like great-circle distances.

/** The squared chord of an arc. */
export function squaredChord(meters: number): number {
  const half = Math.sin(Math.min(Math.PI, meters / EARTH_RADIUS_METERS) / 2);
  return 4 * half * half;
}

/** More than the rounding error of a squared chord computed from unit vectors, which are exact to 4e-16. */
export function roundingOf(chord: number): number {
  return 1e-14 * Math.sqrt(chord) + 1e-28;
}

/** Two squared chords up to `chord` are in the right order if they differ by more than this. */
export function swapMax(chord: number): number {
  return 2 * roundingOf(chord);
}

/**
 * Between these two, some 6 cm and 16,000 km, `arcMeters()` and `bearingDegrees()` are as good as the exact formulas.
 */
export const CHORD_MIN = 1e-16;
export const CHORD_MAX = 3.6;

const SERIES_MAX = 1e-3;

/** The arc of a squared chord. */
export function arcMeters(chord: number): number {
  const square = chord / 4;
  const half = Math.sqrt(square);
  if (square > SERIES_MAX) return 2 * EARTH_RADIUS_METERS * Math.asin(half);
  // The series of the arcsine. The next term would be below 1e-19 of the sum.
  const series =
    1 +
    square *
      (1 / 6 + square * (3 / 40 + square * (15 / 336 + square * (105 / 3456 + square * (945 / 42_240)))));
  return 2 * EARTH_RADIUS_METERS * half * series;
}

/** tan(π/8); steeper angles are computed from 45°. */
const SLOPE_MAX = Math.SQRT2 - 1;

// Looked up with the outcome of a comparison, since a branch would be mispredicted every other time.
const ZERO_OR_ONE = Float64Array.of(0, 1);
/** The degrees at which an octant starts or ends, and whether to add or subtract; by west, south, and beyond 45°. */
const OCTANT_START = Float64Array.of(0, 90, 180, 90, 360, 270, 180, 270);
const OCTANT_SIGN = Float64Array.of(1, -1, -1, 1, -1, 1, 1, -1);

/** Degrees clockwise from north, from 0 to below 360. `Math.atan2` takes three times as long. */
export function bearingDegrees(east: number, north: number): number {
  const absEast = Math.abs(east);
  const absNorth = Math.abs(north);
  const sum = absEast + absNorth;
  const difference = Math.abs(absEast - absNorth);
  const long = (sum + difference) / 2;
  const short = (sum - difference) / 2;
  const steep = ZERO_OR_ONE[Number(short > SLOPE_MAX * long)]!;
  const slope = (short - steep * long) / (long + steep * short);
  const square = slope * slope;
  // An arctangent in degrees, by a polynomial through Chebyshev nodes, exact to 2e-11.
  const high =
    square *
    (6.361810657676038 +
      square * (-5.152339061003633 + square * (3.995855818967194 - square * 2.1573622081646215)));
  const low =
    57.295779513039015 +
    square * (-19.098593138685544 + square * (11.459151920423674 + square * -8.184923498453193));
  const angle = 45 * steep + slope * (low + square * square * square * high);
  const octant = 4 * Number(east < 0) + 2 * Number(north < 0) + Number(absEast > absNorth);
  const degrees = OCTANT_START[octant]! + OCTANT_SIGN[octant]! * angle;
  return degrees < 360 ? degrees : 0;
}
