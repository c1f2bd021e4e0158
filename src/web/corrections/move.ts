import { bearingBetween, metersBetween, nearestMeridian, type Place, type Position } from "../geo/earth.ts";
import { compassPoint, distanceText, type Units } from "../geo/units.ts";
import { latitudeOf, longitudeOf, WORLD_PIXELS, WORLD_SIZE, worldX, worldY } from "../geo/world.ts";
import { SILENCE_MS_MAX, type Track } from "../history/track.ts";

/* Where a moved position was, and where it belongs. */

export interface Move {
  readonly timestampMs: number;
  readonly from: Place;
  readonly to: Place;
}

/** How far an arrow key moves a position, in pixels of the map; with Shift further. */
const NUDGE_PIXELS = 2;
const NUDGE_PIXELS_SHIFT = 20;

const ARROWS: Readonly<Record<string, readonly [east: number, south: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where a key moves a place on a map of this zoom; null if it is no arrow. */
export function nudged(
  { latitude, longitude }: Place,
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  zoom: number,
): Place | null {
  const arrow = ARROWS[key];
  if (arrow === undefined) return null;
  const [east, south] = arrow;
  const pixels = shiftKey ? NUDGE_PIXELS_SHIFT : NUDGE_PIXELS;
  const step = (pixels * WORLD_SIZE) / (WORLD_PIXELS * 2 ** zoom);
  // Only one coordinate changes: each key would round the other one.
  if (south === 0) return { latitude, longitude: longitudeOf((worldX(longitude) + east * step) >>> 0) };
  const y = Math.min(WORLD_SIZE - 1, Math.max(0, worldY(latitude) + south * step));
  return { latitude: latitudeOf(y), longitude };
}

export function isMoved({ from, to }: Move): boolean {
  return from.latitude !== to.latitude || from.longitude !== to.longitude;
}

/** A centimeter: more digits of a place on the screen mean nothing. */
const DIGITS = 7;

/** The members of the correction. */
export function moveMembers({ timestampMs, to }: Move) {
  return {
    timestamps: [timestampMs],
    latitude: Number(to.latitude.toFixed(DIGITS)),
    longitude: Number(nearestMeridian(to.longitude, 0).toFixed(DIGITS)),
  };
}

/** `230 m NE`, as seen from where it was. */
export function shiftText({ from, to }: Move, units: Units): string {
  const ends = [from.latitude, from.longitude, to.latitude, to.longitude] as const;
  return `${distanceText(metersBetween(...ends), units)} ${compassPoint(bearingBetween(...ends))}`;
}

/**
 * The line from the previous position through the new place to the next one. It ends at the new place if a silence
 * follows, and begins there after one. Empty if the track is simplified, since its positions are no neighbors.
 */
export function lineThrough(track: Track, { timestampMs, to }: Move): readonly Position[] {
  const at = track.indexAt(timestampMs);
  if (track.toleranceMeters > 0 || track.timestampMs[at] !== timestampMs) return [];
  const neighbors = [at - 1, at + 1].map((index): Position[] => {
    const isNear = Math.abs((track.timestampMs[index] ?? Number.NaN) - timestampMs) <= SILENCE_MS_MAX;
    return isNear ? [[track.longitude[index]!, track.latitude[index]!]] : [];
  });
  const [before = [], after = []] = neighbors;
  if (before.length + after.length === 0) return [];
  return [...before, [to.longitude, to.latitude], ...after];
}
