import { type Circle, NOWHERE } from "./circle.ts";
import type { PositionNode } from "./node.ts";
import { POINT } from "./row-pool.ts";

/** How many rows more than the page are worth sorting to save another count. */
const SURPLUS = 64;
/** The most counts per search. Each cuts off a part of the ring that contains the page. */
const STEPS_MAX = 60;
/** The most rows read per query. Only positions at one point exceed it, and narrowing can't separate those. */
const ROWS_MAX = 250_000;
/** A thinner ring, relative to its circle, has few positions, or many at one point that narrowing can't separate. */
const THIN_SHARE = 1e-4;

export interface PositionRoot {
  readonly node: PositionNode;
}

/** Finds the ring that contains a deep page, by counting the matches of smaller circles. */
export class Narrowing {
  readonly #circle: Circle;
  /** Rows read for the current query. */
  #rowsLookedAt = 0;

  constructor(circle: Circle) {
    this.#circle = circle;
  }

  begin(): void {
    this.#rowsLookedAt = 0;
  }

  /**
   * A squared chord with at least `wanted` of the circle's matches within if `wantsMore`, else with at most `wanted`;
   * as close to `wanted` as counting gets at little cost.
   */
  narrow(roots: readonly PositionRoot[], matches: number, wanted: number, wantsMore: boolean): number {
    const { innerEdge, outerEdge } = this.#circle;
    let near = NOWHERE;
    let nearCount = 0;
    let far = outerEdge;
    let farCount = matches;
    for (let step = 0; step < STEPS_MAX; step++) {
      if (wantsMore ? farCount <= wanted + SURPLUS : nearCount >= wanted - SURPLUS) break;
      if (this.#rowsLookedAt > ROWS_MAX) break;
      const from = Math.max(0, near);
      if (far - from <= far * THIN_SHARE) break;
      // Aims as if the matches were spread evenly over the ring; every other step bisects, in case they are not.
      const aim = wanted + (wantsMore ? SURPLUS / 2 : -SURPLUS / 2) - nearCount;
      const share = step % 2 === 0 ? aim / (farCount - nearCount) : 0.5;
      const bound = from + (far - from) * Math.min(0.98, Math.max(0.02, share));
      if (bound <= from || bound >= Math.min(far, innerEdge)) break;
      const count = this.countWithin(roots, bound);
      if (wantsMore ? count >= wanted : count > wanted) {
        far = bound;
        farCount = count;
      } else {
        near = bound;
        nearCount = count;
      }
    }
    return wantsMore ? far : near;
  }

  /** How many matches lie within a squared chord, which must be well inside the circle. */
  countWithin(roots: readonly PositionRoot[], bound: number): number {
    const reach = Math.sqrt(bound);
    let count = 0;
    for (const { node } of roots) count += this.#countOf(node, bound, reach);
    return count;
  }

  #countOf(node: PositionNode, bound: number, reach: number): number {
    const square = this.#circle.squareTo(node);
    const farthest = reach + node.radius;
    if (square > farthest * farthest) return 0;
    const within = reach - node.radius;
    if (within >= 0 && square <= within * within) return this.#circle.countFresh(node);
    if (node.isOnePoint(this.#circle.positions))
      return this.#circle.chordToSome(node) <= bound ? this.#circle.countFresh(node) : 0;
    if (node.firstChild === null) return this.#countRows(node, bound);
    let count = 0;
    for (let child: PositionNode | null = node.firstChild; child !== null; child = child.nextSibling)
      count += this.#countOf(child, bound, reach);
    return count;
  }

  #countRows(leaf: PositionNode, bound: number): number {
    const { x, y, z, accuracyMax } = this.#circle;
    const { points, accuracies } = leaf;
    const end = leaf.start + leaf.rowCount;
    let within = 0;
    this.#rowsLookedAt += leaf.rowCount;
    for (let row = leaf.start + this.#circle.firstFresh(leaf); row < end; row++) {
      const at = row * POINT.width;
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      within += Number(accuracies[row]! <= accuracyMax) & Number(dx * dx + dy * dy + dz * dz <= bound);
    }
    return within;
  }
}
