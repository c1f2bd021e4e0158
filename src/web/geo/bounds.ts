import { nearestMeridian, type Place } from "./earth.ts";

/** Degrees. `east` is never below `west`; it exceeds 180 if the bounds cross ±180°. */
export interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The smallest bounds of all positions, across ±180° if that is shorter; null if there are none. */
export function boundsOf(latitudes: ArrayLike<number>, longitudes: ArrayLike<number>): Bounds | null {
  if (longitudes.length === 0) return null;
  const [south, north] = rangeOf(latitudes);
  let [west, east] = rangeOf(longitudes);
  // The bounds exclude the widest gap between neighbors. The first candidate is the gap across ±180°; if that is half
  // the world or more, no other can be wider.
  let widest = west + 360 - east;
  if (widest >= 180) return { west, south, east, north };
  const sorted = Float64Array.from(longitudes).sort();
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (gap <= widest) continue;
    widest = gap;
    west = sorted[i]!;
    east = sorted[i - 1]! + 360;
  }
  return { west, south, east, north };
}

function rangeOf(values: ArrayLike<number>): [least: number, greatest: number] {
  let least = values[0]!;
  let greatest = least;
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    else if (value > greatest) greatest = value;
  }
  return [least, greatest];
}

/**
 * The `bbox` parameter of endpoints: longitudes from -180 to 180, with west greater than east if the box crosses ±180°.
 * Undefined for the whole world.
 */
export function boxOf({ west, south, east, north }: Bounds): string | undefined {
  if (east - west >= 360) return undefined;
  const edges = [wrapped(west), Math.max(-90, south), wrapped(east), Math.min(90, north)];
  return edges.map((degrees) => Number(degrees.toFixed(6))).join();
}

/** Normalizes a longitude to [-180°, 180°). Maps extend beyond that, endpoints do not. */
export function wrapped(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}

/** Whether a place is within the bounds or on their edge, in whichever turn of the world they are. */
export function isInside({ latitude, longitude }: Place, { west, south, east, north }: Bounds): boolean {
  const middle = (west + east) / 2;
  const isBetween = Math.abs(nearestMeridian(longitude, middle) - middle) <= (east - west) / 2;
  return isBetween && latitude >= south && latitude <= north;
}
