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
  let south = 90;
  let north = -90;
  for (let i = 0; i < latitudes.length; i++) {
    south = Math.min(south, latitudes[i]!);
    north = Math.max(north, latitudes[i]!);
  }
  // What is left out is the widest gap between neighbors; at first, that across ±180°.
  const sorted = Float64Array.from(longitudes).sort();
  let west = sorted[0]!;
  let east = sorted.at(-1)!;
  let widest = west + 360 - east;
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (gap <= widest) continue;
    widest = gap;
    west = sorted[i]!;
    east = sorted[i - 1]! + 360;
  }
  return { west, south, east, north };
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
