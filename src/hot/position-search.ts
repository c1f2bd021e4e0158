import { haversineMeters, RADIANS_PER_DEGREE } from "../geo/distance.ts";
import type { CircleQuery, Found } from "./position-index.ts";
import type { PositionNode } from "./position-node.ts";
import { type DevicePlaces, PositionPage } from "./position-page.ts";
import { PositionRing } from "./position-ring.ts";
import { FACTS_WIDTH, PLACE_WIDTH } from "./position-rows.ts";
import { roundingOf, squaredChord } from "./squared-chord.ts";

/** Pages that end beyond are found by counting alone: to collect all from the center on would take longer. */
const COLLECTED_MAX = 4096;
/** How many more than the page are worth sorting to spare another count. */
const SURPLUS = 64;
/** Each narrowing cuts off a part of the ring that the page lies in; where it can't, many positions are one. */
const NARROWINGS_MAX = 60;
/** Less than any distance from a ball. */
const NOWHERE = Number.NEGATIVE_INFINITY;

/** A tree of cells. */
export interface PositionRoot {
  readonly node: PositionNode;
}

/**
 * Counts circles and finds pages of them. Chords between unit vectors order positions as their distances do, but for
 * rounding: wherever it could decide, at the circle's edge and within a page, distances are compared. Chords are
 * squared, but where the name says `reach`. One search runs at a time, from its beginning to its end.
 */
export class PositionSearch {
  readonly #places: DevicePlaces;
  readonly #ring = new PositionRing();
  readonly #page: PositionPage;
  // The question: center, unit vectors to the east and north of it, and what counts.
  #latitude = 0;
  #longitude = 0;
  #radiusMeters = 0;
  #x = 0;
  #y = 0;
  #z = 0;
  #eastX = 0;
  #eastY = 0;
  #northX = 0;
  #northY = 0;
  #northZ = 0;
  #oldestMs = 0;
  #accuracyMax = 0;
  // The circle: within the inner edge all are inside, beyond the outer one none is.
  #innerEdge = 0;
  #outerEdge = 0;
  #innerReach = 0;
  #outerReach = 0;
  /** Positions up to here are collected while they are counted. */
  #pageEdge = 0;
  #pageReach = 0;
  #matches = 0;
  #candidates = 0;

  constructor(places: DevicePlaces, compareDevices: (a: number, b: number) => number) {
    this.#places = places;
    this.#page = new PositionPage(this.#ring, places, compareDevices);
  }

  /** `roots` are those that may touch the circle, `home` the one that the center lies in, if it holds anything. */
  find(
    circle: CircleQuery,
    roots: readonly PositionRoot[],
    home: PositionNode | null,
    homeCell: number,
  ): Found {
    this.#ask(circle);
    const end = circle.offset + circle.limit;
    this.#collectTo(end <= COLLECTED_MAX && home !== null ? this.#guessEdge(home, homeCell, end) : NOWHERE);
    for (const { node } of roots) this.#count(node);

    const { offset, limit } = circle;
    const ring = this.#ring;
    const matches = this.#matches;
    let before = 0;
    if (offset >= matches) return this.#found(0, 0);
    ring.sort();
    if (!this.#holdsPage(Math.min(end, matches))) before = this.#narrowToPage(roots, offset, limit);
    return this.#found(offset - before, Math.min(limit, matches - offset));
  }

  #found(start: number, count: number): Found {
    const page = this.#page;
    page.fill(start, start + count, this.#latitude, this.#longitude);
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
    const lat = latitude * RADIANS_PER_DEGREE;
    const lon = longitude * RADIANS_PER_DEGREE;
    const cosLat = Math.cos(lat);
    const sinLat = Math.sin(lat);
    const cosLon = Math.cos(lon);
    const sinLon = Math.sin(lon);
    this.#latitude = latitude;
    this.#longitude = longitude;
    this.#radiusMeters = radiusMeters;
    this.#x = cosLat * cosLon;
    this.#y = cosLat * sinLon;
    this.#z = sinLat;
    this.#eastX = -sinLon;
    this.#eastY = cosLon;
    this.#northX = -sinLat * cosLon;
    this.#northY = -sinLat * sinLon;
    this.#northZ = cosLat;
    this.#oldestMs = oldestMs;
    this.#accuracyMax = Math.min(accuracyMetersMax, Number.MAX_VALUE);
    const edge = squaredChord(radiusMeters);
    this.#innerEdge = edge - roundingOf(edge);
    this.#outerEdge = edge + roundingOf(edge);
    this.#innerReach = this.#innerEdge > 0 ? Math.sqrt(this.#innerEdge) : NOWHERE;
    this.#outerReach = Math.sqrt(this.#outerEdge);
    this.#matches = 0;
    this.#candidates = 0;
    this.#ring.count = 0;
  }

  #collectTo(edge: number): void {
    this.#pageEdge = edge >= this.#innerEdge ? this.#outerEdge : edge;
    this.#pageReach = edge >= 0 ? Math.sqrt(this.#pageEdge) : NOWHERE;
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
    let fresh = node.countFresh(this.#oldestMs, this.#accuracyMax);
    while (fresh < wanted && node.parent !== null) {
      node = node.parent;
      fresh = node.countFresh(this.#oldestMs, this.#accuracyMax);
    }
    if (fresh === 0) return this.#outerEdge;
    return ((wanted + 4 * Math.sqrt(wanted)) / fresh) * (node.area / Math.PI);
  }

  /** Whether the ring holds the first `end` of all, with whatever rounding may have put behind them. */
  #holdsPage(end: number): boolean {
    const ring = this.#ring;
    if (ring.count === this.#matches) return true;
    if (ring.count <= end) return false;
    for (let place = end - 1; place + 1 < ring.count; place++) if (!ring.isTie(place)) return true;
    return false;
  }

  /** Counts a cell's matches, and collects those up to the page's edge. */
  #count(node: PositionNode): void {
    const dx = node.x - this.#x;
    const dy = node.y - this.#y;
    const dz = node.z - this.#z;
    const square = dx * dx + dy * dy + dz * dz;
    const { radius } = node;
    const farthest = this.#outerReach + radius;
    if (square > farthest * farthest) return;
    const within = this.#innerReach - radius;
    if (within >= 0 && square <= within * within) {
      const beyond = this.#pageReach + radius;
      if (beyond < 0 || square > beyond * beyond) {
        this.#candidates += node.count;
        this.#matches += node.countFresh(this.#oldestMs, this.#accuracyMax);
        return;
      }
    }
    if (node.firstChild === null) this.#countRows(node);
    else
      for (let child: PositionNode | null = node.firstChild; child !== null; child = child.nextSibling)
        this.#count(child);
  }

  #countRows(node: PositionNode): void {
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const accuracyMax = this.#accuracyMax;
    const isBounded = accuracyMax < Number.MAX_VALUE;
    const innerEdge = this.#innerEdge;
    const outerEdge = this.#outerEdge;
    const pageEdge = this.#pageEdge;
    const { count, start, places, facts } = node;
    this.#candidates += count;
    let matches = 0;
    const end = start + count;
    for (let row = start + this.#firstFresh(node); row < end; row++) {
      const at = row * PLACE_WIDTH;
      const dx = places[at]! - x;
      const dy = places[at + 1]! - y;
      const dz = places[at + 2]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      if (chord > outerEdge) continue;
      if (isBounded && facts[row * FACTS_WIDTH + 1]! > accuracyMax) continue;
      if (chord > innerEdge && !this.#isInside(places[at + 3]!)) continue;
      matches++;
      if (chord <= pageEdge) this.#collect(chord, places[at + 3]!, dx, dy, dz);
    }
    this.#matches += matches;
  }

  #firstFresh(node: PositionNode): number {
    // Counted rather than looked for, so that the count is remembered for the next question.
    if (this.#accuracyMax === Number.MAX_VALUE)
      return node.count - node.countFresh(this.#oldestMs, Number.MAX_VALUE);
    return node.firstFresh(this.#oldestMs);
  }

  #isInside(device: number): boolean {
    const { latitude, longitude } = this.#places;
    const meters = haversineMeters(this.#latitude, this.#longitude, latitude[device]!, longitude[device]!);
    return meters <= this.#radiusMeters;
  }

  #collect(chord: number, device: number, dx: number, dy: number, dz: number): void {
    const east = dx * this.#eastX + dy * this.#eastY;
    const north = dx * this.#northX + dy * this.#northY + dz * this.#northZ;
    this.#ring.push(chord, device, east, north);
  }

  /**
   * Collects anew, what lies between two circles with the page between them. Returns how many come before those
   * collected.
   */
  #narrowToPage(roots: readonly PositionRoot[], offset: number, limit: number): number {
    const matches = this.#matches;
    const start = offset === 0 ? FROM_CENTER : this.#narrow(roots, offset, false);
    const beyond = start.near - roundingOf(Math.max(0, start.near));
    const before = start.near <= 0 ? 0 : this.#countAllWithin(roots, beyond);
    const end = offset + limit >= matches ? this.#outerEdge : this.#narrow(roots, offset + limit, true).far;
    const ring = this.#ring;
    ring.count = 0;
    for (const { node } of roots)
      this.#collectBetween(node, before === 0 ? -1 : beyond, end + roundingOf(end));
    ring.sort();
    return before;
  }

  /**
   * Two squared chords, the nearer with at most `wanted` within, the farther with at least as many, as close
   * together as counting gets them at little cost: `wantsMore` says which of the two is to be close.
   */
  #narrow(roots: readonly PositionRoot[], wanted: number, wantsMore: boolean): Narrowed {
    let near = -1;
    let nearCount = 0;
    let far = this.#outerEdge;
    let farCount = this.#matches;
    for (let step = 0; step < NARROWINGS_MAX; step++) {
      if (wantsMore ? farCount <= wanted + SURPLUS : nearCount >= wanted - SURPLUS) break;
      const from = Math.max(0, near);
      // As if they were spread evenly over the ring; every other step halves it, for when they are not.
      const aim = wanted + (wantsMore ? SURPLUS / 2 : -SURPLUS / 2) - nearCount;
      const share = step % 2 === 0 ? aim / (farCount - nearCount) : 0.5;
      const bound = from + (far - from) * Math.min(0.98, Math.max(0.02, share));
      if (bound <= from || bound >= far) break;
      const count = this.#countAllWithin(roots, bound);
      if (wantsMore ? count >= wanted : count > wanted) {
        far = bound;
        farCount = count;
      } else {
        near = bound;
        nearCount = count;
      }
    }
    return { near, far };
  }

  #countAllWithin(roots: readonly PositionRoot[], bound: number): number {
    const reach = Math.sqrt(bound);
    let count = 0;
    for (const { node } of roots) count += this.#countWithin(node, bound, reach);
    return count;
  }

  /** How many lie within a squared chord that is well inside the circle. */
  #countWithin(node: PositionNode, bound: number, reach: number): number {
    const dx = node.x - this.#x;
    const dy = node.y - this.#y;
    const dz = node.z - this.#z;
    const square = dx * dx + dy * dy + dz * dz;
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

  #countRowsWithin(node: PositionNode, bound: number): number {
    const x = this.#x;
    const y = this.#y;
    const z = this.#z;
    const accuracyMax = this.#accuracyMax;
    const { count, start, places, facts } = node;
    let within = 0;
    const end = start + count;
    for (let row = start + this.#firstFresh(node); row < end; row++) {
      const at = row * PLACE_WIDTH;
      const dx = places[at]! - x;
      const dy = places[at + 1]! - y;
      const dz = places[at + 2]! - z;
      if (dx * dx + dy * dy + dz * dz <= bound && facts[row * FACTS_WIDTH + 1]! <= accuracyMax) within++;
    }
    return within;
  }

  /** Collects those farther than one squared chord and within another. */
  #collectBetween(node: PositionNode, beyond: number, bound: number): void {
    const dx = node.x - this.#x;
    const dy = node.y - this.#y;
    const dz = node.z - this.#z;
    const square = dx * dx + dy * dy + dz * dz;
    const farthest = Math.sqrt(bound) + node.radius;
    if (square > farthest * farthest) return;
    const within = beyond < 0 ? NOWHERE : Math.sqrt(beyond) - node.radius;
    if (within >= 0 && square <= within * within) return;
    if (node.firstChild === null) this.#collectRowsBetween(node, beyond, bound);
    else
      for (let child: PositionNode | null = node.firstChild; child !== null; child = child.nextSibling)
        this.#collectBetween(child, beyond, bound);
  }

  #collectRowsBetween(node: PositionNode, beyond: number, bound: number): void {
    const accuracyMax = this.#accuracyMax;
    const innerEdge = this.#innerEdge;
    const { count, start, places, facts } = node;
    const end = start + count;
    for (let row = start + this.#firstFresh(node); row < end; row++) {
      const at = row * PLACE_WIDTH;
      const dx = places[at]! - this.#x;
      const dy = places[at + 1]! - this.#y;
      const dz = places[at + 2]! - this.#z;
      const chord = dx * dx + dy * dy + dz * dz;
      if (chord <= beyond || chord > bound || facts[row * FACTS_WIDTH + 1]! > accuracyMax) continue;
      if (chord > innerEdge && !this.#isInside(places[at + 3]!)) continue;
      this.#collect(chord, places[at + 3]!, dx, dy, dz);
    }
  }
}

interface Narrowed {
  readonly near: number;
  readonly far: number;
}

const FROM_CENTER: Narrowed = { near: -1, far: 0 };
