import { assert } from "../lib/assert.ts";
import { CELL_BITS_MAX, geohashBox } from "../model/geo/geohash.ts";
import { type Ball, ballAround, NO_CHILDREN, type PositionCells, SIBLINGS } from "./cells.ts";
import type { DevicePositions } from "./center.ts";
import { LeafRows, NO_DEVICE, UNKNOWN } from "./leaf-rows.ts";
import type { RowBlock, RowPool } from "./row-pool.ts";

/** A position without an accuracy is within every limit. */
export const NO_ACCURACY = -1;

/** A leaf with more positions is split. */
export const LEAF_POSITIONS_MAX = 512;
/** A node with fewer positions becomes a leaf again. Well below half, so that it does not flip back and forth. */
const MERGE_POSITIONS_MAX = LEAF_POSITIONS_MAX / 4;
/** Below the finest cells, the 32 bits of device numbers separate devices. */
const BITS_MAX = CELL_BITS_MAX + 32;

/**
 * A geohash cell: a leaf with its positions in order of time, or a node with up to four cells that are two bits finer.
 * It remembers how many positions were fresh at the last count, and for which queries that count is valid: those whose
 * oldest time lies between the same two positions, with the same limit of accuracy.
 * Fields that a search reads first are declared first, since that is their order in memory.
 */
export class PositionNode extends LeafRows implements Ball {
  #fresh = 0;
  // No position's time is between these two. Nothing is remembered if the first is not below the second.
  #staleMs = Number.POSITIVE_INFINITY;
  #freshMs = Number.NEGATIVE_INFINITY;
  #accuracyMax = 0;
  /** Null if it is not known: before the first call, and after a position changed. */
  #isOnePoint: boolean | null = null;
  /** Number of positions, fresh or not. */
  count = 0;
  readonly parent: PositionNode | null;
  /** Numbers of the finest cells within, from the first to before the end. */
  readonly firstCell: number;
  readonly endCell: number;
  /** Null for a leaf. */
  firstChild: PositionNode | null = null;
  nextSibling: PositionNode | null = null;
  /** A ball around the cell: its center, a point of the unit sphere, and the longest chord from there. */
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
  readonly bits: number;

  constructor(parent: PositionNode | null, cell: number, bits: number, number: number, block: RowBlock) {
    super(number, block);
    this.parent = parent;
    this.bits = bits;
    const cellBits = Math.min(bits, CELL_BITS_MAX);
    const span = 2 ** (CELL_BITS_MAX - cellBits);
    this.firstCell = cell * span;
    this.endCell = this.firstCell + span;

    const { x, y, z, radius } = ballAround(geohashBox(cell, cellBits));
    this.x = x;
    this.y = y;
    this.z = z;
    this.radius = radius;
  }

  holds(cell: number): boolean {
    return cell >= this.firstCell && cell < this.endCell;
  }

  /** The area of the cell on the unit sphere. */
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
      this.#fresh = this.countFrom(first);
      return;
    }
    const end = start + this.rowCount;
    let fresh = 0;
    for (let row = start + first; row < end; row++) fresh += Number(accuracies[row]! <= accuracyMax);
    this.#fresh = fresh;
  }

  /** Remembers the two times that the oldest time lies between. Returns the first row at or after it. */
  #boundTimes(oldestMs: number): number {
    const { times, start, rowCount } = this;
    const first = this.firstSince(oldestMs);
    this.first = first;
    const at = start + first;
    this.#staleMs = first === 0 ? Number.NEGATIVE_INFINITY : times[at - 1]!;
    this.#freshMs = first === rowCount ? Number.POSITIVE_INFINITY : times[at]!;
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

  /** The first row of a leaf that is not older than this. */
  firstFresh(oldestMs: number): number {
    if (this.#staleMs >= oldestMs || oldestMs > this.#freshMs) return this.firstSince(oldestMs);
    if (this.first === UNKNOWN) this.first = this.firstSince(oldestMs);
    return this.first;
  }

  /** Adjusts the counts for a position that was added, here or in a finer cell. */
  noteAdded(timeMs: number, accuracy: number): void {
    this.count++;
    this.#isOnePoint = null;
    if (this.#staleMs >= this.#freshMs) return;
    if (timeMs > this.#staleMs && timeMs < this.#freshMs) this.#freshMs = timeMs;
    if (timeMs >= this.#freshMs && accuracy <= this.#accuracyMax) this.#fresh++;
  }

  noteRemoved(timeMs: number, accuracy: number): void {
    this.count--;
    this.#isOnePoint = null;
    if (this.#staleMs < this.#freshMs && timeMs >= this.#freshMs && accuracy <= this.#accuracyMax)
      this.#fresh--;
  }

  /** Adjusts the counts for a position that was replaced. */
  noteReplaced(oldMs: number, oldAccuracy: number, timeMs: number, accuracy: number): void {
    this.#isOnePoint = null;
    if (this.#staleMs >= this.#freshMs) return;
    if (timeMs > this.#staleMs && timeMs < this.#freshMs) this.#freshMs = timeMs;
    const freshMs = this.#freshMs;
    const max = this.#accuracyMax;
    this.#fresh +=
      Number(timeMs >= freshMs && accuracy <= max) - Number(oldMs >= freshMs && oldAccuracy <= max);
  }

  /** Whether all its positions are exactly at one point. Always false above the finest cells, which are not checked. */
  isOnePoint(positions: DevicePositions): boolean {
    if (this.bits < CELL_BITS_MAX || this.count === 0) return false;
    this.#isOnePoint ??=
      this.firstChild === null ? this.#areRowsOnePoint(positions) : this.#areChildrenOnePoint(positions);
    return this.#isOnePoint;
  }

  #areRowsOnePoint(positions: DevicePositions): boolean {
    const { someDevice } = this;
    for (let row = 0; row < this.rowCount; row++) {
      const device = this.deviceAt(row);
      if (device !== NO_DEVICE && !isSamePoint(positions, device, someDevice)) return false;
    }
    return true;
  }

  #areChildrenOnePoint(positions: DevicePositions): boolean {
    const { someDevice } = this;
    for (let child = this.firstChild; child !== null; child = child.nextSibling) {
      if (child.count === 0) continue;
      if (!child.isOnePoint(positions) || !isSamePoint(positions, child.someDevice, someDevice)) return false;
    }
    return true;
  }

  /** A leaf with positions, of a node that has some. */
  get someLeaf(): PositionNode {
    let child = this.firstChild;
    if (child === null) return this;
    while (child.count === 0) child = child.nextSibling!;
    return child.someLeaf;
  }

  /** The device of one of the positions, of a node that has some. */
  get someDevice(): number {
    const { someLeaf } = this;
    return someLeaf.deviceAt(someLeaf.newestRow);
  }

  get isFull(): boolean {
    return this.count >= LEAF_POSITIONS_MAX && this.bits < BITS_MAX;
  }

  get isOverfull(): boolean {
    return this.count > LEAF_POSITIONS_MAX && this.bits < BITS_MAX;
  }

  get isSparse(): boolean {
    return this.count < MERGE_POSITIONS_MAX;
  }

  /**
   * The finer cell for a device in a finest cell, created if needed. Below the finest cells, devices with nearby
   * numbers stay together, since their columns lie together.
   */
  childFor(cell: number, device: number, cells: PositionCells<PositionNode>, pool: RowPool): PositionNode {
    const index = this.childIndex(cell, device);
    if (this.firstChild === null) {
      const first = cells.takeSiblings(); // Before `cells.children` is read, which may be replaced by a larger array.
      cells.children[this.number] = first;
    }
    const number = cells.children[this.number]! + index;
    return cells.nodes[number] ?? this.#addChild(cell, number, cells, pool);
  }

  /** Which of the four finer cells that is. */
  childIndex(cell: number, device: number): number {
    return this.bits < CELL_BITS_MAX
      ? Math.floor((cell - this.firstCell) / ((this.endCell - this.firstCell) / SIBLINGS))
      : (device >>> (BITS_MAX - 2 - this.bits)) & (SIBLINGS - 1);
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

  get childCount(): number {
    let count = 0;
    for (let child = this.firstChild; child !== null; child = child.nextSibling) count += child.count;
    return count;
  }

  /** Whether its counts agree with its children, or with the rows of its leaf. Reads all rows. */
  isConsistent(): boolean {
    if (this.firstChild === null) return this.hasInOrder(this.count);
    for (let child: PositionNode | null = this.firstChild; child !== null; child = child.nextSibling)
      if (!child.isConsistent()) return false;
    return this.childCount === this.count;
  }

  empty(cells: PositionCells<PositionNode>, pool: RowPool): void {
    this.dropChildren(cells);
    this.count = 0;
    this.#staleMs = Number.POSITIVE_INFINITY;
    this.#freshMs = Number.NEGATIVE_INFINITY;
    this.clearRows(pool);
  }

  /** Removes all finer cells. The caller moves or releases their rows. */
  dropChildren(cells: PositionCells<PositionNode>): void {
    if (this.firstChild === null) return;
    for (let child: PositionNode | null = this.firstChild; child !== null; child = child.nextSibling)
      child.dropChildren(cells);
    this.firstChild = null;
    cells.giveBackSiblings(cells.children[this.number]!);
    cells.children[this.number] = NO_CHILDREN;
  }
}

function isSamePoint(positions: DevicePositions, a: number, b: number): boolean {
  return (
    positions.latitudeOf(a) === positions.latitudeOf(b) &&
    positions.longitudeOf(a) === positions.longitudeOf(b)
  );
}
