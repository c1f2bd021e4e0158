import { nearestMeridian } from "./earth.ts";

/** A place, degrees, as in GeoJSON. Longitudes may go on past ±180. */
export type Position = [longitude: number, latitude: number];

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** The same places, each less than half the world from the one before: what crosses ±180° goes on instead of back. */
export function unwrapped(positions: readonly Position[]): Position[] {
  let before = positions[0]?.[0] ?? 0;
  return positions.map(([longitude, latitude]) => {
    before = nearestMeridian(longitude, before);
    return [before, latitude];
  });
}
