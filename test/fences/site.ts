import { haversineMeters } from "../../src/model/geo/distance.ts";
import type { Area } from "../../src/model/watches/area.ts";

/*
 * The area of a journey and its surroundings as a plane, in meters east and north of the area's center. How deep a
 * point is inside follows from the figure in the plane, so the suite does not measure programs by our own geometry.
 */

export interface PlanePoint {
  readonly east: number;
  readonly north: number;
}

export interface Site {
  readonly area: Area;
  /** The area as a GeoJSON Feature, whose properties are those of a fence. */
  readonly feature: Readonly<Record<string, unknown>>;
  /** Meters from the border: positive inside, negative outside. */
  depthMeters(point: PlanePoint): number;
  /** Half of the longest way across. */
  readonly reachMeters: number;
  /** Degrees. */
  position(point: PlanePoint): { readonly latitude: number; readonly longitude: number };
}

/** What the suite asks of a fence: two fixes in a row, half a minute apart, and fixes of at most 50 m. */
export const FENCE_RULES = {
  accuracy_meters_max: 50,
  exit_buffer_meters: 20,
  confirmations: 2,
  confirm_seconds: 30,
};

const METERS_PER_DEGREE = haversineMeters(0, 0, 1, 0);

/** Every tenth area is at ±180°, every tenth near a pole; half of them are circles. */
export function createSite(random: () => number): Site {
  const kind = random();
  const latitude = kind < 0.1 ? 80 + random() * 5 : random() * 120 - 60;
  const longitude = kind > 0.9 ? 180 - random() * 0.002 : random() * 359 - 179.5;
  const metersPerLongitude = METERS_PER_DEGREE * Math.cos((latitude * Math.PI) / 180);
  function position({ east, north }: PlanePoint) {
    const shifted = longitude + east / metersPerLongitude;
    return {
      latitude: rounded(latitude + north / METERS_PER_DEGREE),
      longitude: rounded(shifted > 180 ? shifted - 360 : shifted),
    };
  }
  return random() < 0.5 ? circleSite(random, position) : rectangleSite(random, position);
}

/** Seven decimals: a centimeter. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}

function circleSite(random: () => number, position: Site["position"]): Site {
  const radiusMeters = Math.round(120 + random() * 380);
  const { latitude, longitude } = position({ east: 0, north: 0 });
  const geometry = { type: "Point", coordinates: [longitude, latitude] };
  return {
    area: { type: "Point", latitude, longitude, radiusMeters },
    feature: { type: "Feature", geometry, properties: { radius_meters: radiusMeters, ...FENCE_RULES } },
    depthMeters: ({ east, north }) => radiusMeters - Math.hypot(east, north),
    reachMeters: radiusMeters,
    position,
  };
}

function rectangleSite(random: () => number, position: Site["position"]): Site {
  const [halfLength, halfWidth] = [120 + random() * 300, 120 + random() * 100];
  const turn = random() * Math.PI;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const corners = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ] as const;
  const ring = corners.map(([a, b]) => {
    const [along, across] = [a * halfLength, b * halfWidth];
    const { latitude, longitude } = position({
      east: along * cos - across * sin,
      north: along * sin + across * cos,
    });
    return [longitude, latitude] as const;
  });
  const geometry = { type: "Polygon", coordinates: [ring] };
  return {
    area: { type: "Polygon", polygons: [[Float64Array.from(ring.flat())]] },
    feature: { type: "Feature", geometry, properties: FENCE_RULES },
    depthMeters({ east, north }) {
      const along = halfLength - Math.abs(east * cos + north * sin);
      const across = halfWidth - Math.abs(north * cos - east * sin);
      if (along >= 0 || across >= 0) return Math.min(along, across);
      return -Math.hypot(along, across);
    },
    reachMeters: Math.hypot(halfLength, halfWidth),
    position,
  };
}
