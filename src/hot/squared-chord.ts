import { EARTH_RADIUS_METERS } from "../geo/distance.ts";

/** Squares of chords between points of the unit sphere: they order points as great-circle distances do. */

/** Of an arc. */
export function squaredChord(meters: number): number {
  const half = Math.sin(Math.min(Math.PI, meters / EARTH_RADIUS_METERS) / 2);
  return 4 * half * half;
}

/** More than one computed from unit vectors may be off by: those are good to 4e-16, and so are chords. */
export function roundingOf(chord: number): number {
  return 1e-14 * Math.sqrt(chord) + 1e-28;
}
