import { assert } from "../lib/assert.ts";
import {
  createColumns,
  type DevicePlaces,
  POINT,
  ROW_MASK,
  type RowBlock,
  type RowPool,
} from "./row-pool.ts";

/** The rows of a leaf of the tree of cells. */

/** Whose row a hole is. */
export const NO_DEVICE = -1;
/** A hole is far from the sphere, and passes no bound of accuracy. */
const HOLE_X = 10;
const HOLE_ACCURACY = Number.POSITIVE_INFINITY;
/** No more of the rows from the first hole on are holes: they cost a search as much as other rows do. */
const HOLES_SHARE = 1 / 8;
/** Fuller blocks are exchanged for larger ones: in so little room, holes would be closed up again and again. */
const FILL_MAX = 7 / 8;

export const UNKNOWN = -1;

/** Rows that are looked at one by one before halving, once a guess is near. */
const STEPS_MAX = 8;

/**
 * Rows in order of time. Who moves is newest, mostly: its row goes to the end and leaves a hole behind. Holes keep
 * their times, so that the order holds, and are closed up many at a time: memory takes long to bring all rows behind.
 */
export class LeafRows {
  /** Where its rows are, and how many, those that are holes among them. */
  start: number;
  rowCount = 0;
  /** The first row since the time that was bounded last, until rows before it change. */
  protected first = UNKNOWN;
  points: Float64Array;
  times: Float64Array;
  accuracies: Float64Array;
  #holes: Uint16Array;
  #holeCount = 0;
  /** No hole is before. */
  #firstHole = 0;
  /** Where the leaf is among all cells. */
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

  /** How many rows from one on are no holes. */
  countFrom(first: number): number {
    let count = this.rowCount - first;
    if (this.#holeCount === 0 || first <= this.#firstHole) return count - this.#holeCount;
    const holes = this.#holes;
    const start = this.start >>> 1;
    for (let hole = start; hole < start + this.#holeCount; hole++) count -= Number(holes[hole]! >= first);
    return count;
  }

  /** Makes room for so many rows. */
  reserve(rows: number, pool: RowPool): void {
    if (rows > this.#block.capacity) this.#moveTo(pool.take(rows), pool);
  }

  /** Inserts a row by time. */
  insertRow(
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
    places: DevicePlaces,
    pool: RowPool,
  ): void {
    if (this.rowCount === this.#block.capacity) this.#makeRoom(places, pool);
    const { times, start, rowCount } = this;
    let row = rowCount;
    while (row > 0 && times[start + row - 1]! > timeMs) row--; // Newest ones come last, mostly.
    if (row < rowCount) this.#openRow(row);
    this.rowCount++;
    this.#writeRow(row, timeMs, accuracy, x, y, z, device);
    places.set(device, this.number, row);
  }

  /** Takes a row out. */
  removeRow(row: number, places: DevicePlaces): void {
    const at = this.start + row;
    this.accuracies[at] = HOLE_ACCURACY;
    this.points[at * POINT.width + POINT.x] = HOLE_X;
    this.points[at * POINT.width + POINT.device] = NO_DEVICE;
    if (this.#holeCount === 0 || row < this.#firstHole) this.#firstHole = row;
    this.#holes[(this.start >>> 1) + this.#holeCount++] = row;
    if (this.#holeCount > HOLES_SHARE * (this.rowCount - this.#firstHole)) this.#closeUp(places);
  }

  /** Gives a device's row new values, and moves it to where it belongs by time. */
  replaceRow(
    row: number,
    timeMs: number,
    accuracy: number,
    x: number,
    y: number,
    z: number,
    device: number,
    places: DevicePlaces,
    pool: RowPool,
  ): void {
    if (this.#fits(row, timeMs)) {
      this.#writeRow(row, timeMs, accuracy, x, y, z, device);
    } else {
      this.removeRow(row, places);
      this.insertRow(timeMs, accuracy, x, y, z, device, places, pool);
    }
  }

  /** The row of a device whose place is known. */
  rowOf(device: number, place: number): number {
    let row = place & ROW_MASK;
    while (row < this.rowCount && this.deviceAt(row) !== device) row++;
    assert(row < this.rowCount, "a device has a row in the leaf that it is said to be in");
    return row;
  }

  timeAt(row: number): number {
    return this.times[this.start + row]!;
  }

  accuracyAt(row: number): number {
    return this.accuracies[this.start + row]!;
  }

  /** `NO_DEVICE` in a hole. */
  deviceAt(row: number): number {
    return this.points[(this.start + row) * POINT.width + POINT.device]!;
  }

  /** The last row that is no hole, where there is any. */
  get newestRow(): number {
    let row = this.rowCount - 1;
    while (this.deviceAt(row) === NO_DEVICE) row--;
    return row;
  }

  /**
   * The first row that is not older than this. Guesses as if times were spread evenly, goes on from there step by step,
   * and by halves if that takes long.
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
    let high = rowCount - 1; // The newest one is fresh.
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

  /** Whether it has so many rows, in order of time, and room for them. */
  hasInOrder(count: number): boolean {
    const { times, start, rowCount } = this;
    for (let row = start + 1; row < start + rowCount; row++) if (times[row - 1]! > times[row]!) return false;
    return rowCount - this.#holeCount === count && rowCount <= this.#block.capacity;
  }

  /** Gives its rows back to the pool, which another leaf may write over. */
  release(pool: RowPool): void {
    pool.giveBack(this.#block);
    this.#hold(NO_ROWS);
    this.#forgetRows();
  }

  /** Begins anew without any. */
  protected takeRows(pool: RowPool): void {
    this.#hold(pool.take(0));
    this.#forgetRows();
  }

  #forgetRows(): void {
    this.rowCount = 0;
    this.#holeCount = 0;
    this.first = UNKNOWN;
  }

  #makeRoom(places: DevicePlaces, pool: RowPool): void {
    if (this.#holeCount > 0) this.#closeUp(places);
    const { capacity } = this.#block;
    if (this.rowCount > FILL_MAX * capacity) this.#moveTo(pool.take(capacity + 1), pool);
  }

  /** Moves rows up to where holes are. */
  #closeUp(places: DevicePlaces): void {
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
      places.set(device, number, to);
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

  /** Whether a row of this time may stand where this one is. */
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
    this.#hold(block);
  }

  #hold(block: RowBlock): void {
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
