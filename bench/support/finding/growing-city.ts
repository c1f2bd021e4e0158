import { METERS_PER_MILE, RADIANS_PER_DEGREE } from "../../../src/model/geo/distance.ts";
import { createMetropolis, drawPoints, type Point } from "../fleets/metropolis.ts";
import { AGE_DAYS_MAX, NOW_MS, type PositionColumns } from "./positions.ts";

/*
 * Cities of any size whose circles have the same number of devices of the last day. Either the city grows denser and
 * the circle smaller, or the city spreads.
 */
export interface GrowingCity {
  readonly positions: PositionColumns;
  readonly centers: readonly Point[];
  readonly radiusMiles: number;
}

export interface GrowingCityOptions {
  readonly devices: number;
  readonly growth: "denser" | "wider";
  /** The average number of devices of the last day in a circle. */
  readonly matches: number;
  readonly centers: number;
  readonly seed: number;
}

/** The center of the metropolis. */
const CENTER: Point = { latitude: 42.36, longitude: -71.06 };
const SIGMA_DEGREES = 0.15;
const METERS_PER_DEGREE = 111_195;

/** The radius for a city that spreads. */
const RADIUS_MILES = 1;

export function createGrowingCity(options: GrowingCityOptions): GrowingCity {
  const { devices, growth, matches, seed } = options;
  const metropolis = createMetropolis({ devices, seed, nowMs: NOW_MS });
  const centers = drawPoints(options.centers, seed + 1);
  const radiusMiles = radiusMilesFor(devices / AGE_DAYS_MAX, matches);
  if (growth === "denser") return { positions: metropolis, centers, radiusMiles };

  // Scales the city so that the circle has this radius.
  const scale = RADIUS_MILES / radiusMiles;
  const latitudeOf = (latitude: number) => CENTER.latitude + (latitude - CENTER.latitude) * scale;
  const longitudeOf = (longitude: number) => CENTER.longitude + (longitude - CENTER.longitude) * scale;
  return {
    positions: {
      ...metropolis,
      latitude: metropolis.latitude.map(latitudeOf),
      longitude: metropolis.longitude.map(longitudeOf),
    },
    centers: centers.map(({ latitude, longitude }) => ({
      latitude: latitudeOf(latitude),
      longitude: longitudeOf(longitude),
    })),
    radiusMiles: RADIUS_MILES,
  };
}

/**
 * Two points of a normal cloud are within r of each other with probability 1 - exp(-r² / 4σ²). The cloud is round in
 * degrees and narrower from west to east in meters, so σ is between the two, and the matches are approximate.
 */
function radiusMilesFor(devices: number, matches: number): number {
  const east = Math.cos(CENTER.latitude * RADIANS_PER_DEGREE);
  const sigmaMeters = SIGMA_DEGREES * METERS_PER_DEGREE * Math.sqrt(east);
  return (2 * sigmaMeters * Math.sqrt(-Math.log(1 - matches / devices))) / METERS_PER_MILE;
}
