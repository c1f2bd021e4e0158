import { type Bounds, boundsOf } from "../geo/bounds.ts";
import { circleShape } from "../geo/circle-shape.ts";
import {
  METERS_PER_DEGREE,
  nearestMeridian,
  type Position,
  RADIANS_PER_DEGREE,
  unwrapped,
} from "../geo/earth.ts";
import { LATITUDE_MAX } from "../geo/world.ts";
import { feature } from "../map/geo-sources.ts";
import type { Fence, FenceGeometry, NewFence } from "./fence.ts";

/* Geofences as shapes on the map. Longitudes extend past ±180 instead of jumping back. */

/** The corners of a circle among many, and of the chosen one. */
const CORNERS = 32;
export const FINE_CORNERS = 180;

/** The width of the world in pixels at zoom 0. */
const WORLD_PIXELS = 512;

/** The map shows the name of a geofence once it is this wide: farther out there is no room for names. */
const NAMED_PIXELS_MIN = 24;

/** The feature of a geofence. A corridor is a line, whose width in pixels at zoom 0 is a property. */
export function fenceFeature(fence: NewFence & Partial<Fence>, corners = CORNERS): GeoJSON.Feature {
  const { geometry, properties } = fence;
  const { color = "", active = true } = properties;
  return feature(mapGeometry(fence, corners), {
    ...{ id: fence.id ?? "", name: properties.name ?? "", color, active, named_from: namedFrom(fence) },
    ...(geometry.type === "LineString" ? { width: corridorPixels(fence) } : {}),
  });
}

function namedFrom(fence: NewFence): number {
  const { west, south, east, north } = fenceBounds(fence);
  const degrees = Math.max(east - west, north - south);
  return Math.max(0, Math.log2((NAMED_PIXELS_MIN * 360) / (WORLD_PIXELS * degrees)));
}

function mapGeometry({ geometry, properties }: NewFence, corners: number): GeoJSON.Geometry {
  switch (geometry.type) {
    case "Point": {
      const [longitude, latitude] = geometry.coordinates;
      const { area } = circleShape({ longitude, latitude }, properties.radius_meters ?? 0, corners);
      return { type: "Polygon", coordinates: area };
    }
    case "LineString":
      return { type: "LineString", coordinates: unwrapped(geometry.coordinates) };
    case "Polygon":
      return { type: "Polygon", coordinates: mapRings(geometry.coordinates) };
    case "MultiPolygon":
      return { type: "MultiPolygon", coordinates: geometry.coordinates.map(mapRings) };
  }
}

function mapRings(rings: readonly (readonly Position[])[]): Position[][] {
  const [middle = 0] = rings[0]?.[0] ?? [];
  return rings.map((ring) => aroundPole(beside(unwrapped(ring), middle)));
}

/** The ring in the turn of the world in which the outer ring is. */
function beside(ring: Position[], middle: number): Position[] {
  const [start = 0] = ring[0] ?? [];
  const shift = nearestMeridian(start, middle) - start;
  return shift === 0 ? ring : ring.map(([longitude, latitude]) => [longitude + shift, latitude]);
}

/** A ring that goes round the earth is closed along the edge of the map. */
function aroundPole(ring: Position[]): Position[] {
  const [start, end] = [ring[0], ring.at(-1)];
  if (start === undefined || end === undefined || Math.abs(end[0] - start[0]) < 180) return ring;
  const mean = ring.reduce((sum, [, latitude]) => sum + latitude, 0) / ring.length;
  const pole = mean < 0 ? -LATITUDE_MAX : LATITUDE_MAX;
  return [...ring, [end[0], pole], [start[0], pole], start];
}

/** The width of a corridor in pixels at zoom 0, in the middle of its line. */
function corridorPixels({ geometry, properties }: NewFence): number {
  const { north, south } = lineBounds(geometry);
  const parallelMeters = 360 * METERS_PER_DEGREE * Math.cos(((north + south) / 2) * RADIANS_PER_DEGREE);
  return (2 * (properties.buffer_meters ?? 0) * WORLD_PIXELS) / Math.max(1, parallelMeters);
}

/** The bounds of a geofence, with the reach of a circle or a corridor. */
export function fenceBounds({ geometry, properties }: NewFence): Bounds {
  const reachMeters = properties.radius_meters ?? properties.buffer_meters ?? 0;
  const { west, south, east, north } = lineBounds(geometry);
  const high = reachMeters / METERS_PER_DEGREE;
  const widest = Math.min(89, Math.max(Math.abs(south), Math.abs(north)));
  const wide = high / Math.cos(widest * RADIANS_PER_DEGREE);
  return {
    ...{ west: west - wide, east: east + wide },
    south: Math.max(-90, south - high),
    north: Math.min(90, north + high),
  };
}

function lineBounds(geometry: FenceGeometry): Bounds {
  const positions = positionsOf(geometry);
  const bounds = boundsOf(
    positions.map(([, latitude]) => latitude),
    positions.map(([longitude]) => longitude),
  );
  return bounds ?? { west: 0, south: 0, east: 0, north: 0 };
}

function positionsOf(geometry: FenceGeometry): readonly Position[] {
  switch (geometry.type) {
    case "Point":
      return [geometry.coordinates];
    case "LineString":
      return geometry.coordinates;
    case "Polygon":
      return geometry.coordinates.flat();
    case "MultiPolygon":
      return geometry.coordinates.flat(2);
  }
}

/** `Circle, 150 m`; `Polygon, 7 corners`. */
export function shapeText(
  { geometry, properties }: NewFence,
  lengthText: (meters: number) => string,
): string {
  switch (geometry.type) {
    case "Point":
      return `Circle, radius ${lengthText(properties.radius_meters ?? 0)}`;
    case "LineString":
      return `Corridor, ${lengthText(properties.buffer_meters ?? 0)} to each side`;
    case "Polygon":
      return `Polygon, ${geometry.coordinates.reduce((sum, ring) => sum + ring.length - 1, 0)} corners`;
    case "MultiPolygon":
      return `${geometry.coordinates.length} polygons`;
  }
}
