import { CELL_BITS_MAX, geohashBox } from "../geo/geohash.ts";
import { assert } from "../lib/assert.ts";
import { type Ball, ballAround } from "./ball.ts";
import { NO_CHILDREN, type PositionCells, SIBLINGS } from "./cells.ts";
import type { DevicePositions } from "./center.ts";
import { POINT, type RowBlock, type RowPool } from "./rows.ts";

/** A node of the tree of cells. */

/** A position without an accuracy passes every bound. */
export const NO_ACCURACY = -1;

/** A row of a leaf has a number of so many bits. */
export const ROW_BITS = 9;
const LEAF_ROWS_MAX = 2 ** ROW_BITS;
export const ROW_MASK = LEAF_ROWS_MAX - 1;
/** A node of fewer rows becomes one leaf again; well below half, so that it does not go to and fro. */
const MERGE_ROWS_MAX = LEAF_ROWS_MAX / 4;
/** Below the finest cells, devices are told apart by their numbers, which have 32 bits. */
const BITS_MAX = CELL_BITS_MAX + 32;

/** Rows that are looked at one by one before halving, once a guess is near. */
const STEPS_MAX = 8;

/**
 * A geohash cell with the positions in it, in order of time, or with up to four cells two bits finer that hold them.
 * It remembers how many were fresh at the last count, and for which queries that number still holds: those whose
 * cutoff of age lies between the same two positions, under the same bound of accuracy.
 *
 * What a search asks for first comes first: objects lie in memory as they are declared.
 */
export class PositionNode implements Ball {
  /** A ball around the cell: a point of the unit sphere, and the longest chord from there. */
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
  /** Positions in it, fresh or not. */
  count = 0;
  /** Null in a leaf. */
  firstChild: PositionNode | null = null;
  nextSibling: PositionNode | null = null;
  #fresh = 0;
  // No position is between the two; none remembered where the first is not below the second.
  #staleMs = Number.POSITIVE_INFINITY;
  #freshMs = Number.NEGATIVE_INFINITY;
  #accuracyMax = 0;
  /** Null until somebody looks, and once a row has changed. */
  #isOnePoint: boolean | null = null;
  /** Of a leaf: where its rows are. */
  start: number;
  times: Float64Array;
  accuracies: Float64Array;
  points: Float64Array;
  readonly parent: PositionNode | null;
  /** Where it is among all cells. */
  readonly number: number;
  readonly bits: number;
  /** Numbers of the finest cells in it: from the first to before the end. */
  readonly firstCell: number;
  readonly endCell: number;
  #block: RowBlock;

  constructor(parent: PositionNode | null, cell: number, bits: number, number: number, block: RowBlock) {
    this.parent = parent;
    this.number = number;
    this.bits = bits;
    const cellBits = Math.min(bits, CELL_BITS_MAX);
    const span = 2 ** (CELL_BITS_MAX - cellBits);
    this.firstCell = cell * span;
    this.endCell = this.firstCell + span;
    this.#block = block;
    this.start = block.start;
    this.times = block.times;
    this.accuracies = block.accuracies;
    this.points = block.points;

    const { x, y, z, radius } = ballAround(geohashBox(cell, cellBits));
    this.x = x;
    this.y = y;
    this.z = z;
    this.radius = radius;
  }

  /** Whether the cell is this one's or within it. */
  holds(cell: number): boolean {
    return cell >= this.firstCell && cell < this.endCell;
  }

  /** Its part of the sphere of radius 1. */
  get area(): number {
    return (
      2 *
      Math.PI ** 2 *
      Math.sqrt(1 - this.z * this.z) *
      ((this.endCell - this.firstCell) / 2 ** CELL_BITS_MAX)
    );
  }

  /** How many of its positions are fresh and accurate enough. */
  countFresh(oldestMs: number, accuracyMax: number): number {
    const isKnown =
      this.#staleMs < oldestMs && oldestMs <= this.#freshMs && this.#accuracyMax === accuracyMax;
    if (isKnown) return this.#fresh;
    this.#accuracyMax = accuracyMax;
    if (this.firstChild === null) this.#countRows(oldestMs, accuracyMax);
    else this.#countChildren(oldestMs, accuracyMax);
    return this.#fresh;
  }

  #countRows(oldestMs: number, accuracyMax: number): void {
    const { accuracies, start } = this;
    const first = this.#boundTimes(oldestMs);
    if (accuracyMax === Number.MAX_VALUE) {
      this.#fresh = this.count - first;
      return;
    }
    const end = start + this.count;
    let fresh = 0;
    for (let row = start + first; row < end; row++) fresh += Number(accuracies[row]! <= accuracyMax);
    this.#fresh = fresh;
  }

  /** Remembers between which times the cutoff is; returns the first row after it. */
  #boundTimes(oldestMs: number): number {
    const { times, start, count } = this;
    const first = this.#firstSince(oldestMs);
    const at = start + first;
    this.#staleMs = first === 0 ? Number.NEGATIVE_INFINITY : times[at - 1]!;
    this.#freshMs = first === count ? Number.POSITIVE_INFINITY : times[at]!;
    return first;
  }

  #countChildren(oldestMs: number, accuracyMax: number): void {
    let fresh = 0;
    let count = 0;
    let staleMs = Number.NEGATIVE_INFINITY;
    let freshMs = Number.POSITIVE_INFINITY;
    for (let child = this.firstChild; child !== null; child = child.nextSibling) {
      fresh += child.countFresh(oldestMs, accuracyMax);
      count += child.count;
      if (child.#staleMs > staleMs) staleMs = child.#staleMs;
      if (child.#freshMs < freshMs) freshMs = child.#freshMs;
    }
    assert(count === this.count, "a node counts the positions of its children");
    this.#fresh = fresh;
    this.#staleMs = staleMs;
    this.#freshMs = freshMs;
  }

  /** Of a leaf: the first row that is not older than this. */
  firstFresh(oldestMs: number): number {
    const isKnown =
      this.#staleMs < oldestMs && oldestMs <= this.#freshMs && this.#accuracyMax === Number.MAX_VALUE;
    if (isKnown) return this.count - this.#fresh;
    return this.#firstSince(oldestMs);
  }

  /** Guesses as if times were spread evenly, goes on from there step by step, and by halves if that takes long. */
  #firstSince(timeMs: number): number {
    const { times, start, count } = this;
    if (count === 0) return 0;
    const oldest = times[start]!;
    const newest = times[start + count - 1]!;
    if (timeMs <= oldest) return 0;
    if (timeMs > newest) return count;
    let row = Math.ceil(((timeMs - oldest) / (newest - oldest)) * (count - 1));
    let low = 0;
    let high = count - 1; // The newest one is fresh.
    let steps = 0;
    if (times[start + row]! < timeMs) {
      for (; steps < STEPS_MAX; steps++) if (times[start + ++row]! >= timeMs) return row;
      low = row + 1;
    } else {
      for (; steps < STEPS_MAX; steps++) if (times[start + --row]! < timeMs) return row + 1;
      high = row;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[start + middle]! < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** One position more in it, here or in a finer cell: what is remembered stays true. */
  noteAdded(timeMs: number, accuracy: number): void {
    this.count++;
    if (this.#staleMs >= this.#freshMs) return;
    if (timeMs > this.#staleMs && timeMs < this.#freshMs) this.#freshMs = timeMs;
    if (timeMs >= this.#freshMs && accuracy <= this.#accuracyMax) this.#fresh++;
  }

  noteRemoved(timeMs: number, accuracy: number): void {
    this.count--;
    if (this.#staleMs < this.#freshMs && timeMs >= this.#freshMs && accuracy <= this.#accuracyMax)
      this.#fresh--;
  }

  /** Inserts a row by time. The caller has counted it. */
  insertRow(
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
    pool: RowPool,
  ): void {
    const last = this.count - 1;
    if (last >= this.#block.capacity) this.#moveTo(pool.take(this.count), last, pool);
    const { times, start } = this;
    let row = last;
    while (row > 0 && times[start + row - 1]! > timeMs) row--; // Newest ones come last, mostly.
    if (row < last) this.#shift(row, last, row + 1);
    this.#write(row, timeMs, accuracy, x, y, z, device);
  }

  /** Takes a row out. The caller counts it off afterwards. */
  removeRow(row: number): void {
    this.#shift(row + 1, this.count, row);
    this.#isOnePoint = null;
  }

  /** Gives a device's row its new values, and moves it to where it belongs by time. */
  replaceRow(
    row: number,
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
  ): void {
    const { times, start, count } = this;
    let to = count - 1;
    while (to > row && times[start + to]! > timeMs) to--;
    if (to > row) this.#shift(row + 1, to + 1, row);
    else {
      while (to > 0 && times[start + to - 1]! > timeMs) to--;
      if (to < row) this.#shift(to, row, to + 1);
    }
    this.#write(to, timeMs, accuracy, x, y, z, device);
  }

  /** The row of a device whose time is known. */
  rowOf(device: number, timeMs: number): number {
    const { points, start, count } = this;
    let row = this.#firstSince(timeMs);
    while (row < count && points[(start + row) * POINT.width + POINT.device] !== device) row++;
    assert(row < count, "a device has a row of its time in the leaf that it is said to be in");
    return row;
  }

  accuracyAt(row: number): number {
    return this.accuracies[this.start + row]!;
  }

  deviceAt(row: number): number {
    return this.points[(this.start + row) * POINT.width + POINT.device]!;
  }

  /** Whether it is a leaf below the finest cells, with all its positions at exactly one point. */
  isOnePoint(positions: DevicePositions): boolean {
    if (this.bits <= CELL_BITS_MAX || this.count === 0) return false;
    this.#isOnePoint ??= this.#looksLikeOnePoint(positions);
    return this.#isOnePoint;
  }

  #looksLikeOnePoint({ latitude, longitude }: DevicePositions): boolean {
    const first = this.deviceAt(0);
    for (let row = 1; row < this.count; row++) {
      const device = this.deviceAt(row);
      if (latitude[device] !== latitude[first] || longitude[device] !== longitude[first]) return false;
    }
    return true;
  }

  #shift(from: number, end: number, to: number): void {
    const { times, accuracies, points, start } = this;
    times.copyWithin(start + to, start + from, start + end);
    accuracies.copyWithin(start + to, start + from, start + end);
    points.copyWithin((start + to) * POINT.width, (start + from) * POINT.width, (start + end) * POINT.width);
  }

  #write(
    row: number,
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
  ): void {
    const { points } = this;
    this.#isOnePoint = null;
    this.times[this.start + row] = timeMs;
    this.accuracies[this.start + row] = accuracy;
    const at = (this.start + row) * POINT.width;
    points[at + POINT.x] = x;
    points[at + POINT.y] = y;
    points[at + POINT.z] = z;
    points[at + POINT.device] = device;
  }

  #moveTo(block: RowBlock, rows: number, pool: RowPool): void {
    const { times, accuracies, points, start } = this;
    const end = start + rows;
    block.times.set(times.subarray(start, end), block.start);
    block.accuracies.set(accuracies.subarray(start, end), block.start);
    block.points.set(points.subarray(start * POINT.width, end * POINT.width), block.start * POINT.width);
    pool.giveBack(this.#block);
    this.#hold(block);
  }

  #hold(block: RowBlock): void {
    this.#block = block;
    this.start = block.start;
    this.times = block.times;
    this.accuracies = block.accuracies;
    this.points = block.points;
  }

  get isFull(): boolean {
    return this.count >= LEAF_ROWS_MAX && this.bits < BITS_MAX;
  }

  get isSparse(): boolean {
    return this.count < MERGE_ROWS_MAX;
  }

  /**
   * The finer cell that a device in a finest cell belongs to, made where there is none. Below the finest cells, devices
   * with numbers in a row stay together, as what is known of them by number lies together.
   */
  childFor(cell: number, device: number, cells: PositionCells<PositionNode>, pool: RowPool): PositionNode {
    const index =
      this.bits < CELL_BITS_MAX
        ? Math.floor((cell - this.firstCell) / ((this.endCell - this.firstCell) / SIBLINGS))
        : (device >>> (BITS_MAX - 2 - this.bits)) & (SIBLINGS - 1);
    if (this.firstChild === null) {
      const first = cells.takeSiblings(); // Before the columns are read, since they may grow.
      cells.children[this.number] = first;
    }
    const number = cells.children[this.number]! + index;
    return cells.nodes[number] ?? this.#addChild(cell, number, cells, pool);
  }

  #addChild(cell: number, number: number, cells: PositionCells<PositionNode>, pool: RowPool): PositionNode {
    const bits = this.bits + 2;
    const childCell = bits <= CELL_BITS_MAX ? Math.floor(cell / 2 ** (CELL_BITS_MAX - bits)) : cell;
    const child = new PositionNode(this, childCell, bits, number, pool.take(0));
    child.nextSibling = this.firstChild;
    this.firstChild = child;
    cells.put(number, child);
    return child;
  }

  /** What its children count. */
  get childCount(): number {
    let count = 0;
    for (let child = this.firstChild; child !== null; child = child.nextSibling) count += child.count;
    return count;
  }

  /** Whether what it counts is what its children, or the rows of its leaf, come to. Looks at all of its rows. */
  isConsistent(): boolean {
    if (this.firstChild === null) return this.count <= this.#block.capacity && this.#isInOrder();
    for (let child: PositionNode | null = this.firstChild; child !== null; child = child.nextSibling)
      if (!child.isConsistent()) return false;
    return this.childCount === this.count;
  }

  #isInOrder(): boolean {
    const { times, start, count } = this;
    for (let row = start + 1; row < start + count; row++) if (times[row - 1]! > times[row]!) return false;
    return true;
  }

  /** Gives its rows back to the pool, which another leaf may write over. */
  release(pool: RowPool): void {
    pool.giveBack(this.#block);
    this.#hold(NO_ROWS);
  }

  /** Becomes an empty leaf. */
  empty(cells: PositionCells<PositionNode>, pool: RowPool): void {
    this.dropChildren(cells);
    this.count = 0;
    this.#staleMs = Number.POSITIVE_INFINITY;
    this.#freshMs = Number.NEGATIVE_INFINITY;
    this.#hold(pool.take(0));
  }

  /** Takes all finer cells out; their rows are the caller's to move or release. */
  dropChildren(cells: PositionCells<PositionNode>): void {
    if (this.firstChild === null) return;
    for (let child: PositionNode | null = this.firstChild; child !== null; child = child.nextSibling)
      child.dropChildren(cells);
    this.firstChild = null;
    cells.giveBackSiblings(cells.children[this.number]!);
    cells.children[this.number] = NO_CHILDREN;
  }
}

const NOTHING = new Float64Array(0);
const NO_ROWS: RowBlock = { times: NOTHING, accuracies: NOTHING, points: NOTHING, start: 0, capacity: 0 };
