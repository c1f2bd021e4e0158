import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Area, Line, Polygon } from "../../model/watches/area.ts";
import { frameOf } from "../frame.ts";
import { createRing, type Ring, ringSteradians, unrollLine } from "../ring.ts";
import { findRingFault } from "./ring-faults.ts";

/** Vertices of an area. The corner that closes a ring is none. */
export const VERTICES_MAX = 1000;

export const GEOMETRY_TYPES = ["Polygon", "MultiPolygon", "Point", "LineString"] as const;

export interface Extent {
  /** Meters; null if it has none. */
  readonly radius: number | null;
  readonly buffer: number | null;
}

const PATH = "geometry.coordinates";

/** The area of a GeoJSON geometry that is valid. */
export function parseGeometry(value: unknown, { radius, buffer }: Extent): Result<Area, string> {
  if (!isObject(value)) return fail("geometry must be an object");
  const type = GEOMETRY_TYPES.find((each) => each === value.type);
  if (type === undefined) return fail(`geometry.type must be ${GEOMETRY_TYPES.join(", ")}`);
  const stranger = Object.keys(value).find((name) => !GEOMETRY_MEMBERS.includes(name));
  if (stranger !== undefined)
    return fail(`geometry.${stranger} is unknown: its members are type and coordinates`);
  if (radius !== null && type !== "Point")
    return fail(`properties.radius_meters is of a Point, and this is a ${type}`);
  if (buffer !== null && type !== "LineString")
    return fail(`properties.buffer_meters is of a LineString, and this is a ${type}`);
  const { coordinates } = value;
  if (type === "Point") return parseCircle(coordinates, radius);
  if (type === "LineString") return parseCorridor(coordinates, buffer);
  if (type === "Polygon") return parsePolygons(type, [coordinates], () => PATH);
  if (!Array.isArray(coordinates) || coordinates.length === 0)
    return fail(`${PATH} must be a list of polygons, at least one`);
  return parsePolygons(type, coordinates, (polygon) => `${PATH}[${polygon}]`);
}

const GEOMETRY_MEMBERS: readonly string[] = ["type", "coordinates", "bbox"];

function parseCircle(coordinates: unknown, radiusMeters: number | null): Result<Area, string> {
  if (radiusMeters === null) return fail("properties.radius_meters is required for a Point: 10 to 100,000");
  const position = parsePosition(coordinates, PATH);
  if (!position.ok) return position;
  const [longitude, latitude] = position.value;
  return ok({ type: "Point", latitude, longitude, radiusMeters });
}

function parseCorridor(coordinates: unknown, bufferMeters: number | null): Result<Area, string> {
  if (bufferMeters === null)
    return fail("properties.buffer_meters is required for a LineString: 10 to 100,000");
  const line = parseLine(coordinates, PATH, 2, VERTICES_MAX);
  if (!line.ok) return line;
  const { west, east } = frameOf([unrollLine(line.value)]);
  if (east - west > 360) return fail(`${PATH} goes round the earth more than once`);
  return ok({ type: "LineString", line: line.value, bufferMeters });
}

function parsePolygons(
  type: "Polygon" | "MultiPolygon",
  coordinates: readonly unknown[],
  pathOf: (polygon: number) => string,
): Result<Area, string> {
  const polygons: Polygon[] = [];
  let verticesLeft = VERTICES_MAX;
  for (const [index, rings] of coordinates.entries()) {
    const path = pathOf(index);
    if (!Array.isArray(rings) || rings.length === 0)
      return fail(`${path} must be a list of rings, at least one`);
    const polygon: Line[] = [];
    for (const [place, positions] of rings.entries()) {
      const ring = parseRing(positions, `${path}[${place}]`, verticesLeft);
      if (!ring.ok) return ring;
      verticesLeft -= ring.value.length / 2 - 1;
      polygon.push(ring.value);
    }
    polygons.push(polygon);
  }
  const fault = findFault(
    polygons.map((polygon) => polygon.map((line, index) => createRing(line, index === 0))),
    pathOf,
  );
  return fault === null ? ok({ type, polygons }) : fail(fault);
}

function parseRing(positions: unknown, path: string, verticesMax: number): Result<Line, string> {
  const line = parseLine(positions, path, 4, verticesMax + 1);
  if (!line.ok) return line;
  const { value } = line;
  const isClosed = value[0] === value.at(-2) && value[1] === value.at(-1);
  return isClosed ? line : fail(`${path} must end with the position that it begins with`);
}

function parseLine(
  positions: unknown,
  path: string,
  countMin: number,
  countMax: number,
): Result<Line, string> {
  if (!Array.isArray(positions) || positions.length < countMin)
    return fail(`${path} must be a list of at least ${countMin} positions`);
  if (positions.length > countMax)
    return fail(`${path} is too long: a fence has at most ${VERTICES_MAX.toLocaleString("en")} vertices`);
  const line = new Float64Array(2 * positions.length);
  for (const [index, each] of positions.entries()) {
    const position = parsePosition(each, `${path}[${index}]`);
    if (!position.ok) return position;
    line.set(position.value, 2 * index);
  }
  return ok(line);
}

/** A position may have a third number, its altitude, which is left out. */
function parsePosition(value: unknown, path: string): Result<readonly [number, number], string> {
  const isPosition = Array.isArray(value) && (value.length === 2 || value.length === 3);
  if (!isPosition || !value.every((each) => typeof each === "number"))
    return fail(`${path} must be a position, [longitude, latitude]`);
  const [longitude, latitude] = value as [number, number];
  if (!(longitude >= -180 && longitude <= 180)) return fail(`${path} must have a longitude from -180 to 180`);
  if (!(latitude >= -90 && latitude <= 90)) return fail(`${path} must have a latitude from -90 to 90`);
  return ok([longitude + 0, latitude + 0]); // -0 is 0.
}

/** What is wrong with rings; null if nothing is. */
function findFault(
  polygons: readonly (readonly Ring[])[],
  pathOf: (polygon: number) => string,
): string | null {
  for (const [polygon, rings] of polygons.entries())
    for (const [place, ring] of rings.entries())
      if (ring.east - ring.west > 360)
        return `${pathOf(polygon)}[${place}] goes round the earth more than once`;
  const fault = findRingFault(polygons);
  if (fault !== null) return `${pathOf(fault.polygon)}[${fault.ring}][${fault.corner}]: ${fault.text}`;
  let steradians = 0;
  for (const [polygon, rings] of polygons.entries())
    for (const [place, ring] of rings.entries()) {
      const own = ringSteradians(ring);
      if (own === 0) return `${pathOf(polygon)}[${place}] encloses no area`;
      steradians += place === 0 ? own : -own;
    }
  return steradians > HEMISPHERE ? `${PATH} covers more than half of the earth` : null;
}

/** A hemisphere, with room for rounding. */
const HEMISPHERE = 2 * Math.PI * (1 + 1e-9);
