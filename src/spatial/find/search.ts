import { assert } from "../../lib/assert.ts";
import { BALL, NO_CHILDREN, SIBLINGS } from "../cells.ts";
import type { CircleQuery, Found } from "../circle-query.ts";
import type { PositionNode } from "../node.ts";
import { NO_POSITIONS, type Positions } from "../positions.ts";
import { ROW_BITS, ROW_MASK } from "../rows/device-places.ts";
import { POINT } from "../rows/row-pool.ts";
import { Circle, NOWHERE } from "./circle.ts";
import { Crowd } from "./crowd.ts";
import { Narrowing, type PositionRoot } from "./narrowing.ts";
import { PositionPage } from "./page.ts";
import { PositionRing } from "./ring.ts";
import { roundingOf, swapMax } from "./squared-chord.ts";

/** The search for the positions within a circle. */

/** Pages that end beyond are found by counting alone: to collect all from the center on would take longer. */
const COLLECTED_MAX = 4096;
/** More rows than these are not collected to be sorted. */
const SORTED_ROWS_MAX = 16_384;

/**
 * Counts circles and finds pages of them. Chords between unit vectors order positions as their distances do, but for
 * rounding: wherever it could decide, at the circle's edge and within a page, distances are compared. Chords are
 * squared, but where the name says `reach`. One search runs at a time, from its beginning to its end.
 *
 * First the cells are gone through and then the rows of leaves, without a jump that depends on a row: the processor
 * guesses at jumps, and a guess about who is inside a circle is wrong every other time.
 */
export class PositionSearch {
  readonly #ring = new PositionRing();
  readonly #page: PositionPage;
  /** Leaves to count rows of, and those to collect rows of too: the first so many of each list. */
  readonly #edgeLeaves: PositionNode[] = [];
  readonly #pageLeaves: PositionNode[] = [];
  #edgeLeafCount = 0;
  #pageLeafCount = 0;
  /** Cells to look at, inside the circle, and at its edge; each list has room for all cells. */
  #open = new Int32Array(0);
  #whole = new Int32Array(0);
  #edge = new Int32Array(0);
  readonly #circle = new Circle();
  readonly #narrowing = new Narrowing(this.#circle);
  readonly #crowd: Crowd;
  #positions = NO_POSITIONS;
  // Rows farther than one and within the other are collected.
  #pageStart = 0;
  #pageEdge = 0;
  #pageReach = 0;
  #collectsAll = false;
  #matches = 0;
  #candidates = 0;

  constructor() {
    this.#page = new PositionPage(this.#ring, this.#pageLeaves);
    this.#crowd = new Crowd(this.#circle, this.#ring, this.#pageLeaves);
  }

  /** `roots` are those that may touch the circle, `home` the one that the center lies in, if it holds anything. */
  find(
    positions: Positions,
    query: CircleQuery,
    roots: readonly PositionRoot[],
    home: PositionNode | null,
    homeCell: number,
  ): Found {
    const { offset, limit } = query;
    const end = offset + limit;
    this.#positions = positions;
    this.#circle.set(query, positions.byDevice);
    this.#narrowing.begin();
    this.#matches = 0;
    this.#candidates = 0;
    this.#edgeLeafCount = 0;
    const isNear = end <= COLLECTED_MAX && home !== null;
    this.#collectBetween(NOWHERE, isNear ? this.#guessEdge(home, homeCell, end) : NOWHERE);
    this.#countCells(roots);
    const isCrowded = this.#isCrowded(SORTED_ROWS_MAX);
    if (isCrowded && this.#collectsAll) this.#countPageLeaves();
    for (let leaf = 0; leaf < this.#edgeLeafCount; leaf++) this.#countRows(this.#edgeLeaves[leaf]!);
    if (!isCrowded) this.#collectRing();
    if (!isCrowded && this.#collectsAll) this.#matches = this.#ring.count;

    const matches = this.#matches;
    if (offset >= matches) return this.#found(0, 0);
    const isReady = !isCrowded && this.#holdsPage(Math.min(end, matches));
    const before = isReady ? 0 : this.#narrowToPage(roots, offset, Math.min(limit, matches - offset));
    return this.#found(offset - before, Math.min(limit, matches - offset));
  }

  #found(start: number, count: number): Found {
    const page = this.#page;
    assert(start + count <= this.#ring.count, "the page is among the rows that were collected");
    assert(this.#matches <= this.#candidates, "whoever matches is a candidate");
    page.fill(start, start + count, this.#circle.center, this.#positions);
    return {
      count,
      devices: page.devices,
      meters: page.meters,
      bearings: page.bearings,
      matches: this.#matches,
      candidates: this.#candidates,
    };
  }

  #collectBetween(start: number, edge: number): void {
    this.#pageStart = start;
    this.#collectsAll = edge >= this.#circle.innerEdge;
    this.#pageEdge = this.#collectsAll ? this.#circle.outerEdge : edge;
    this.#pageReach = edge >= 0 ? Math.sqrt(this.#pageEdge) : NOWHERE;
    this.#pageLeafCount = 0;
    this.#ring.count = 0;
  }

  /** Whether the leaves around the page have more rows than so many that are not too old. */
  #isCrowded(rowsMax: number): boolean {
    let rows = 0;
    for (let leaf = 0; leaf < this.#pageLeafCount; leaf++) rows += this.#pageLeaves[leaf]!.count;
    if (rows <= rowsMax) return false;
    rows = 0;
    for (let index = 0; index < this.#pageLeafCount && rows <= rowsMax; index++) {
      const leaf = this.#pageLeaves[index]!;
      const isLeaf = leaf.firstChild === null;
      rows += isLeaf ? leaf.rowCount - this.#circle.firstFresh(leaf) : this.#circle.countFresh(leaf);
    }
    return rows > rowsMax;
  }

  /** How far a circle goes that holds some more than so many, were all as near together as around its center. */
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
      // Were all of them fresh, they would still be too far apart: no need to count.
      if (fairShare >= this.#circle.outerEdge * count) return this.#circle.outerEdge;
      const fresh = this.#circle.countFresh(node);
      if (fresh >= wanted || parent === null) return fresh === 0 ? this.#circle.outerEdge : fairShare / fresh;
      node = parent;
    }
  }

  /** Whether the ring holds the first `end` of all, with whatever rounding may have put behind them. */
  #holdsPage(end: number): boolean {
    const { count, sorted } = this.#ring;
    if (count === this.#matches) return true;
    const tieMax = swapMax(this.#pageEdge);
    for (let rank = end; rank < count; rank++) if (sorted[rank]! - sorted[rank - 1]! > tieMax) return true;
    return false;
  }

  /**
   * Counts the matches of cells inside the circle, and lists leaves at its edge and around the page. Each cell is
   * written where each outcome would have it, and counted where it belongs: again without a jump.
   */
  #countCells(roots: readonly PositionRoot[]): void {
    const { balls, children, nodes } = this.#positions.cells;
    if (this.#open.length < children.length) this.#growLists(children.length);
    const open = this.#open;
    const whole = this.#whole;
    const edge = this.#edge;
    const { x, y, z, innerReach, outerReach } = this.#circle;
    const pageReach = this.#pageReach;
    let openCount = 0;
    let wholeCount = 0;
    let edgeCount = 0;
    // A bucket has no siblings, and so is looked at as a family of its own.
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
        // Squares that keep the sign: nothing is within less than no distance.
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
      const found = edge[index]!;
      this.#countLeaf(nodes[found >>> 2]!, (found & 2) !== 0, (found & 1) !== 0);
    }
  }

  #growLists(cells: number): void {
    this.#open = new Int32Array(cells);
    this.#whole = new Int32Array(cells);
    this.#edge = new Int32Array(cells);
  }

  #countLeaf(leaf: PositionNode, isInside: boolean, isNear: boolean): void {
    this.#candidates += leaf.count;
    if (isNear) this.#pageLeaves[this.#pageLeafCount++] = leaf;
    if (this.#collectsAll) return; // What is collected will be counted.
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
    // Rarely, one is so near to the edge that distances decide.
    const isPlain = inner === outer && !this.#circle.isBounded;
    this.#matches += isPlain ? inner : this.#countMatches(leaf);
  }

  /** Counts, after all, what was to be collected. */
  #countPageLeaves(): void {
    for (let leaf = 0; leaf < this.#pageLeafCount; leaf++)
      this.#edgeLeaves[this.#edgeLeafCount++] = this.#pageLeaves[leaf]!;
  }

  #countMatches(leaf: PositionNode): number {
    let matches = 0;
    for (let row = this.#circle.firstFresh(leaf); row < leaf.rowCount; row++)
      if (this.#circle.isMatch(leaf, row)) matches++;
    return matches;
  }

  /** Collects the rows of listed leaves that the page is looked for in, and orders them. */
  #collectRing(): void {
    const ring = this.#ring;
    for (let leaf = 0; leaf < this.#pageLeafCount; leaf++) this.#collectRows(leaf);
    if (this.#collectsAll || this.#pageStart > 0 || this.#circle.isBounded) this.#sift();
    ring.sort(Math.max(0, this.#pageStart), this.#pageEdge);
  }

  /** Collects rows up to the page's edge, be they matches or not. */
  #collectRows(leafNumber: number): void {
    const leaf = this.#pageLeaves[leafNumber]!;
    const { x, y, z } = this.#circle;
    const pageEdge = this.#pageEdge;
    const { points, start, rowCount } = leaf;
    const ring = this.#ring;
    const first = this.#circle.firstFresh(leaf);
    ring.reserve(rowCount - first);
    const { chords, rows } = ring;
    const row0 = leafNumber << ROW_BITS;
    let entries = ring.count;
    for (let row = first; row < rowCount; row++) {
      const at = (start + row) * POINT.width;
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      // Written in any case, and over again where it is too far.
      chords[entries] = chord;
      rows[entries] = row0 + row;
      entries += Number(chord <= pageEdge);
    }
    ring.count = entries;
  }

  /** Leaves the matches in the ring that are not too near. */
  #sift(): void {
    const { chords, rows, count } = this.#ring;
    const innerEdge = this.#circle.innerEdge;
    const pageStart = this.#pageStart;
    const isBounded = this.#circle.isBounded;
    let kept = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const row = rows[entry]!;
      if (chord <= pageStart) continue;
      if (isBounded || chord > innerEdge) {
        const leaf = this.#pageLeaves[row >>> ROW_BITS]!;
        if (!this.#circle.isMatch(leaf, row & ROW_MASK)) continue;
      }
      chords[kept] = chord;
      rows[kept] = row;
      kept++;
    }
    this.#ring.count = kept;
  }

  /**
   * Collects anew, what lies between two circles with the page between them. Returns how many come before those
   * collected.
   */
  #narrowToPage(roots: readonly PositionRoot[], offset: number, limit: number): number {
    // Of a crowd that is most of the circle, counting cuts off little.
    const isAllCrowd = this.#isCrowded(Math.max(SORTED_ROWS_MAX, this.#matches / 2));
    if (isAllCrowd) return this.#selectBetween(roots, NOWHERE, this.#circle.outerEdge, offset, limit);
    const start = offset === 0 ? NOWHERE : this.#narrowing.narrow(roots, this.#matches, offset, false);
    const beyond = start > 0 ? start - roundingOf(start) : NOWHERE;
    const before = beyond > 0 ? this.#narrowing.countWithin(roots, beyond) : 0;
    const end =
      offset + limit >= this.#matches
        ? this.#circle.outerEdge
        : this.#narrowing.narrow(roots, this.#matches, offset + limit, true);
    const edge = end + roundingOf(end);
    return before + this.#selectBetween(roots, before > 0 ? beyond : NOWHERE, edge, offset - before, limit);
  }

  /** Collects what lies between two circles; returns how many of it come before those collected. */
  #selectBetween(
    roots: readonly PositionRoot[],
    start: number,
    edge: number,
    offset: number,
    limit: number,
  ): number {
    this.#collectBetween(start, edge);
    for (const { node } of roots) this.#listPageLeaves(node);
    if (!this.#isCrowded(SORTED_ROWS_MAX)) {
      this.#collectRing();
      return 0;
    }
    const ranks = { first: offset, end: offset + limit };
    const before = this.#crowd.select(this.#pageLeafCount, start, this.#pageEdge, ranks, this.#positions);
    this.#ring.sort(Math.max(0, start), this.#pageEdge);
    return before;
  }

  /** Whether more matches are at one point than are sorted. */
  #isCrowd(node: PositionNode): boolean {
    if (node.count <= SORTED_ROWS_MAX || !node.isOnePoint(this.#positions.byDevice)) return false;
    return this.#circle.countFresh(node) > SORTED_ROWS_MAX;
  }

  /** Leaves that may have rows between the two circles, and nodes that are crowds. */
  #listPageLeaves(node: PositionNode): void {
    const square = this.#circle.squareTo(node);
    const farthest = this.#pageReach + node.radius;
    if (square > farthest * farthest) return;
    const within = this.#pageStart > 0 ? Math.sqrt(this.#pageStart) - node.radius : NOWHERE;
    if (within >= 0 && square <= within * within) return;
    let child = node.firstChild;
    if (child === null || this.#isCrowd(node)) this.#pageLeaves[this.#pageLeafCount++] = node;
    else for (; child !== null; child = child.nextSibling) this.#listPageLeaves(child);
  }
}
