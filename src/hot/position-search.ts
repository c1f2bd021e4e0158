import { RADIANS_PER_DEGREE } from "../geo/distance.ts";
import type { CircleQuery, Found } from "./position-index.ts";
import { type CircleTest, type PositionNode, ROW } from "./position-node.ts";
import { PositionRing } from "./position-ring.ts";
import { roundingOf, squaredChord } from "./squared-chord.ts";

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
  /** Initial bearing from the center to a device, in degrees. */
  bearingOf(device: number): number;
  compareDevices(a: number, b: number): number;
}

/**
 * Counts a circle and finds a page of it. Chords between unit vectors order positions as their distances do, but for
 * rounding: wherever it could decide, at the circle's edge and where the page begins and ends, distances are compared.
 * Chords are squared all along.
 */
export function searchPositions({
  circle,
  nodes,
  metersOf,
  bearingOf,
  compareDevices,
}: SearchOptions): Found {
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
      const dx = rows[at + ROW.x]! - x;
      const dy = rows[at + ROW.y]! - y;
      const dz = rows[at + ROW.z]! - z;
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
      const dx = rows[at + ROW.x]! - x;
      const dy = rows[at + ROW.y]! - y;
      const dz = rows[at + ROW.z]! - z;
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
  function collect(node: PositionNode, beyond: number, within: number): void {
    if (node.count === 0 || node.nearest(test) > within || node.farthest(test) <= beyond) return;
    if (node.children !== null) {
      for (const child of node.children) if (child !== null) collect(child, beyond, within);
      return;
    }
    const { rows } = node;
    const end = node.count * ROW.width;
    for (let at = node.firstFresh(oldestMs) * ROW.width; at < end; at += ROW.width) {
      const dx = rows[at + ROW.x]! - x;
      const dy = rows[at + ROW.y]! - y;
      const dz = rows[at + ROW.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      if (chord > beyond && chord <= within && rows[at + ROW.accuracy]! <= accuracyMax)
        ring.push(chord, rows[at + ROW.device]!);
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
  ring.clear();
  for (const node of nodes) collect(node, before === 0 ? -1 : beyond, end + roundingOf(end));
  ring.sort();
  const [from, to] = ring.around(offset - before, limit);
  const rows: number[] = [];
  const meters: number[] = [];
  for (let row = from; row < to; row++) {
    const distance = metersOf(ring.devices[row]!);
    if (distance > radiusMeters) continue; // Rounding has let it in.
    rows.push(row);
    meters.push(distance);
  }
  return page(rows, meters, offset - before - from);

  function page(rows: readonly number[], meters: readonly number[], skip: number): Found {
    const order = orderOf(
      rows.length,
      (a, b) => meters[a]! - meters[b]! || compareDevices(ring.devices[rows[a]!]!, ring.devices[rows[b]!]!),
    );
    const count = Math.max(0, Math.min(limit, rows.length - skip));
    const found = {
      count,
      devices: new Uint32Array(count),
      meters: new Float64Array(count),
      bearings: new Float64Array(count),
      matches,
      candidates,
    };
    for (let row = 0; row < count; row++) {
      const at = order[skip + row]!;
      found.devices[row] = ring.devices[rows[at]!]!;
      found.meters[row] = meters[at]!;
      found.bearings[row] = bearingOf(found.devices[row]!);
    }
    return found;
  }
}

/** Numbers from 0 on in this order; most are in order already. */
function orderOf(count: number, compare: (a: number, b: number) => number): number[] {
  const order = Array.from({ length: count }, (_, row) => row);
  for (let row = 1; row < count; row++) if (compare(row - 1, row) > 0) return order.sort(compare);
  return order;
}

interface Narrowed {
  readonly near: number;
  readonly nearCount: number;
  readonly far: number;
}

const FROM_CENTER: Narrowed = { near: -1, nearCount: 0, far: 0 };
const NOTHING = {
  count: 0,
  devices: new Uint32Array(0),
  meters: new Float64Array(0),
  bearings: new Float64Array(0),
};

/** One search runs at a time, from its beginning to its end. */
const ring = new PositionRing();

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
