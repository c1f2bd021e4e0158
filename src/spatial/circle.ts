import { Center, type DevicePositions } from "./center.ts";
import type { PositionNode } from "./node.ts";
import type { CircleQuery } from "./positions.ts";
import { NO_POSITIONS } from "./positions.ts";
import { POINT } from "./row-pool.ts";
import { roundingOf, squaredChord } from "./squared-chord.ts";

/** Less than any distance. */
export const NOWHERE = Number.NEGATIVE_INFINITY;

/**
 * The circle of the current query, and which rows are in it. Chords between unit vectors order positions like
 * distances, except for rounding, so at the edge of the circle distances decide. Values are squared chords unless named
 * `reach`.
 */
export class Circle {
  center = new Center(0, 0);
  positions: DevicePositions = NO_POSITIONS.byDevice;
  x = 0;
  y = 0;
  z = 0;
  oldestMs = 0;
  accuracyMax = 0;
  /** All positions within the inner edge are in the circle; none beyond the outer edge is. */
  innerEdge = 0;
  outerEdge = 0;
  innerReach = 0;
  outerReach = 0;
  #radiusMeters = 0;

  set(query: CircleQuery, positions: DevicePositions): void {
    const { latitude, longitude, radiusMeters, oldestMs, accuracyMetersMax } = query;
    const center = new Center(latitude, longitude);
    this.center = center;
    this.x = center.x;
    this.y = center.y;
    this.z = center.z;
    this.oldestMs = oldestMs;
    this.accuracyMax = Math.min(accuracyMetersMax, Number.MAX_VALUE);
    const edge = squaredChord(radiusMeters);
    this.innerEdge = edge - roundingOf(edge);
    this.outerEdge = edge + roundingOf(edge);
    this.innerReach = this.innerEdge > 0 ? Math.sqrt(this.innerEdge) : NOWHERE;
    this.outerReach = Math.sqrt(this.outerEdge);
    this.#radiusMeters = radiusMeters;
    this.positions = positions;
  }

  /** Whether the query limits the accuracy. */
  get isBounded(): boolean {
    return this.accuracyMax < Number.MAX_VALUE;
  }

  countFresh(node: PositionNode): number {
    return node.countFresh(this.oldestMs, this.accuracyMax);
  }

  /** The first row of a leaf that is not too old. */
  firstFresh(leaf: PositionNode): number {
    // The count is remembered for the next query, so counting beats searching.
    if (this.accuracyMax === Number.MAX_VALUE) leaf.countFresh(this.oldestMs, Number.MAX_VALUE);
    return leaf.firstFresh(this.oldestMs);
  }

  /** Whether a row, which must not be too old, is in the circle and accurate enough. */
  isMatch(leaf: PositionNode, row: number): boolean {
    return leaf.accuracies[leaf.start + row]! <= this.accuracyMax && this.isInside(leaf, row);
  }

  isInside(leaf: PositionNode, row: number): boolean {
    const chord = this.chordTo(leaf, row);
    if (chord <= this.innerEdge || chord > this.outerEdge) return chord <= this.innerEdge;
    return this.center.metersTo(this.positions, leaf.deviceAt(row)) <= this.#radiusMeters;
  }

  chordTo({ points, start }: PositionNode, row: number): number {
    const at = (start + row) * POINT.width;
    const dx = points[at + POINT.x]! - this.x;
    const dy = points[at + POINT.y]! - this.y;
    const dz = points[at + POINT.z]! - this.z;
    return dx * dx + dy * dy + dz * dz;
  }

  /** The squared chord to one of a node's positions, whichever. */
  chordToSome({ someLeaf }: PositionNode): number {
    return this.chordTo(someLeaf, someLeaf.newestRow);
  }

  squareTo(node: PositionNode): number {
    const dx = node.x - this.x;
    const dy = node.y - this.y;
    const dz = node.z - this.z;
    return dx * dx + dy * dy + dz * dz;
  }
}
