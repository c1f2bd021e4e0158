import type { Polygons } from "../../../src/model/watches/area.ts";
import { createRandom, type Random } from "../fleets/random.ts";

/** Fences, and where reports come from: each is in the boxes of at most three. */
export interface FenceCity {
  readonly areas: readonly Polygons[];
  /** Latitudes and longitudes of reports. */
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
}

/** Fences that lie around one site. */
export const FENCES_A_SITE = 3;

/** The distance of sites in degrees, some 2 km; the fences of neighboring sites do not touch. */
const SITE_DEGREES = 0.02;
const RADIUS_DEGREES = 0.006;

/** Stars of some corners, three around each site of a square grid over a country; reports are near sites. */
export function createFenceCity(fences: number, corners: number, reports: number, seed: number): FenceCity {
  const random = createRandom(seed);
  const sites = Math.ceil(fences / FENCES_A_SITE);
  const side = Math.ceil(Math.sqrt(sites));
  const siteAt = (site: number) => ({
    latitude: 48 + Math.floor(site / side) * SITE_DEGREES,
    longitude: 5 + (site % side) * SITE_DEGREES,
  });
  const areas = Array.from({ length: fences }, (_, fence) => {
    const { latitude, longitude } = siteAt(Math.floor(fence / FENCES_A_SITE));
    return starAround(latitude + near(random, 0.001), longitude + near(random, 0.001), corners, random);
  });
  const latitudes = new Float64Array(reports);
  const longitudes = new Float64Array(reports);
  for (let report = 0; report < reports; report++) {
    const { latitude, longitude } = siteAt(Math.floor(random() * sites));
    latitudes[report] = latitude + near(random, RADIUS_DEGREES);
    longitudes[report] = longitude + near(random, RADIUS_DEGREES);
  }
  return { areas, latitudes, longitudes };
}

function near(random: Random, most: number): number {
  return (2 * random() - 1) * most;
}

function starAround(latitude: number, longitude: number, corners: number, random: Random): Polygons {
  const ring = new Float64Array(2 * corners + 2);
  for (let corner = 0; corner < corners; corner++) {
    const angle = (2 * Math.PI * corner) / corners;
    const radius = RADIUS_DEGREES * (0.4 + 0.6 * random());
    ring[2 * corner] = longitude + radius * Math.cos(angle);
    ring[2 * corner + 1] = latitude + radius * Math.sin(angle);
  }
  ring.copyWithin(2 * corners, 0, 2);
  return { type: "Polygon", polygons: [[ring]] };
}
