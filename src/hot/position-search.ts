import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../geo/distance.ts";
import type { CircleQuery, Found } from "./position-index.ts";
import { type CircleTest, type PositionNode, ROW } from "./position-node.ts";

/** How many more than the page are worth sorting to spare another count. */
const SURPLUS = 64;
/** Each narrowing cuts off a part of the ring that the page lies in; where it can't, many positions are one. */
const NARROWINGS_MAX = 60;

export interface SearchOptions {
  readonly circle: CircleQuery;
  /** Cells that may touch the circle, none within another. */
  readonly nodes: readonly PositionNode[];
  /** Distance of a device from the center, as it is told. */
  metersOf(device: number): number;
  compareDevices(a: number, b: number): number;
}

/**
 * Counts a circle and finds a page of it. Chords between unit vectors order positions as their distances do, but for
 * rounding: wherever it could decide, at the circle's edge and where the page begins and ends, distances are compared.
 * Chords are squared all along.
 */
export function searchPositions({ circle, nodes, metersOf, compareDevices }: SearchOptions): Found {
  const { radiusMeters, offset, limit } = circle;
  const test = circleTest(circle);
  const { x, y, z, oldestMs, accuracyMax } = test;
  const edge = squaredChord(radiusMeters);
  const innerEdge = edge - roundingOf(edge);
  const outerEdge = edge + roundingOf(edge);
  let candidates = 0;

  function countMatches(node: PositionNode): number {
    if (node.count === 0 || node.nearest(test) > outerEdge) return 0;
    if (node.farthest(test) <= innerEdge) {
      candidates += node.count;
      return node.countFresh(test);
    }
    let count = 0;
    if (node.children !== null) {
      for (const child of node.children) if (child !== null) count += countMatches(child);
      return count;
    }
    candidates += node.count;
    const { rows } = node;
    const end = node.count * ROW.width;
    for (let at = node.firstFresh(oldestMs) * ROW.width; at < end; at += ROW.width) {
      const [dx, dy, dz] = [rows[at + 1]! - x, rows[at + 2]! - y, rows[at + 3]! - z];
      const chord = dx * dx + dy * dy + dz * dz;
      if (chord > outerEdge || rows[at + ROW.accuracy]! > accuracyMax) continue;
      if (chord <= innerEdge || metersOf(rows[at + ROW.device]!) <= radiusMeters) count++;
    }
    return count;
  }

  /** How many lie within a squared chord. */
  function countWithin(node: PositionNode, bound: number): number {
    if (node.count === 0 || node.nearest(test) > bound) return 0;
    if (node.farthest(test) <= bound) return node.countFresh(test);
    let count = 0;
    if (node.children !== null) {
      for (const child of node.children) if (child !== null) count += countWithin(child, bound);
      return count;
    }
    const { rows } = node;
    const end = node.count * ROW.width;
    for (let at = node.firstFresh(oldestMs) * ROW.width; at < end; at += ROW.width) {
      const [dx, dy, dz] = [rows[at + 1]! - x, rows[at + 2]! - y, rows[at + 3]! - z];
      if (dx * dx + dy * dy + dz * dz <= bound && rows[at + ROW.accuracy]! <= accuracyMax) count++;
    }
    return count;
  }

  function countAllWithin(bound: number): number {
    let count = 0;
    for (const node of nodes) count += countWithin(node, bound);
    return count;
  }

  /** Adds those farther than one squared chord and within another. */
  function collect(node: PositionNode, beyond: number, within: number, ring: Ring): void {
    if (node.count === 0 || node.nearest(test) > within || node.farthest(test) <= beyond) return;
    if (node.children !== null) {
      for (const child of node.children) if (child !== null) collect(child, beyond, within, ring);
      return;
    }
    const { rows } = node;
    const end = node.count * ROW.width;
    for (let at = node.firstFresh(oldestMs) * ROW.width; at < end; at += ROW.width) {
      const [dx, dy, dz] = [rows[at + 1]! - x, rows[at + 2]! - y, rows[at + 3]! - z];
      const chord = dx * dx + dy * dy + dz * dz;
      if (chord > beyond && chord <= within && rows[at + ROW.accuracy]! <= accuracyMax)
        ring.push({ device: rows[at + ROW.device]!, chord, meters: 0 });
    }
  }

  /**
   * Two squared chords, the nearer with at most `wanted` within, the farther with at least as many, as close
   * together as counting gets them at little cost: `wantsMore` says which of the two is to be close.
   */
  function narrow(wanted: number, matches: number, wantsMore: boolean): Narrowed {
    let near = { bound: -1, count: 0 };
    let far = { bound: outerEdge, count: matches };
    for (let step = 0; step < NARROWINGS_MAX; step++) {
      if (wantsMore ? far.count <= wanted + SURPLUS : near.count >= wanted - SURPLUS) break;
      const from = Math.max(0, near.bound);
      // As if they were spread evenly over the ring; every other step halves it, for when they are not.
      const aim = wanted + (wantsMore ? SURPLUS / 2 : -SURPLUS / 2) - near.count;
      const share = step % 2 === 0 ? aim / (far.count - near.count) : 0.5;
      const bound = from + (far.bound - from) * Math.min(0.98, Math.max(0.02, share));
      if (bound <= from || bound >= far.bound) break;
      const count = countAllWithin(bound);
      if (wantsMore ? count >= wanted : count > wanted) far = { bound, count };
      else near = { bound, count };
    }
    return { near: near.bound, nearCount: near.count, far: far.bound };
  }

  let matches = 0;
  for (const node of nodes) matches += countMatches(node);
  if (offset >= matches) return { ...NOTHING, matches, candidates };

  const start = offset === 0 ? FROM_CENTER : narrow(offset, matches, false);
  const beyond = start.near - roundingOf(Math.max(0, start.near));
  const before = offset === 0 || start.near < 0 ? 0 : countAllWithin(beyond);
  const end = offset + limit >= matches ? outerEdge : narrow(offset + limit, matches, true).far;
  const ring: Ring = [];
  for (const node of nodes) collect(node, before === 0 ? -1 : beyond, end + roundingOf(end), ring);
  for (const entry of ring) entry.meters = metersOf(entry.device);
  const page = ring
    .filter(({ meters }) => meters <= radiusMeters)
    .sort((a, b) => a.meters - b.meters || compareDevices(a.device, b.device))
    .slice(offset - before, offset - before + limit);
  return {
    count: page.length,
    devices: Uint32Array.from(page, ({ device }) => device),
    meters: Float64Array.from(page, ({ meters }) => meters),
    matches,
    candidates,
  };
}

interface Narrowed {
  readonly near: number;
  readonly nearCount: number;
  readonly far: number;
}

const FROM_CENTER: Narrowed = { near: -1, nearCount: 0, far: 0 };
const NOTHING = { count: 0, devices: new Uint32Array(0), meters: new Float64Array(0) };

/** Positions between two distances. */
type Ring = { readonly device: number; readonly chord: number; meters: number }[];

function circleTest({ latitude, longitude, oldestMs, accuracyMetersMax }: CircleQuery): CircleTest {
  const lat = latitude * RADIANS_PER_DEGREE;
  const lon = longitude * RADIANS_PER_DEGREE;
  const cosLatitude = Math.cos(lat);
  return {
    x: cosLatitude * Math.cos(lon),
    y: cosLatitude * Math.sin(lon),
    z: Math.sin(lat),
    latitude: lat,
    longitude: lon,
    cosLatitude,
    oldestMs,
    accuracyMax: Math.min(accuracyMetersMax, Number.MAX_VALUE),
  };
}

/** The squared chord of an arc on the unit sphere. */
function squaredChord(meters: number): number {
  const half = Math.sin(Math.min(Math.PI, meters / EARTH_RADIUS_METERS) / 2);
  return 4 * half * half;
}

/** More than a squared chord may be off by: unit vectors are good to 4e-16, and so are chords. */
function roundingOf(chord: number): number {
  return 1e-14 * Math.sqrt(chord) + 1e-28;
}
