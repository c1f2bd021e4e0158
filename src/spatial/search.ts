import { BALL, NO_CHILDREN, PositionCells, SIBLINGS } from "./cells.ts";
import { Center, type DevicePlaces } from "./center.ts";
import type { CircleQuery, Found } from "./circle-query.ts";
import type { DeviceOrder } from "./device-order.ts";
import { type PositionNode, ROW_BITS, ROW_MASK } from "./node.ts";
import { PositionPage } from "./page.ts";
import { PositionRing } from "./ring.ts";
import { PLACE } from "./rows.ts";
import { roundingOf, squaredChord, swapMax } from "./squared-chord.ts";

/** Pages that end beyond are found by counting alone: to collect all from the center on would take longer. */
const COLLECTED_MAX = 4096;
/** How many more than the page are worth sorting to spare another count. */
const SURPLUS = 64;
/** Each narrowing cuts off a part of the ring that the page lies in. */
const NARROWINGS_MAX = 60;
/** Rows that narrowing may look at: it goes through many only where they are at one place, and there it leads to nothing. */
const NARROWING_ROWS_MAX = 250_000;
/** Of a circle, a ring so thin holds few, or many that are at one place and can't be told apart by narrowing. */
const THIN_SHARE = 1e-4;
/** Less than any distance. */
const NOWHERE = Number.NEGATIVE_INFINITY;

/** A tree of cells. */
export interface PositionRoot {
  readonly node: PositionNode;
}

/** What a search looks into: one app's positions. */
export interface Positions {
  readonly cells: PositionCells<PositionNode>;
  readonly places: DevicePlaces;
  /** Of those at one distance. */
  readonly deviceOrder: DeviceOrder;
}

const NOTHING: Positions = {
  cells: new PositionCells(),
  places: { latitude: [], longitude: [] },
  deviceOrder: { compare: () => 0, isReady: () => false, visit: () => {} },
};

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
  // What is asked, and the question.
  #cells: PositionCells<PositionNode> = NOTHING.cells;
  #places: DevicePlaces = NOTHING.places;
  #deviceOrder = NOTHING.deviceOrder;
  #center = new Center(0, 0);
  #x = 0;
  #y = 0;
  #z = 0;
  #radiusMeters = 0;
  #oldestMs = 0;
  #accuracyMax = 0;
  // The circle: within the inner edge all are inside, beyond the outer one none is.
  #innerEdge = 0;
  #outerEdge = 0;
  #innerReach = 0;
  #outerReach = 0;
  // Rows farther than one and within the other are collected.
  #pageStart = 0;
  #pageEdge = 0;
  #pageReach = 0;
  #collectsAll = false;
  #matches = 0;
  #candidates = 0;
  /** By narrowing, for this question. */
  #rowsLookedAt = 0;

  constructor() {
    this.#page = new PositionPage(this.#ring, this.#pageLeaves);
  }

  /** `roots` are those that may touch the circle, `home` the one that the center's cell lies in, if it holds anything. */
  find(
    positions: Positions,
    circle: CircleQuery,
    roots: readonly PositionRoot[],
    home: PositionNode | null,
    homeCell: number,
  ): Found {
    const { offset, limit } = circle;
    const end = offset + limit;
    this.#cells = positions.cells;
    this.#places = positions.places;
    this.#deviceOrder = positions.deviceOrder;
    this.#ask(circle);
    const isNear = end <= COLLECTED_MAX && home !== null;
    this.#collectBetween(NOWHERE, isNear ? this.#guessEdge(home, homeCell, end) : NOWHERE);
    this.#countCells(roots);
    for (let leaf = 0; leaf < this.#edgeLeafCount; leaf++) this.#countRows(this.#edgeLeaves[leaf]!);
    this.#collectRing();
    if (this.#collectsAll) this.#matches = this.#ring.count;

    const matches = this.#matches;
    if (offset >= matches) return this.#found(0, 0);
    const before = this.#holdsPage(Math.min(end, matches)) ? 0 : this.#narrowToPage(roots, offset, limit);
    return this.#found(offset - before, Math.min(limit, matches - offset));
  }

  #found(start: number, count: number): Found {
    const page = this.#page;
    page.fill(start, start + count, this.#center, this.#places, this.#deviceOrder);
    return {
      count,
      devices: page.devices,
      meters: page.meters,
      bearings: page.bearings,
      matches: this.#matches,
      candidates: this.#candidates,
    };
  }

  #ask({ latitude, longitude, radiusMeters, oldestMs, accuracyMetersMax }: CircleQuery): void {
    const center = new Center(latitude, longitude);
    this.#center = center;
    this.#x = center.x;
    this.#y = center.y;
    this.#z = center.z;
    this.#radiusMeters = radiusMeters;
    this.#oldestMs = oldestMs;
    this.#accuracyMax = Math.min(accuracyMetersMax, Number.MAX_VALUE);
    const edge = squaredChord(radiusMeters);
    this.#innerEdge = edge - roundingOf(edge);
    this.#outerEdge = edge + roundingOf(edge);
    this.#innerReach = this.#innerEdge > 0 ? Math.sqrt(this.#innerEdge) : NOWHERE;
    this.#outerReach = Math.sqrt(this.#outerEdge);
    this.#matches = 0;
    this.#candidates = 0;
    this.#rowsLookedAt = 0;
    this.#edgeLeafCount = 0;
  }

  #collectBetween(start: number, edge: number): void {
    this.#pageStart = start;
    this.#collectsAll = edge >= this.#innerEdge;
    this.#pageEdge = this.#collectsAll ? this.#outerEdge : edge;
    this.#pageReach = edge >= 0 ? Math.sqrt(this.#pageEdge) : NOWHERE;
    this.#pageLeafCount = 0;
    this.#ring.count = 0;
  }

  /** How far a circle around the center goes that holds some more than so many, were all as near together as around it. */
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
      if (fairShare >= this.#outerEdge * count) return this.#outerEdge;
      const fresh = node.countFresh(this.#oldestMs, this.#accuracyMax);
      if (fresh >= wanted || parent === null) return fresh === 0 ? this.#outerEdge : fairShare / fresh;
      node = parent;
    }
  }

  /** Whether the ring holds the first `end` of all, with whatever rounding may have put behind them. */
  #holdsPage(end: number): boolean {
    const { count, sorted } = this.#ring;
    if (count === this.#matches) return true;
    const tieMax = swapMax(this.#pageEdge);
    for (let place = end; place < count; place++)
      if (sorted[place]! - sorted[place - 1]! > tieMax) return true;
    return false;
  }

  /**
   * Counts the matches of cells inside the circle, and lists leaves at its edge and around the page. Each cell is
   * written where each outcome would have it, and counted where it belongs: again without a jump.
   */
  #countCells(roots: readonly PositionRoot[]): void {
    const { balls, children, nodes } = this.#cells;
    if (this.#open.length < children.length) this.#growLists(children.length);
    const open = this.#open;
    const whole = this.#whole;
    const edge = this.#edge;
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const innerReach = this.#innerReach;
    const outerReach = this.#outerReach;
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
    for (let place = 0; place < wholeCount; place++) {
      const node = nodes[whole[place]!]!;
      this.#candidates += node.count;
      this.#matches += node.countFresh(this.#oldestMs, this.#accuracyMax);
    }
    for (let place = 0; place < edgeCount; place++) {
      const found = edge[place]!;
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
    if (isInside) this.#matches += leaf.countFresh(this.#oldestMs, this.#accuracyMax);
    else this.#edgeLeaves[this.#edgeLeafCount++] = leaf;
  }

  #countRows(leaf: PositionNode): void {
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const innerEdge = this.#innerEdge;
    const outerEdge = this.#outerEdge;
    const { places } = leaf;
    const end = (leaf.start + leaf.count) * PLACE.width;
    let inner = 0;
    let outer = 0;
    for (let at = (leaf.start + this.#firstFresh(leaf)) * PLACE.width; at < end; at += PLACE.width) {
      const dx = places[at + PLACE.x]! - x;
      const dy = places[at + PLACE.y]! - y;
      const dz = places[at + PLACE.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      inner += Number(chord <= innerEdge);
      outer += Number(chord <= outerEdge);
    }
    // Rarely, one is so near to the edge that distances decide.
    const isPlain = inner === outer && this.#accuracyMax === Number.MAX_VALUE;
    this.#matches += isPlain ? inner : this.#countMatches(leaf);
  }

  #countMatches(leaf: PositionNode): number {
    let matches = 0;
    for (let row = this.#firstFresh(leaf); row < leaf.count; row++) if (this.#isMatch(leaf, row)) matches++;
    return matches;
  }

  /** Collects the rows of listed leaves that the page is looked for in, and orders them. */
  #collectRing(): void {
    const ring = this.#ring;
    for (let leaf = 0; leaf < this.#pageLeafCount; leaf++) this.#collectRows(leaf);
    if (this.#collectsAll || this.#pageStart > 0 || this.#accuracyMax < Number.MAX_VALUE) this.#sift();
    ring.sort(Math.max(0, this.#pageStart), this.#pageEdge);
  }

  /** Collects rows up to the page's edge, be they matches or not. */
  #collectRows(leafNumber: number): void {
    const leaf = this.#pageLeaves[leafNumber]!;
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const pageEdge = this.#pageEdge;
    const { places, start, count } = leaf;
    const ring = this.#ring;
    const first = this.#firstFresh(leaf);
    ring.reserve(count - first);
    const { chords, rows } = ring;
    const row0 = leafNumber << ROW_BITS;
    let entries = ring.count;
    for (let row = first; row < count; row++) {
      const at = (start + row) * PLACE.width;
      const dx = places[at + PLACE.x]! - x;
      const dy = places[at + PLACE.y]! - y;
      const dz = places[at + PLACE.z]! - z;
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
    const innerEdge = this.#innerEdge;
    const pageStart = this.#pageStart;
    const isBounded = this.#accuracyMax < Number.MAX_VALUE;
    let kept = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const row = rows[entry]!;
      if (chord <= pageStart) continue;
      if (isBounded || chord > innerEdge) {
        const leaf = this.#pageLeaves[row >>> ROW_BITS]!;
        if (!this.#isMatch(leaf, row & ROW_MASK)) continue;
      }
      chords[kept] = chord;
      rows[kept] = row;
      kept++;
    }
    this.#ring.count = kept;
  }

  #isMatch({ accuracies, places, start }: PositionNode, row: number): boolean {
    if (accuracies[start + row]! > this.#accuracyMax) return false;
    const at = (start + row) * PLACE.width;
    const dx = places[at + PLACE.x]! - this.#x;
    const dy = places[at + PLACE.y]! - this.#y;
    const dz = places[at + PLACE.z]! - this.#z;
    const chord = dx * dx + dy * dy + dz * dz;
    if (chord <= this.#innerEdge || chord > this.#outerEdge) return chord <= this.#innerEdge;
    return this.#center.metersTo(this.#places, places[at + PLACE.device]!) <= this.#radiusMeters;
  }

  #firstFresh(leaf: PositionNode): number {
    // Counted rather than looked for, so that the count is remembered for the next question.
    if (this.#accuracyMax === Number.MAX_VALUE)
      return leaf.count - leaf.countFresh(this.#oldestMs, Number.MAX_VALUE);
    return leaf.firstFresh(this.#oldestMs);
  }

  /**
   * Collects anew, what lies between two circles with the page between them. Returns how many come before those
   * collected.
   */
  #narrowToPage(roots: readonly PositionRoot[], offset: number, limit: number): number {
    const start = offset === 0 ? NOWHERE : this.#narrow(roots, offset, false);
    const beyond = start > 0 ? start - roundingOf(start) : NOWHERE;
    const before = beyond > 0 ? this.#countAllWithin(roots, beyond) : 0;
    const end = offset + limit >= this.#matches ? this.#outerEdge : this.#narrow(roots, offset + limit, true);
    this.#collectBetween(before > 0 ? beyond : NOWHERE, end + roundingOf(end));
    for (const { node } of roots) this.#listPageLeaves(node);
    this.#collectRing();
    return before;
  }

  /**
   * A squared chord with at least `wanted` within, where it `wantsMore`, else at most so many, and as close to it as
   * counting gets at little cost.
   */
  #narrow(roots: readonly PositionRoot[], wanted: number, wantsMore: boolean): number {
    let near = NOWHERE;
    let nearCount = 0;
    let far = this.#outerEdge;
    let farCount = this.#matches;
    for (let step = 0; step < NARROWINGS_MAX; step++) {
      if (wantsMore ? farCount <= wanted + SURPLUS : nearCount >= wanted - SURPLUS) break;
      if (this.#rowsLookedAt > NARROWING_ROWS_MAX) break;
      const from = Math.max(0, near);
      if (far - from <= far * THIN_SHARE) break;
      // As if they were spread evenly over the ring; every other step halves it, for when they are not.
      const aim = wanted + (wantsMore ? SURPLUS / 2 : -SURPLUS / 2) - nearCount;
      const share = step % 2 === 0 ? aim / (farCount - nearCount) : 0.5;
      const bound = from + (far - from) * Math.min(0.98, Math.max(0.02, share));
      if (bound <= from || bound >= Math.min(far, this.#innerEdge)) break;
      const count = this.#countAllWithin(roots, bound);
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

  #countAllWithin(roots: readonly PositionRoot[], bound: number): number {
    const reach = Math.sqrt(bound);
    let count = 0;
    for (const { node } of roots) count += this.#countWithin(node, bound, reach);
    return count;
  }

  /** How many lie within a squared chord that is well inside the circle. */
  #countWithin(node: PositionNode, bound: number, reach: number): number {
    const square = this.#squareTo(node);
    const farthest = reach + node.radius;
    if (square > farthest * farthest) return 0;
    const within = reach - node.radius;
    if (within >= 0 && square <= within * within) return node.countFresh(this.#oldestMs, this.#accuracyMax);
    if (node.firstChild === null) return this.#countRowsWithin(node, bound);
    let count = 0;
    for (let child: PositionNode | null = node.firstChild; child !== null; child = child.nextSibling)
      count += this.#countWithin(child, bound, reach);
    return count;
  }

  #countRowsWithin(leaf: PositionNode, bound: number): number {
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const accuracyMax = this.#accuracyMax;
    const { places, accuracies } = leaf;
    const end = leaf.start + leaf.count;
    let within = 0;
    this.#rowsLookedAt += leaf.count;
    for (let row = leaf.start + this.#firstFresh(leaf); row < end; row++) {
      const at = row * PLACE.width;
      const dx = places[at + PLACE.x]! - x;
      const dy = places[at + PLACE.y]! - y;
      const dz = places[at + PLACE.z]! - z;
      within += Number(accuracies[row]! <= accuracyMax) & Number(dx * dx + dy * dy + dz * dz <= bound);
    }
    return within;
  }

  /** Leaves that may have rows between the two circles. */
  #listPageLeaves(node: PositionNode): void {
    const square = this.#squareTo(node);
    const farthest = this.#pageReach + node.radius;
    if (square > farthest * farthest) return;
    const within = this.#pageStart > 0 ? Math.sqrt(this.#pageStart) - node.radius : NOWHERE;
    if (within >= 0 && square <= within * within) return;
    let child = node.firstChild;
    if (child === null) this.#pageLeaves[this.#pageLeafCount++] = node;
    for (; child !== null; child = child.nextSibling) this.#listPageLeaves(child);
  }

  #squareTo(node: PositionNode): number {
    const dx = node.x - this.#x;
    const dy = node.y - this.#y;
    const dz = node.z - this.#z;
    return dx * dx + dy * dy + dz * dz;
  }
}
