import { orient2d } from "robust-predicates";
import type { Line } from "../../model/watches/area.ts";
import { bordersOnMeridian, isCutEdge } from "../polygon-border.ts";
import { type Ring, sideOfRing } from "../ring.ts";

/** What is wrong with polygons: where, as the indexes of a polygon, a ring and a corner, and what. */
export interface RingFault {
  readonly polygon: number;
  readonly ring: number;
  readonly corner: number;
  readonly text: string;
}

/** An edge in the plane of longitudes and latitudes, from west to east. */
interface Edge {
  readonly aX: number;
  readonly aY: number;
  readonly bX: number;
  readonly bY: number;
  /** Where it is from: the place of its ring in the list of all rings, and its place among the ring's edges. */
  readonly ring: number;
  readonly index: number;
  /** Its place without those of no length: neighbors are in a row. */
  readonly order: number;
}

/**
 * The first fault of polygons by which one could not say what is inside; null if there is none. Rings of one polygon,
 * and polygons, may meet at points, and along ±180° and at poles, where areas are cut.
 */
export function findRingFault(polygons: readonly (readonly Ring[])[]): RingFault | null {
  return findCrossing(polygons) ?? findMisplaced(polygons);
}

function findCrossing(polygons: readonly (readonly Ring[])[]): RingFault | null {
  const rings = polygons.flat();
  const places = polygons.flatMap((polygon, index) => polygon.map((_, ring) => ({ polygon: index, ring })));
  const edges = [...rings.flatMap(edgesOf), ...meridianEdges(rings)].sort((a, b) => a.aX - b.aX);
  const counts = rings.map(({ line }) => lengthyEdges(line));
  for (const [at, one] of edges.entries())
    for (let next = at + 1; next < edges.length && edges[next]!.aX <= one.bX; next++) {
      const other = edges[next]!;
      if (Math.max(one.aY, one.bY) < Math.min(other.aY, other.bY)) continue;
      if (Math.max(other.aY, other.bY) < Math.min(one.aY, one.bY)) continue;
      const isOneRing = one.ring === other.ring;
      if (isOneRing && one.index === other.index) continue; // The same edge, a turn away.
      const meeting = meetingOf(one, other);
      if (meeting === "none") continue;
      const isAllowed =
        meeting === "point" &&
        (!isOneRing ||
          one.ring === ON_MERIDIAN ||
          areNeighbors(one, other, counts[one.ring]!) ||
          meetAtCut(one, other));
      if (isAllowed) continue;
      // An edge on the meridian has no index, so the fault is at the other.
      const later = one.index > other.index ? one : other;
      const earlier = later === one ? other : one;
      const text =
        isOneRing || earlier.ring === ON_MERIDIAN
          ? `the ring crosses or touches itself: this edge and ${earlier.ring === ON_MERIDIAN ? "one along ±180°" : `that of corner ${earlier.index}`} meet`
          : `this edge crosses another ring, or runs along it`;
      return { ...places[later.ring]!, corner: later.index, text };
    }
  return null;
}

/** The edges of a ring without those of no length and those along cuts; twice, a turn apart, if it goes beyond 180°. */
function edgesOf(ring: Ring, place: number): Edge[] {
  const { line } = ring;
  const turns = 360 * Math.floor((ring.west + 180) / 360);
  const edges: Edge[] = [];
  let order = 0;
  for (let at = 2; at < line.length; at += 2) {
    const [aX, aY, bX, bY] = [line[at - 2]! - turns, line[at - 1]!, line[at]! - turns, line[at + 1]!];
    if (aX === bX && aY === bY) continue;
    order++;
    if (isCutEdge(line, at)) continue;
    const from = { ring: place, index: at / 2 - 1, order };
    const edge = aX <= bX ? { aX, aY, bX, bY, ...from } : { aX: bX, aY: bY, bX: aX, bY: aY, ...from };
    edges.push(edge);
    if (ring.east - turns > 180) edges.push({ ...edge, aX: edge.aX - 360, bX: edge.bX - 360 });
  }
  return edges;
}

/** The ring of edges along ±180°, which are those of all rings. */
const ON_MERIDIAN = -1;

/** The borders along ±180°, on both ends of the plane. Others may begin and end on them, but not cross them. */
function meridianEdges(rings: readonly Ring[]): Edge[] {
  const from = { ring: ON_MERIDIAN, index: -1, order: 0 };
  return bordersOnMeridian(rings).flatMap(([south, north]) =>
    [-180, 180].map((x) => ({ aX: x, aY: south, bX: x, bY: north, ...from })),
  );
}

/** How many edges of a line have a length. */
function lengthyEdges(line: Line): number {
  let count = 0;
  for (let at = 2; at < line.length; at += 2)
    if (line[at] !== line[at - 2] || line[at + 1] !== line[at - 1]) count++;
  return count;
}

/** Whether one edge ends where the other begins. */
function areNeighbors(one: Edge, other: Edge, count: number): boolean {
  const step = Math.abs(one.order - other.order);
  return step === 1 || step === count - 1;
}

/** How two edges meet: at a point that may be an end of both, or across each other or along a stretch. */
function meetingOf(a: Edge, b: Edge): "none" | "point" | "crossing" {
  const bBegin = Math.sign(orient2d(a.aX, a.aY, a.bX, a.bY, b.aX, b.aY));
  const bEnd = Math.sign(orient2d(a.aX, a.aY, a.bX, a.bY, b.bX, b.bY));
  if (bBegin === 0 && bEnd === 0) return meetingOnLine(a, b);
  const aBegin = Math.sign(orient2d(b.aX, b.aY, b.bX, b.bY, a.aX, a.aY));
  const aEnd = Math.sign(orient2d(b.aX, b.aY, b.bX, b.bY, a.bX, a.bY));
  if (bBegin * bEnd > 0 || aBegin * aEnd > 0) return "none";
  return bBegin * bEnd < 0 && aBegin * aEnd < 0 ? "crossing" : "point";
}

/** Like `meetingOf()`, for two edges on one straight line. */
function meetingOnLine(a: Edge, b: Edge): "none" | "point" | "crossing" {
  const isSteep = a.aX === a.bX;
  const [aLow, aHigh] = isSteep ? ordered(a.aY, a.bY) : [a.aX, a.bX];
  const [bLow, bHigh] = isSteep ? ordered(b.aY, b.bY) : [b.aX, b.bX];
  const [low, high] = [Math.max(aLow, bLow), Math.min(aHigh, bHigh)];
  if (low > high) return "none";
  return low === high ? "point" : "crossing";
}

function ordered(one: number, other: number): readonly [number, number] {
  return one < other ? [one, other] : [other, one];
}

/** Whether edges that meet at a point have an end of each at ±180° or at a pole. */
function meetAtCut(one: Edge, other: Edge): boolean {
  const isAtCut = (x: number, y: number) => Math.abs(x % 360) === 180 || Math.abs(y) === 90;
  return [one, other].every((edge) => isAtCut(edge.aX, edge.aY) || isAtCut(edge.bX, edge.bY));
}

/** A hole outside of its polygon or within another hole, or a polygon within another one. */
function findMisplaced(polygons: readonly (readonly Ring[])[]): RingFault | null {
  for (const [polygon, rings] of polygons.entries()) {
    const outer = rings[0]!;
    for (const [index, hole] of rings.entries()) {
      if (index === 0) continue;
      const fault = { polygon, ring: index, corner: 0 };
      if (hasPoint(hole, (latitude, longitude) => sideOfRing(outer, latitude, longitude) < 0))
        return { ...fault, text: "the hole is not inside of the outer ring" };
      const isWithin = rings.some(
        (other, place) =>
          place > 0 &&
          place !== index &&
          shareLatitudes(hole, other) &&
          hasPoint(hole, (lat, lon) => sideOfRing(other, lat, lon) > 0),
      );
      if (isWithin) return { ...fault, text: "the hole overlaps another hole" };
    }
    const isWithin = polygons.some(
      (other, place) =>
        place !== polygon &&
        shareLatitudes(outer, other[0]!) &&
        hasPoint(outer, (lat, lon) => isInside(other, lat, lon)),
    );
    if (isWithin) return { polygon, ring: 0, corner: 0, text: "the polygon overlaps another polygon" };
  }
  return null;
}

/** Whether two rings have a latitude in common; others are apart. */
function shareLatitudes(one: Ring, other: Ring): boolean {
  return one.minLatitude <= other.maxLatitude && other.minLatitude <= one.maxLatitude;
}

function isInside(rings: readonly Ring[], latitude: number, longitude: number): boolean {
  return rings.every((ring, index) => sideOfRing(ring, latitude, longitude) === (index === 0 ? 1 : -1));
}

/** Whether a corner of a ring, or the middle of an edge, is such a point. Rings that cross are refused before. */
function hasPoint(ring: Ring, isSuch: (latitude: number, longitude: number) => boolean): boolean {
  const { line } = ring;
  for (let at = 2; at < line.length; at += 2) {
    if (isSuch(line[at + 1]!, line[at]!)) return true;
    if (isSuch((line[at + 1]! + line[at - 1]!) / 2, (line[at]! + line[at - 2]!) / 2)) return true;
  }
  return false;
}
