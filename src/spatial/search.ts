import { assert } from "../lib/assert.ts";
import { BALL, NO_CHILDREN, SIBLINGS } from "./cells.ts";
import { Circle, NOWHERE } from "./circle.ts";
import { Crowd } from "./crowd.ts";
import { Narrowing, type PositionRoot } from "./narrowing.ts";
import type { PositionNode } from "./node.ts";
import { PositionPage } from "./page.ts";
import type { CirclePage, CircleQuery } from "./positions.ts";
import { NO_POSITIONS, type Positions } from "./positions.ts";
import { PositionRing } from "./ring.ts";
import { RingLeaves, SORTED_ROWS_MAX } from "./ring-leaves.ts";
import { POINT } from "./row-pool.ts";
import { roundingOf, swapMax } from "./squared-chord.ts";

/** A page that ends farther on is found by counting: collecting all rows from the center on would take longer. */
const COLLECTED_MAX = 4096;

/**
 * Counts the positions in a circle and finds a page of them. Chords between unit vectors order positions like
 * distances, except for rounding; where rounding could decide, at the edge of the circle and within a page, distances
 * are compared. Values are squared chords unless named `reach`. One search runs at a time.
 * The search visits cells first, then rows of leaves, without branches that depend on a row: the processor predicts
 * branches, and a prediction whether a row is in the circle is wrong every other time.
 */
export class PositionSearch {
  readonly #circle = new Circle();
  readonly #ring = new PositionRing();
  /** The leaves around the page. */
  readonly #leaves = new RingLeaves(this.#circle, this.#ring);
  readonly #page = new PositionPage(this.#ring, this.#leaves.nodes);
  readonly #narrowing = new Narrowing(this.#circle);
  readonly #crowd = new Crowd(this.#circle, this.#ring, this.#leaves);
  /** Leaves whose rows are to be counted; the first `#edgeLeafCount` are valid. */
  readonly #edgeLeaves: PositionNode[] = [];
  #edgeLeafCount = 0;
  /** Cells to visit, cells inside the circle, and leaves at its edge; each list has room for all cells. */
  #open = new Int32Array(0);
  #whole = new Int32Array(0);
  #edge = new Int32Array(0);
  #positions = NO_POSITIONS;
  #matches = 0;
  #candidates = 0;

  /**
   * `roots` are the buckets that may touch the circle. `home` is the one that contains the center, if it is not empty.
   */
  find(
    positions: Positions,
    query: CircleQuery,
    roots: readonly PositionRoot[],
    home: PositionNode | null,
    homeCell: number,
  ): CirclePage {
    const { offset, limit } = query;
    const end = offset + limit;
    this.#positions = positions;
    this.#circle.set(query, positions.byDevice);
    this.#narrowing.begin();
    this.#matches = 0;
    this.#candidates = 0;
    this.#edgeLeafCount = 0;
    const isNear = end <= COLLECTED_MAX && home !== null;
    this.#leaves.begin(positions.byDevice, NOWHERE, isNear ? this.#guessEdge(home, homeCell, end) : NOWHERE);
    this.#countCells(roots);
    const isCrowded = this.#leaves.isCrowded(SORTED_ROWS_MAX);
    if (isCrowded && this.#leaves.holdAll) this.#countPageLeaves();
    for (let leaf = 0; leaf < this.#edgeLeafCount; leaf++) this.#countRows(this.#edgeLeaves[leaf]!);
    if (!isCrowded) this.#leaves.collect();
    if (!isCrowded && this.#leaves.holdAll) this.#matches = this.#ring.count;

    const matches = this.#matches;
    if (offset >= matches) return this.#pageOf(0, 0);
    const isReady = !isCrowded && this.#holdsPage(Math.min(end, matches));
    const before = isReady ? 0 : this.#narrowToPage(roots, offset, Math.min(limit, matches - offset));
    if (before === null) return { ...this.#pageOf(0, 0), isInOrder: false };
    return this.#pageOf(offset - before, Math.min(limit, matches - offset));
  }

  #pageOf(start: number, count: number): CirclePage {
    const page = this.#page;
    assert(start + count <= this.#ring.count, "the page is among the rows that were collected");
    assert(this.#matches <= this.#candidates, "every match is a candidate");
    page.fill(start, start + count, this.#circle.center, this.#positions);
    return {
      count,
      devices: page.devices,
      meters: page.meters,
      bearings: page.bearings,
      isInOrder: true,
      matches: this.#matches,
      candidates: this.#candidates,
    };
  }

  /**
   * The squared chord of a circle with somewhat more than `wanted` matches, if they are as dense as around its center.
   */
  #guessEdge(home: PositionNode, cell: number, wanted: number): number {
    let node = home;
    for (;;) {
      let child = node.firstChild;
      while (child !== null && !child.holds(cell)) child = child.nextSibling;
      if (child === null || child.count < wanted) break;
      node = child;
    }
    for (;;) {
      const { count, area, parent } = node;
      const fairShare = ((wanted + 4 * Math.sqrt(wanted)) * area) / Math.PI;
      // Even if all of them were fresh, the circle would have to reach the edge: no need to count.
      if (fairShare >= this.#circle.outerEdge * count) return this.#circle.outerEdge;
      const fresh = this.#circle.countFresh(node);
      if (fresh >= wanted || parent === null) return fresh === 0 ? this.#circle.outerEdge : fairShare / fresh;
      node = parent;
    }
  }

  /** Whether the ring contains the first `end` matches, and all that rounding may have put behind them. */
  #holdsPage(end: number): boolean {
    const { count, sorted } = this.#ring;
    if (count === this.#matches) return true;
    const tieMax = swapMax(this.#leaves.edge);
    for (let rank = end; rank < count; rank++) if (sorted[rank]! - sorted[rank - 1]! > tieMax) return true;
    return false;
  }

  /**
   * Counts the matches of cells inside the circle, and lists the leaves at its edge and around the page. Each cell is
   * written to the end of each list, and only the right list's count is raised, so that no branch is needed.
   */
  #countCells(roots: readonly PositionRoot[]): void {
    const { balls, children, nodes } = this.#positions.cells;
    if (this.#open.length < children.length) this.#growLists(children.length);
    const open = this.#open;
    const whole = this.#whole;
    const edge = this.#edge;
    const { x, y, z, innerReach, outerReach } = this.#circle;
    const pageReach = this.#leaves.reach;
    let openCount = 0;
    let wholeCount = 0;
    let edgeCount = 0;
    // A bucket has no siblings; the other three numbers of its family are empty.
    for (const { node } of roots) open[openCount++] = node.number;
    while (openCount > 0) {
      const first = open[--openCount]!;
      for (let cell = first; cell < first + SIBLINGS; cell++) {
        const at = cell * BALL.width;
        const dx = balls[at + BALL.x]! - x;
        const dy = balls[at + BALL.y]! - y;
        const dz = balls[at + BALL.z]! - z;
        const radius = balls[at + BALL.radius]!;
        const square = dx * dx + dy * dy + dz * dz;
        const outside = outerReach + radius;
        const within = innerReach - radius;
        const toPage = pageReach + radius;
        const isTouched = Number(square <= outside * outside);
        // `within * |within|` keeps the sign: nothing is within a negative distance.
        const isInside = Number(square <= within * Math.abs(within));
        const isNear = Number(square <= toPage * Math.abs(toPage));
        const child = children[cell]!;
        const isLeaf = Number(child === NO_CHILDREN);
        const isWhole = isInside & (isNear ^ 1);
        const isOpen = isTouched & (isWhole ^ 1);
        whole[wholeCount] = cell;
        wholeCount += isWhole;
        open[openCount] = child;
        openCount += isOpen & (isLeaf ^ 1);
        edge[edgeCount] = 4 * cell + 2 * isInside + isNear;
        edgeCount += isOpen & isLeaf;
      }
    }
    for (let index = 0; index < wholeCount; index++) {
      const node = nodes[whole[index]!]!;
      this.#candidates += node.count;
      this.#matches += this.#circle.countFresh(node);
    }
    for (let index = 0; index < edgeCount; index++) {
      const entry = edge[index]!;
      this.#countLeaf(nodes[entry >>> 2]!, (entry & 2) !== 0, (entry & 1) !== 0);
    }
  }

  #growLists(cells: number): void {
    this.#open = new Int32Array(cells);
    this.#whole = new Int32Array(cells);
    this.#edge = new Int32Array(cells);
  }

  #countLeaf(leaf: PositionNode, isInside: boolean, isNear: boolean): void {
    this.#candidates += leaf.count;
    if (isNear) this.#leaves.add(leaf);
    if (this.#leaves.holdAll) return; // Collecting the rows will count them.
    if (isInside) this.#matches += this.#circle.countFresh(leaf);
    else this.#edgeLeaves[this.#edgeLeafCount++] = leaf;
  }

  #countRows(leaf: PositionNode): void {
    const { x, y, z, innerEdge, outerEdge } = this.#circle;
    const { points } = leaf;
    const end = (leaf.start + leaf.rowCount) * POINT.width;
    let inner = 0;
    let outer = 0;
    for (let at = (leaf.start + this.#circle.firstFresh(leaf)) * POINT.width; at < end; at += POINT.width) {
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      inner += Number(chord <= innerEdge);
      outer += Number(chord <= outerEdge);
    }
    // Rarely, a row is so near to the edge that distances decide.
    const isPlain = inner === outer && !this.#circle.isBounded;
    this.#matches += isPlain ? inner : this.#countMatches(leaf);
  }

  /** Adds the leaves of the page to those that are counted, because they are too crowded to collect. */
  #countPageLeaves(): void {
    const { nodes, count } = this.#leaves;
    for (let leaf = 0; leaf < count; leaf++) this.#edgeLeaves[this.#edgeLeafCount++] = nodes[leaf]!;
  }

  #countMatches(leaf: PositionNode): number {
    let matches = 0;
    for (let row = this.#circle.firstFresh(leaf); row < leaf.rowCount; row++)
      if (this.#circle.isMatch(leaf, row)) matches++;
    return matches;
  }

  /**
   * Collects again, only between two circles with the page between them. Returns how many matches come before the
   * collected ones; null if the order of devices is not ready.
   */
  #narrowToPage(roots: readonly PositionRoot[], offset: number, limit: number): number | null {
    // If a crowd is most of the circle, counting cuts off little.
    const isAllCrowd = this.#leaves.isCrowded(Math.max(SORTED_ROWS_MAX, this.#matches / 2));
    if (isAllCrowd) return this.#selectBetween(roots, NOWHERE, this.#circle.outerEdge, offset, limit);
    const start = offset === 0 ? NOWHERE : this.#narrowing.narrow(roots, this.#matches, offset, false);
    const beyond = start > 0 ? start - roundingOf(start) : NOWHERE;
    const before = beyond > 0 ? this.#narrowing.countWithin(roots, beyond) : 0;
    const end =
      offset + limit >= this.#matches
        ? this.#circle.outerEdge
        : this.#narrowing.narrow(roots, this.#matches, offset + limit, true);
    const edge = end + roundingOf(end);
    const passed = this.#selectBetween(roots, before > 0 ? beyond : NOWHERE, edge, offset - before, limit);
    return passed === null ? null : before + passed;
  }

  /** Collects the rows between two circles, or of a crowd some of them; the result is as for `#narrowToPage()`. */
  #selectBetween(
    roots: readonly PositionRoot[],
    start: number,
    edge: number,
    offset: number,
    limit: number,
  ): number | null {
    const leaves = this.#leaves;
    leaves.begin(this.#positions.byDevice, start, edge);
    for (const { node } of roots) leaves.list(node);
    if (!leaves.isCrowded(SORTED_ROWS_MAX)) {
      leaves.collect();
      return 0;
    }
    const before = this.#crowd.select({ first: offset, end: offset + limit }, this.#positions);
    this.#ring.sort(Math.max(0, start), leaves.edge);
    return before;
  }
}
