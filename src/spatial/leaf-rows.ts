import { assert } from "../lib/assert.ts";
import {
  createColumns,
  POINT,
  ROW_MASK,
  type RowAddresses,
  type RowBlock,
  type RowPool,
} from "./row-pool.ts";

/** The device of a hole, a row that was removed. */
export const NO_DEVICE = -1;
/** A hole is far from the sphere and exceeds every limit of accuracy, so no search matches it. */
const HOLE_X = 10;
const HOLE_ACCURACY = Number.POSITIVE_INFINITY;
/** The largest share of holes among the rows from the first hole on. A hole costs a search as much as another row. */
const HOLES_SHARE = 1 / 8;
/** A fuller block is replaced by a larger one: with little free space, holes would be closed again and again. */
const FILL_MAX = 7 / 8;

export const UNKNOWN = -1;

/** Rows that a search steps over from its guess before it bisects. */
const STEPS_MAX = 8;

/**
 * The rows of a leaf, in order of time. A device that moves mostly becomes the newest: its row goes to the end and
 * leaves a hole. Holes keep their times, so the order holds, and many are closed at once: closing one would move all
 * rows behind.
 */
export class LeafRows {
  /** The first row in the columns. `rowCount` includes holes. */
  start: number;
  rowCount = 0;
  /** The first row since the time that was searched last; `UNKNOWN` after a row before it changed. */
  protected first = UNKNOWN;
  points: Float64Array;
  times: Float64Array;
  accuracies: Float64Array;
  #holes: Uint16Array;
  #holeCount = 0;
  /** No row before this one is a hole. */
  #firstHole = 0;
  /** The number of the leaf among all cells. */
  readonly number: number;
  #block: RowBlock;

  constructor(number: number, block: RowBlock) {
    this.number = number;
    this.#block = block;
    this.start = block.start;
    const { times, accuracies, points, holes } = block.columns;
    this.points = points;
    this.times = times;
    this.accuracies = accuracies;
    this.#holes = holes;
  }

  /** How many rows from `first` on are not holes. */
  countFrom(first: number): number {
    let count = this.rowCount - first;
    if (this.#holeCount === 0 || first <= this.#firstHole) return count - this.#holeCount;
    const holes = this.#holes;
    const start = this.start >>> 1;
    for (let hole = start; hole < start + this.#holeCount; hole++) count -= Number(holes[hole]! >= first);
    return count;
  }

  /** Makes room for at least `rows` rows. */
  reserve(rows: number, pool: RowPool): void {
    if (rows > this.#block.capacity) this.#moveTo(pool.take(rows), pool);
  }

  /** Inserts a row by its time. */
  insertRow(
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
    addresses: RowAddresses,
    pool: RowPool,
  ): void {
    if (this.rowCount === this.#block.capacity) this.#makeRoom(addresses, pool);
    const { times, start, rowCount } = this;
    let row = rowCount;
    while (row > 0 && times[start + row - 1]! > timeMs) row--; // A new row is mostly the newest.
    if (row < rowCount) this.#openRow(row);
    this.rowCount++;
    this.#writeRow(row, timeMs, accuracy, x, y, z, device);
    addresses.set(device, this.number, row);
  }

  /** Turns a row into a hole. */
  removeRow(row: number, addresses: RowAddresses): void {
    const at = this.start + row;
    this.accuracies[at] = HOLE_ACCURACY;
    this.points[at * POINT.width + POINT.x] = HOLE_X;
    this.points[at * POINT.width + POINT.device] = NO_DEVICE;
    if (this.#holeCount === 0 || row < this.#firstHole) this.#firstHole = row;
    this.#holes[(this.start >>> 1) + this.#holeCount++] = row;
    if (this.#holeCount > HOLES_SHARE * (this.rowCount - this.#firstHole)) this.#closeUp(addresses);
  }

  /** Sets the values of a device's row, and moves it if its time requires that. */
  replaceRow(
    row: number,
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
    addresses: RowAddresses,
    pool: RowPool,
  ): void {
    if (this.#fits(row, timeMs)) {
      this.#writeRow(row, timeMs, accuracy, x, y, z, device);
    } else {
      this.removeRow(row, addresses);
      this.insertRow(timeMs, accuracy, x, y, z, device, addresses, pool);
    }
  }

  /** The row of a device, at or behind the row of its address. */
  rowOf(device: number, address: number): number {
    let row = address & ROW_MASK;
    while (row < this.rowCount && this.deviceAt(row) !== device) row++;
    assert(row < this.rowCount, "a device has a row in the leaf of its address");
    return row;
  }

  timeAt(row: number): number {
    return this.times[this.start + row]!;
  }

  accuracyAt(row: number): number {
    return this.accuracies[this.start + row]!;
  }

  /** `NO_DEVICE` for a hole. */
  deviceAt(row: number): number {
    return this.points[(this.start + row) * POINT.width + POINT.device]!;
  }

  /** The last row that is not a hole. There must be one. */
  get newestRow(): number {
    let row = this.rowCount - 1;
    while (this.deviceAt(row) === NO_DEVICE) row--;
    return row;
  }

  /**
   * The first row that is not older than this. Guesses as if times were spread evenly, steps on from there, and bisects
   * if that takes long.
   */
  firstSince(timeMs: number): number {
    const { times, start, rowCount } = this;
    if (rowCount === 0) return 0;
    const oldest = times[start]!;
    const newest = times[start + rowCount - 1]!;
    if (timeMs <= oldest) return 0;
    if (timeMs > newest) return rowCount;
    let row = Math.ceil(((timeMs - oldest) / (newest - oldest)) * (rowCount - 1));
    let low = 0;
    let high = rowCount - 1; // The newest row is not older, as checked above.
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

  /** Whether it has `count` rows besides holes, in order of time, and the block has room for them. */
  hasInOrder(count: number): boolean {
    const { times, start, rowCount } = this;
    for (let row = start + 1; row < start + rowCount; row++) if (times[row - 1]! > times[row]!) return false;
    return rowCount - this.#holeCount === count && rowCount <= this.#block.capacity;
  }

  /** Returns the block to the pool, which may give it to another leaf. */
  release(pool: RowPool): void {
    pool.giveBack(this.#block);
    this.#setBlock(NO_ROWS);
    this.#forgetRows();
  }

  /** Starts over without rows, in a new block. */
  protected clearRows(pool: RowPool): void {
    this.#setBlock(pool.take(0));
    this.#forgetRows();
  }

  #forgetRows(): void {
    this.rowCount = 0;
    this.#holeCount = 0;
    this.first = UNKNOWN;
  }

  #makeRoom(addresses: RowAddresses, pool: RowPool): void {
    if (this.#holeCount > 0) this.#closeUp(addresses);
    const { capacity } = this.#block;
    if (this.rowCount > FILL_MAX * capacity) this.#moveTo(pool.take(capacity + 1), pool);
  }

  /** Closes all holes. */
  #closeUp(addresses: RowAddresses): void {
    const { times, accuracies, points, number, start, rowCount } = this;
    let to = this.#firstHole;
    if (to <= this.first) this.first = UNKNOWN;
    for (let row = to; row < rowCount; row++) {
      const from = (start + row) * POINT.width;
      const device = points[from + POINT.device]!;
      if (device === NO_DEVICE) continue;
      const at = (start + to) * POINT.width;
      times[start + to] = times[start + row]!;
      accuracies[start + to] = accuracies[start + row]!;
      points[at + POINT.x] = points[from + POINT.x]!;
      points[at + POINT.y] = points[from + POINT.y]!;
      points[at + POINT.z] = points[from + POINT.z]!;
      points[at + POINT.device] = device;
      addresses.set(device, number, to);
      to++;
    }
    this.rowCount = to;
    this.#holeCount = 0;
  }

  #openRow(row: number): void {
    const { times, accuracies, points, start } = this;
    const [from, end] = [start + row, start + this.rowCount];
    times.copyWithin(from + 1, from, end);
    accuracies.copyWithin(from + 1, from, end);
    points.copyWithin((from + 1) * POINT.width, from * POINT.width, end * POINT.width);
    const holes = this.#holes;
    const firstHole = start >>> 1;
    for (let hole = firstHole; hole < firstHole + this.#holeCount; hole++)
      holes[hole] = holes[hole]! + Number(holes[hole]! >= row);
  }

  /** Whether a row with this time may replace the one at `row` without breaking the order. */
  #fits(row: number, timeMs: number): boolean {
    const { times } = this;
    const at = this.start + row;
    return (row === 0 || times[at - 1]! <= timeMs) && (row === this.rowCount - 1 || timeMs <= times[at + 1]!);
  }

  #writeRow(
    row: number,
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
  ): void {
    const { points, start } = this;
    if (row <= this.first) this.first = UNKNOWN;
    this.times[start + row] = timeMs;
    this.accuracies[start + row] = accuracy;
    const at = (start + row) * POINT.width;
    points[at + POINT.x] = x;
    points[at + POINT.y] = y;
    points[at + POINT.z] = z;
    points[at + POINT.device] = device;
  }

  #moveTo(block: RowBlock, pool: RowPool): void {
    const { times, accuracies, points, start } = this;
    const end = start + this.rowCount;
    const { columns } = block;
    columns.times.set(times.subarray(start, end), block.start);
    columns.accuracies.set(accuracies.subarray(start, end), block.start);
    columns.points.set(points.subarray(start * POINT.width, end * POINT.width), block.start * POINT.width);
    pool.giveBack(this.#block);
    this.#setBlock(block);
  }

  #setBlock(block: RowBlock): void {
    this.#block = block;
    this.start = block.start;
    const { times, accuracies, points, holes } = block.columns;
    this.points = points;
    this.times = times;
    this.accuracies = accuracies;
    this.#holes = holes;
  }
}

const NO_ROWS: RowBlock = { columns: createColumns(0), start: 0, capacity: 0 };
