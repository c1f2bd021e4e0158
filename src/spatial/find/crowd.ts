import type { PositionNode } from "../node.ts";
import { NO_POSITIONS, type Positions } from "../positions.ts";
import { ROW_BITS, ROW_MASK } from "../rows/device-places.ts";
import { NO_DEVICE } from "../rows/leaf-rows.ts";
import { POINT } from "../rows/row-pool.ts";
import type { Circle } from "./circle.ts";
import { orderStatistic, rangeOf } from "./order-statistic.ts";
import type { PositionRing } from "./ring.ts";
import { swapMax } from "./squared-chord.ts";

/** What a search does where up to all positions are as far from its center as those of the page. */

/** So many are sorted rather than told apart further. */
const FEW_ROWS = 4096;
const BINS = 4096;
const ENTRIES_INITIAL = 1024;

/**
 * Fills a ring with the rows of a page and few others, without sorting the rest: first by the chords, then by the
 * distances that the page begins and ends with. Of those at one distance it marks the devices and goes through all of
 * the app's in order. An entry is a row, or all rows of a leaf that are at one point, and weighs as much as they are.
 */
export class Crowd {
  readonly #circle: Circle;
  readonly #ring: PositionRing;
  readonly #leaves: PositionNode[];
  #positions = NO_POSITIONS;
  #leafCount = 0;
  #count = 0;
  #chords = new Float64Array(ENTRIES_INITIAL);
  /** Which rows those are: one as the ring has it, or the complement of a leaf's number. */
  #rows = new Int32Array(ENTRIES_INITIAL);
  #weights = new Uint16Array(ENTRIES_INITIAL);
  /** By haversines. */
  #meters = new Float64Array(0);
  /** A bit for each device, by number. */
  #marks = new Uint32Array(0);

  /** Rows are of these leaves, to which it adds others. */
  constructor(circle: Circle, ring: PositionRing, leaves: PositionNode[]) {
    this.#circle = circle;
    this.#ring = ring;
    this.#leaves = leaves;
  }

  /**
   * Of the matches in the first leaves that are farther than `start` and within `edge`, puts those between two ranks
   * into the ring, and few before and behind them. Returns how many come before those in the ring.
   */
  select(
    leafCount: number,
    start: number,
    edge: number,
    ranks: { readonly first: number; readonly end: number },
    positions: Positions,
  ): number {
    this.#positions = positions;
    this.#leafCount = leafCount;
    this.#ring.count = 0;
    this.#count = 0;
    for (let leaf = 0; leaf < leafCount; leaf++) this.#collect(leaf, start, edge);
    const before = this.#narrow(ranks.first, ranks.end);
    this.#measure();
    return before + this.#selectByMeters(ranks.first - before, ranks.end - before);
  }

  #collect(leafNumber: number, start: number, edge: number): void {
    const leaf = this.#leaves[leafNumber]!;
    this.#reserve(leaf.rowCount);
    if (leaf.isOnePoint(this.#positions.byDevice)) this.#collectLeaf(leafNumber, start, edge);
    else this.#collectRows(leafNumber, start, edge);
  }

  #collectLeaf(leafNumber: number, start: number, edge: number): void {
    const leaf = this.#leaves[leafNumber]!;
    const row = leaf.newestRow;
    const chord = this.#circle.chordTo(leaf, row);
    if (chord <= start || chord > edge || !this.#circle.isInside(leaf, row)) return;
    const entry = this.#count;
    this.#chords[entry] = chord;
    this.#rows[entry] = ~leafNumber;
    this.#weights[entry] = this.#circle.countFresh(leaf);
    if (this.#weights[entry]! > 0) this.#count++;
  }

  #collectRows(leafNumber: number, start: number, edge: number): void {
    const leaf = this.#leaves[leafNumber]!;
    const { x, y, z, accuracyMax, innerEdge } = this.#circle;
    const { points, accuracies } = leaf;
    const chords = this.#chords;
    const rows = this.#rows;
    const first = this.#count;
    let entries = first;
    for (let row = this.#circle.firstFresh(leaf); row < leaf.rowCount; row++) {
      const at = (leaf.start + row) * POINT.width;
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      // Written in any case, and over again where it is none: without a jump, which would be guessed wrong.
      chords[entries] = chord;
      rows[entries] = (leafNumber << ROW_BITS) + row;
      entries +=
        Number(chord > start) & Number(chord <= edge) & Number(accuracies[leaf.start + row]! <= accuracyMax);
    }
    this.#weights.fill(1, first, entries);
    this.#count = entries;
    if (edge > innerEdge) this.#sift(first, leaf);
  }

  /** Leaves out rows that are beyond the circle. */
  #sift(first: number, leaf: PositionNode): void {
    const count = this.#count;
    this.#count = first;
    for (let entry = first; entry < count; entry++)
      if (this.#circle.isInside(leaf, this.#rows[entry]! & ROW_MASK)) this.#keep(entry);
  }

  #keep(entry: number): void {
    const to = this.#count++;
    this.#chords[to] = this.#chords[entry]!;
    this.#rows[to] = this.#rows[entry]!;
    this.#weights[to] = this.#weights[entry]!;
  }

  #reserve(more: number): void {
    const needed = this.#count + more;
    if (needed <= this.#chords.length) return;
    const length = Math.max(needed, 2 * this.#chords.length);
    const [chords, rows, weights] = [this.#chords, this.#rows, this.#weights];
    this.#chords = new Float64Array(length);
    this.#rows = new Int32Array(length);
    this.#weights = new Uint16Array(length);
    this.#chords.set(chords);
    this.#rows.set(rows);
    this.#weights.set(weights);
  }

  /** Leaves entries whose chords may be those of the page, or all where that parts few from many no more. */
  #narrow(first: number, end: number): number {
    let before = 0;
    for (let count = Number.POSITIVE_INFINITY; this.#count > FEW_ROWS && this.#count < count / 2; ) {
      count = this.#count;
      before += this.#narrowOnce(first - before, end - before);
    }
    return before;
  }

  #narrowOnce(first: number, end: number): number {
    const { least, most } = rangeOf(this.#chords, this.#count);
    const tieMax = swapMax(most);
    if (most - least <= tieMax) return 0;
    const scale = (BINS - 1) / (most - least);
    const bins = new Float64Array(BINS);
    for (let entry = 0; entry < this.#count; entry++)
      bins[((this.#chords[entry]! - least) * scale) | 0]! += this.#weights[entry]!;
    let firstBin = 0;
    let passed = 0;
    while (passed + bins[firstBin]! <= first) passed += bins[firstBin++]!;
    let endBin = firstBin;
    while (passed < end) passed += bins[endBin++]!;
    // Whoever is so close to an edge may be beyond it by its distance.
    return this.#keepBetween(least + firstBin / scale - tieMax, least + endBin / scale + tieMax);
  }

  /** Returns how many were nearer than those that are left. */
  #keepBetween(nearest: number, farthest: number): number {
    const chords = this.#chords;
    const rows = this.#rows;
    const weights = this.#weights;
    const count = this.#count;
    let before = 0;
    let kept = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const weight = weights[entry]!;
      before += Number(chord < nearest) * weight;
      chords[kept] = chord;
      rows[kept] = rows[entry]!;
      weights[kept] = weight;
      kept += Number(chord >= nearest) & Number(chord <= farthest);
    }
    this.#count = kept;
    return before;
  }

  /** Distances of all entries. */
  #measure(): void {
    const { byDevice } = this.#positions;
    const { latitude, longitude } = byDevice;
    if (this.#meters.length < this.#count) this.#meters = new Float64Array(this.#chords.length);
    let lastLatitude = Number.NaN;
    let lastLongitude = Number.NaN;
    let meters = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const device = this.#deviceOf(this.#rows[entry]!);
      // Thousands may be at one point.
      if (latitude[device] !== lastLatitude || longitude[device] !== lastLongitude) {
        lastLatitude = latitude[device]!;
        lastLongitude = longitude[device]!;
        meters = this.#circle.center.metersTo(byDevice, device);
      }
      this.#meters[entry] = meters;
    }
  }

  #deviceOf(row: number): number {
    const leaf = this.#leaves[row < 0 ? ~row : row >>> ROW_BITS]!;
    return leaf.deviceAt(row < 0 ? leaf.newestRow : row & ROW_MASK);
  }

  /** Puts the rows between two ranks into the ring; returns how many come before. */
  #selectByMeters(first: number, end: number): number {
    const firstMeters = orderStatistic(this.#meters, this.#weights, this.#count, first);
    const lastMeters = orderStatistic(this.#meters, this.#weights, this.#count, end - 1);
    let before = 0;
    let nearer = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const meters = this.#meters[entry]!;
      if (meters < firstMeters) before += this.#weights[entry]!;
      if (meters < lastMeters) nearer += this.#weights[entry]!;
      if (meters > firstMeters && meters < lastMeters) this.#addRows(this.#rows[entry]!);
    }
    if (firstMeters === lastMeters)
      return before + this.#selectTied(firstMeters, first - before, end - before);
    this.#selectTied(lastMeters, 0, end - nearer);
    return before + this.#selectTied(firstMeters, first - before, Number.POSITIVE_INFINITY);
  }

  /** Of the rows at one distance, puts those between two ranks into the ring. Returns how many come before. */
  #selectTied(meters: number, first: number, end: number): number {
    let tied = 0;
    for (let entry = 0; entry < this.#count; entry++)
      if (this.#meters[entry] === meters) tied += this.#weights[entry]!;
    const { deviceOrder } = this.#positions;
    const isMarking = tied > FEW_ROWS && deviceOrder.isReady();
    if (isMarking) this.#clearMarks();
    for (let entry = 0; entry < this.#count; entry++) {
      if (this.#meters[entry] !== meters) continue;
      if (isMarking) this.#markRows(this.#rows[entry]!);
      else this.#addRows(this.#rows[entry]!);
    }
    if (isMarking) this.#addMarked(first, end);
    return isMarking ? first : 0;
  }

  #clearMarks(): void {
    const words = (this.#positions.byDevice.latitude.length >>> 5) + 1;
    if (this.#marks.length < words) this.#marks = new Uint32Array(2 * words);
    else this.#marks.fill(0);
  }

  #markRows(row: number): void {
    const marks = this.#marks;
    if (row >= 0) {
      const device = this.#deviceOf(row);
      marks[device >>> 5]! |= 1 << (device & 31);
      return;
    }
    const leaf = this.#leaves[~row]!;
    const { accuracies, points, start, rowCount } = leaf;
    const { accuracyMax } = this.#circle;
    for (let row = start + this.#circle.firstFresh(leaf); row < start + rowCount; row++) {
      const device = points[row * POINT.width + POINT.device]!;
      if (device === NO_DEVICE) continue;
      marks[device >>> 5]! |= Number(accuracies[row]! <= accuracyMax) << (device & 31);
    }
  }

  /** Puts marked devices between two ranks into the ring. */
  #addMarked(first: number, end: number): void {
    const marks = this.#marks;
    let rank = 0;
    this.#positions.deviceOrder.visit((device) => {
      if (((marks[device >>> 5]! >>> (device & 31)) & 1) === 0) return true;
      if (rank >= first) this.#addDevice(device);
      rank++;
      return rank < end;
    });
  }

  #addDevice(device: number): void {
    const leaf = this.#positions.leafOf(device);
    this.#leaves[this.#leafCount] = leaf;
    this.#add((this.#leafCount++ << ROW_BITS) + this.#positions.rowOf(device));
  }

  /** Puts all rows of an entry into the ring. */
  #addRows(row: number): void {
    if (row >= 0) {
      this.#add(row);
      return;
    }
    const leaf = this.#leaves[~row]!;
    const { accuracyMax } = this.#circle;
    for (let at = this.#circle.firstFresh(leaf); at < leaf.rowCount; at++)
      if (leaf.accuracies[leaf.start + at]! <= accuracyMax) this.#add((~row << ROW_BITS) + at);
  }

  #add(row: number): void {
    const ring = this.#ring;
    ring.reserve(1);
    ring.chords[ring.count] = this.#circle.chordTo(this.#leaves[row >>> ROW_BITS]!, row & ROW_MASK);
    ring.rows[ring.count++] = row;
  }
}
