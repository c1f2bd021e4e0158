import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import type { Line } from "../model/watches/area.ts";
import type { Frame } from "./frame.ts";
import { NearestOnEdge } from "./nearest-on-edge.ts";

/** Subtracted from the lower bound of a distance, in radii: 6 µm, more than rounding adds. */
const ROUNDING = 1e-12;

/*
 * Shared, since one border is asked at a time. Of each of its edges: a lower bound of its distance in radii, and where
 * its nearest point may be, from 0 to 1.
 */
const nearestOnEdge = new NearestOnEdge();
let bounds = new Float64Array(1024);
let starts = new Float64Array(1024);

/**
 * Meters to the nearest edge of lines along the sphere, where edges are straight in longitudes and latitudes: within
 * 0.1 mm, if that point is less than 1,000 km away and nearer than the poles; within 1 % for others. `frame` is the
 * rectangle around the lines.
 */
export function metersToLines(
  lines: readonly Line[],
  frame: Frame,
  latitude: number,
  longitude: number,
): number {
  const likely = boundEdges(lines, frame, latitude, longitude);
  nearestOnEdge.lookFrom(latitude, longitude);
  let haversine = haversineTo(lines, likely);
  let chord = 2 * Math.sqrt(haversine);
  let edge = 0;
  for (const line of lines)
    for (let at = 2; at < line.length; at += 2, edge++) {
      // An edge that is farther away than one that was measured is not measured.
      if (bounds[edge]! >= chord || edge === likely) continue;
      haversine = Math.min(haversine, nearestOnEdge.haversineTo(line, at, starts[edge]!));
      chord = 2 * Math.sqrt(haversine);
    }
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.min(1, Math.sqrt(haversine)));
}

export function edgeCount(lines: readonly Line[]): number {
  let count = 0;
  for (const line of lines) count += line.length / 2 - 1;
  return count;
}

function haversineTo(lines: readonly Line[], edge: number): number {
  let first = 0;
  for (const line of lines) {
    const count = line.length / 2 - 1;
    if (edge < first + count) return nearestOnEdge.haversineTo(line, 2 * (edge - first) + 2, starts[edge]!);
    first += count;
  }
  return 1;
}

/**
 * Writes bounds and starts, and returns the edge with the least bound. A squared chord is 4 sin²(y/2) +
 * 4 cos a cos b sin²(x/2), with the steps y and x of latitude and longitude, and 4 sin²(y/2) is at least
 * y² (1 - y²/12). So the edges are at least as far away as in a plane with the least cosine and the greatest steps.
 */
function boundEdges(
  lines: readonly Line[],
  { west, east, minLatitude, maxLatitude }: Frame,
  latitude: number,
  longitude: number,
): number {
  const count = edgeCount(lines);
  if (bounds.length < count) {
    bounds = new Float64Array(count);
    starts = new Float64Array(count);
  }
  const middle = (west + east) / 2;
  const x = longitude + 360 * Math.round((middle - longitude) / 360);
  const stepX = (Math.abs(middle - x) + (east - west) / 2) * RADIANS_PER_DEGREE;
  const stepY = Math.max(maxLatitude - latitude, latitude - minLatitude) * RADIANS_PER_DEGREE;
  // What is more than half around the earth to the east is nearer to the west: then nothing is known of any edge.
  const isNear = stepX <= Math.PI;
  const step = Math.max(stepX, stepY);
  const scaleY = isNear ? Math.sqrt(Math.max(0, 1 - (step * step) / 12)) * RADIANS_PER_DEGREE : 0;
  const farthest = Math.max(maxLatitude, -minLatitude);
  const cosines = Math.cos(latitude * RADIANS_PER_DEGREE) * Math.cos(farthest * RADIANS_PER_DEGREE);
  const scaleX = scaleY * Math.sqrt(Math.max(0, cosines));
  let [edge, least] = [0, 0];
  for (const line of lines) {
    let aX = (line[0]! - x) * scaleX;
    let aY = (line[1]! - latitude) * scaleY;
    for (let at = 2; at < line.length; at += 2, edge++) {
      const bX = (line[at]! - x) * scaleX;
      const bY = (line[at + 1]! - latitude) * scaleY;
      const uX = bX - aX;
      const uY = bY - aY;
      const squared = uX * uX + uY * uY;
      const along = -(aX * uX + aY * uY);
      const part = along <= 0 ? 0 : along >= squared ? 1 : along / squared;
      const dX = aX + part * uX;
      const dY = aY + part * uY;
      starts[edge] = part;
      bounds[edge] = Math.sqrt(dX * dX + dY * dY) - ROUNDING;
      if (bounds[edge]! < bounds[least]!) least = edge;
      aX = bX;
      aY = bY;
    }
  }
  return least;
}
