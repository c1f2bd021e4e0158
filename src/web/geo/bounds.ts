/** Degrees; `east` is never below `west`, and past 180 where the bounds cross ±180°. */
export interface Bounds {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The least bounds round all places, the short way round the world; null where there is none. */
export function boundsOf(latitudes: ArrayLike<number>, longitudes: ArrayLike<number>): Bounds | null {
  if (longitudes.length === 0) return null;
  const [south, north] = rangeOf(latitudes);
  let [west, east] = rangeOf(longitudes);
  // What is left out is the widest gap between neighbors; at first, that across ±180°. One that is half the world or
  // more can't be outdone.
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
 * As endpoints take a box: from -180 to 180, with a west that is greater than the east where it crosses that; undefined
 * for the whole world round.
 */
export function boxOf({ west, south, east, north }: Bounds): string | undefined {
  if (east - west >= 360) return undefined;
  const edges = [wrapped(west), Math.max(-90, south), wrapped(east), Math.min(90, north)];
  return edges.map((degrees) => Number(degrees.toFixed(6))).join();
}

/** The same meridian from -180° on to below 180°: maps go on beyond, endpoints do not. */
export function wrapped(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}
