import { grown } from "../lib/tables/columns.ts";
import type { Circle } from "./circle.ts";
import { NO_DEVICE } from "./leaf-rows.ts";
import type { PositionNode } from "./node.ts";
import { orderStatistic, rangeOf } from "./order-statistic.ts";
import { NO_POSITIONS, type Positions } from "./positions.ts";
import type { PositionRing } from "./ring.ts";
import type { RingLeaves } from "./ring-leaves.ts";
import { POINT, ROW_BITS, ROW_MASK } from "./row-pool.ts";
import { swapMax } from "./squared-chord.ts";

/** At most this many entries are sorted without narrowing further. */
const FEW_ROWS = 4096;
const BINS = 4096;
const ENTRIES_INITIAL = 1024;

/**
 * Selects the rows of a page when many positions, perhaps all, are about as far from the center as those of the page.
 * It fills a ring with the rows of the page and few others without sorting the rest: it narrows by chords first, then
 * by the distances at which the page begins and ends. Among devices at one of these distances it marks the matching
 * ones and walks the app's devices in order. An entry is a row, or a node whose positions are all at one point; the
 * entry's weight is the number of its matches.
 */
export class Crowd {
  readonly #circle: Circle;
  readonly #ring: PositionRing;
  readonly #leaves: RingLeaves;
  #positions = NO_POSITIONS;
  #isInOrder = true;
  #count = 0;
  #chords = new Float64Array(ENTRIES_INITIAL);
  /** The row of each entry, as the ring encodes it, or the complement (~) of a node's number. */
  #rows = new Int32Array(ENTRIES_INITIAL);
  #weights = new Uint32Array(ENTRIES_INITIAL);
  /** Distances by haversines. */
  #meters = new Float64Array(0);
  /** By device number: 1 for the devices that a tied part of the page is taken from, else 0. */
  #marks = new Uint8Array(0);

  constructor(circle: Circle, ring: PositionRing, leaves: RingLeaves) {
    this.#circle = circle;
    this.#ring = ring;
    this.#leaves = leaves;
  }

  /**
   * Puts the matches of the ring's leaves that lie between two ranks into the ring, and few before and behind them.
   * Returns how many matches come before those in the ring; null if that needs the order of devices, which is not
   * ready.
   */
  select(ranks: { readonly first: number; readonly end: number }, positions: Positions): number | null {
    const { count } = this.#leaves;
    this.#positions = positions;
    this.#isInOrder = true;
    this.#count = 0;
    for (let node = 0; node < count; node++) this.#collect(node);
    const before = this.#narrow(ranks.first, ranks.end);
    this.#measure();
    const passed = this.#selectByMeters(ranks.first - before, ranks.end - before);
    return this.#isInOrder ? before + passed : null;
  }

  #collect(number: number): void {
    const node = this.#leaves.nodes[number]!;
    if (node.isOnePoint(this.#positions.byDevice)) {
      this.#reserve(1);
      this.#collectNode(number);
    } else {
      this.#reserve(node.rowCount);
      this.#collectRows(number);
    }
  }

  #collectNode(number: number): void {
    const node = this.#leaves.nodes[number]!;
    const leaf = node.someLeaf;
    const { start, edge } = this.#leaves;
    const chord = this.#circle.chordTo(leaf, leaf.newestRow);
    if (chord <= start || chord > edge || !this.#circle.isInside(leaf, leaf.newestRow)) return;
    const weight = this.#circle.countFresh(node);
    if (weight === 0) return;
    const entry = this.#count++;
    this.#chords[entry] = chord;
    this.#rows[entry] = ~number;
    this.#weights[entry] = weight;
  }

  #collectRows(leafNumber: number): void {
    const leaf = this.#leaves.nodes[leafNumber]!;
    const { x, y, z, accuracyMax, innerEdge } = this.#circle;
    const { start, edge } = this.#leaves;
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
      // Written in any case, and overwritten if the row doesn't match: a branch would be mispredicted.
      chords[entries] = chord;
      rows[entries] = (leafNumber << ROW_BITS) + row;
      entries +=
        Number(chord > start) & Number(chord <= edge) & Number(accuracies[leaf.start + row]! <= accuracyMax);
    }
    this.#weights.fill(1, first, entries);
    this.#count = entries;
    if (edge > innerEdge) this.#sift(first, leaf);
  }

  /** Drops rows beyond the circle, of the entries from `first` on. */
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
    this.#chords = grown(this.#chords, needed);
    this.#rows = grown(this.#rows, needed);
    this.#weights = grown(this.#weights, needed);
  }

  /** Drops entries whose chords show that they are not on the page, as long as that removes at least half of them. */
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
    // An entry so close to the edge of a bin may be beyond it by its distance.
    return this.#keepBetween(least + firstBin / scale - tieMax, least + endBin / scale + tieMax);
  }

  /** Keeps the entries between two chords. Returns how many matches were nearer. */
  #keepBetween(nearest: number, farthest: number): number {
    const chords = this.#chords;
    const rows = this.#rows;
    const weights = this.#weights;
    const count = this.#count;
    let before = 0;
    let next = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const weight = weights[entry]!;
      before += Number(chord < nearest) * weight;
      chords[next] = chord;
      rows[next] = rows[entry]!;
      weights[next] = weight;
      next += Number(chord >= nearest) & Number(chord <= farthest);
    }
    this.#count = next;
    return before;
  }

  #measure(): void {
    const { byDevice } = this.#positions;
    const { center } = this.#circle;
    if (this.#meters.length < this.#count) this.#meters = new Float64Array(this.#chords.length);
    let lastLatitude = Number.NaN;
    let lastLongitude = Number.NaN;
    let meters = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const device = this.#deviceOf(this.#rows[entry]!);
      // Thousands may be at one point, or on one parallel around a pole.
      const isAsFar =
        byDevice.latitudeOf(device) === lastLatitude &&
        (center.ignoresLongitudeAt(lastLatitude) || byDevice.longitudeOf(device) === lastLongitude);
      if (!isAsFar) {
        lastLatitude = byDevice.latitudeOf(device);
        lastLongitude = byDevice.longitudeOf(device);
        meters = center.metersTo(byDevice, device);
      }
      this.#meters[entry] = meters;
    }
  }

  #deviceOf(row: number): number {
    if (row < 0) return this.#leaves.nodes[~row]!.someDevice;
    return this.#leaves.nodes[row >>> ROW_BITS]!.deviceAt(row & ROW_MASK);
  }

  /** Puts the rows between two ranks into the ring. Returns how many matches come before them. */
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

  /**
   * Puts the rows at one distance that lie between two ranks into the ring. Returns how many of that distance come
   * before.
   */
  #selectTied(meters: number, first: number, end: number): number {
    let tied = 0;
    for (let entry = 0; entry < this.#count; entry++)
      if (this.#meters[entry] === meters) tied += this.#weights[entry]!;
    const isMarking = tied > FEW_ROWS;
    if (isMarking) {
      this.#isInOrder &&= this.#positions.deviceOrder.isReady();
      if (!this.#isInOrder) return 0;
      this.#clearMarks();
    }
    for (let entry = 0; entry < this.#count; entry++) {
      if (this.#meters[entry] !== meters) continue;
      if (isMarking) this.#markRows(this.#rows[entry]!);
      else this.#addRows(this.#rows[entry]!);
    }
    if (isMarking) this.#addMarked(first, end);
    return isMarking ? first : 0;
  }

  #clearMarks(): void {
    const { numbersEnd } = this.#positions.byDevice;
    if (this.#marks.length < numbersEnd) this.#marks = new Uint8Array(2 * numbersEnd);
    else this.#marks.fill(0, 0, numbersEnd);
  }

  #markRows(row: number): void {
    if (row >= 0) this.#marks[this.#deviceOf(row)] = 1;
    else this.#markMatches(this.#leaves.nodes[~row]!);
  }

  /** Marks the devices of a node at one point that are neither too old nor too inaccurate. */
  #markMatches(node: PositionNode): void {
    for (let child = node.firstChild; child !== null; child = child.nextSibling) this.#markMatches(child);
    if (node.firstChild !== null) return;
    const marks = this.#marks;
    const { accuracies, points, start, rowCount } = node;
    const { accuracyMax } = this.#circle;
    for (let row = start + this.#circle.firstFresh(node); row < start + rowCount; row++) {
      const device = points[row * POINT.width + POINT.device]!;
      if (device !== NO_DEVICE) marks[device] = Number(accuracies[row]! <= accuracyMax);
    }
  }

  /** Puts the marked devices between two ranks into the ring. */
  #addMarked(first: number, end: number): void {
    const marks = this.#marks;
    const next = this.#positions.deviceOrder.reader();
    let passed = 0;
    for (let block = next(); block !== null && passed < end; block = next()) {
      const { numbers } = block;
      let rank = passed;
      for (let index = 0; index < numbers.length; index++) passed += marks[numbers[index]!]!;
      if (passed <= first) continue;
      for (const device of numbers) {
        if (marks[device] === 0) continue;
        if (rank >= first && rank < end) this.#addDevice(device);
        rank++;
      }
    }
  }

  #addDevice(device: number): void {
    this.#add(this.#positions.leafOf(device), this.#positions.rowOf(device));
  }

  #addRows(row: number): void {
    if (row >= 0) this.#add(this.#leaves.nodes[row >>> ROW_BITS]!, row & ROW_MASK);
    else this.#addMatches(this.#leaves.nodes[~row]!);
  }

  #addMatches(node: PositionNode): void {
    for (let child = node.firstChild; child !== null; child = child.nextSibling) this.#addMatches(child);
    if (node.firstChild !== null) return;
    for (let row = this.#circle.firstFresh(node); row < node.rowCount; row++)
      if (node.accuracies[node.start + row]! <= this.#circle.accuracyMax) this.#add(node, row);
  }

  #add(leaf: PositionNode, row: number): void {
    const { nodes, count } = this.#leaves;
    if (nodes[count - 1] !== leaf) this.#leaves.add(leaf);
    const ring = this.#ring;
    ring.reserve(1);
    ring.chords[ring.count] = this.#circle.chordTo(leaf, row);
    ring.rows[ring.count++] = ((this.#leaves.count - 1) << ROW_BITS) + row;
  }
}
