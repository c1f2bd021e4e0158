import {
  EARTH_RADIUS_METERS,
  nearestMeridian,
  type Place,
  type Position,
  RADIANS_PER_DEGREE,
  unwrapped,
} from "./earth.ts";
import { LATITUDE_MAX } from "./world.ts";

/** A circle on the sphere, in map coordinates. */
export interface CircleShape {
  /** The rings of a polygon. */
  readonly area: Position[][];
  /** Empty if the circle covers the world. */
  readonly edge: Position[];
}

const CORNERS = 180;

/**
 * The shape of a circle. Longitudes extend past ±180 instead of jumping back. Around a pole the area is closed along
 * the edge of the map.
 */
export function circleShape(center: Place, radiusMeters: number, corners = CORNERS): CircleShape {
  const angle = radiusMeters / EARTH_RADIUS_METERS;
  if (angle >= Math.PI) return { area: [worldRing(0)], edge: [] };
  const edge = unwrapped(
    Array.from({ length: corners + 1 }, (_, corner) =>
      destination(center, angle, ((corner % corners) * 2 * Math.PI) / corners),
    ),
  );
  const [start] = edge[0]!;
  const [end] = edge.at(-1)!;
  if (Math.abs(end - start) > 180) {
    const pole = center.latitude < 0 ? -LATITUDE_MAX : LATITUDE_MAX;
    return { area: [[...edge, [end, pole], [start, pole], edge[0]!]], edge };
  }
  // More than half of the Earth with both poles: the edge is a hole in the world.
  if (angle > Math.PI / 2) return { area: [worldRing(center.longitude + 180), aroundOf(edge, center)], edge };
  return { area: [edge], edge };
}

/** The position at an angle from a center in a direction. Computed with vectors, for which poles are not special. */
function destination({ latitude, longitude }: Place, angle: number, turn: number): Position {
  const [sine, cosine] = [Math.sin(latitude * RADIANS_PER_DEGREE), Math.cos(latitude * RADIANS_PER_DEGREE)];
  const ahead = Math.cos(angle);
  const north = Math.sin(angle) * Math.cos(turn);
  const east = Math.sin(angle) * Math.sin(turn);
  const out = ahead * cosine - north * sine; // Away from the Earth's axis, towards the center's longitude.
  const up = ahead * sine + north * cosine;
  const eastward = Math.atan2(east, out) / RADIANS_PER_DEGREE;
  return [longitude + eastward, Math.atan2(up, Math.hypot(out, east)) / RADIANS_PER_DEGREE];
}

/** The edge, shifted to longitudes around the antipode of the circle. */
function aroundOf(edge: readonly Position[], { longitude }: Place): Position[] {
  const [start] = edge[0]!;
  const shift = nearestMeridian(start, longitude + 180) - start;
  return edge.map(([edgeLongitude, latitude]) => [edgeLongitude + shift, latitude]);
}

/** A ring around the whole map, centered on a longitude. */
function worldRing(longitude: number): Position[] {
  const west = longitude - 180;
  const east = longitude + 180;
  return [
    [west, -LATITUDE_MAX],
    [east, -LATITUDE_MAX],
    [east, LATITUDE_MAX],
    [west, LATITUDE_MAX],
    [west, -LATITUDE_MAX],
  ];
}
