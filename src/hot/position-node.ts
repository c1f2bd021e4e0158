import { RADIANS_PER_DEGREE } from "../geo/distance.ts";
import { CELL_BITS_MAX, geohashBox } from "../geo/geohash.ts";

/** What a query asks of the positions it counts, and where; chords are squared, on a sphere of radius 1. */
export interface CircleTest {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Center in radians. */
  readonly latitude: number;
  readonly longitude: number;
  readonly cosLatitude: number;
  readonly oldestMs: number;
  readonly accuracyMax: number;
}

/** Columns of a row. A position without an accuracy has `NO_ACCURACY`, which passes every bound. */
export const ROW = { time: 0, x: 1, y: 2, z: 3, accuracy: 4, device: 5, width: 6 } as const;
export const NO_ACCURACY = -1;

const LEAF_ROWS_MAX = 256;
const ROWS_INITIAL = 4;
/** A node of fewer rows becomes one leaf again; well below half, so that it does not go to and fro. */
const MERGE_ROWS_MAX = LEAF_ROWS_MAX / 4;

/** Outweighs the rounding of cells' edges and of the bounds below, some 1e-15. */
const MARGIN_RADIANS = 1e-9;

/**
 * A geohash cell with the positions in it, in order of time, or with four cells two bits finer that hold them. It
 * remembers how many were fresh at the last count, and for which questions that number still holds: those whose
 * cutoff of age lies between the same two positions, and whose bound of accuracy does.
 */
export class PositionNode {
  readonly parent: PositionNode | null;
  readonly bits: number;
  /** Numbers of the finest cells in it: from the first to before the end. */
  readonly firstCell: number;
  readonly endCell: number;
  /** Positions in it, fresh or not. */
  count = 0;
  /** Of a leaf; rows of `ROW.width` columns. */
  rows: Float64Array = NO_ROWS;
  /** Null in a leaf. */
  children: (PositionNode | null)[] | null = null;
  readonly #latitude: number;
  readonly #longitude: number;
  readonly #halfHeight: number;
  readonly #halfWidth: number;
  readonly #cosMin: number;
  readonly #cosMax: number;
  #fresh = 0;
  // No position is between the two; none remembered where the first is not below the second.
  #staleMs = Number.POSITIVE_INFINITY;
  #freshMs = Number.NEGATIVE_INFINITY;
  #accurate = 0;
  #vague = 0;

  constructor(parent: PositionNode | null, cell: number, bits: number) {
    this.parent = parent;
    this.bits = bits;
    const span = 2 ** (CELL_BITS_MAX - bits);
    this.firstCell = cell * span;
    this.endCell = this.firstCell + span;
    const box = geohashBox(cell, bits);
    const south = box.minLatitude * RADIANS_PER_DEGREE;
    const north = box.maxLatitude * RADIANS_PER_DEGREE;
    this.#latitude = (south + north) / 2;
    this.#longitude = ((box.minLongitude + box.maxLongitude) / 2) * RADIANS_PER_DEGREE;
    this.#halfHeight = (north - south) / 2 + MARGIN_RADIANS;
    this.#halfWidth = ((box.maxLongitude - box.minLongitude) / 2) * RADIANS_PER_DEGREE + MARGIN_RADIANS;
    const cosSouth = Math.cos(south);
    const cosNorth = Math.cos(north);
    this.#cosMin = Math.max(0, Math.min(cosSouth, cosNorth) - MARGIN_RADIANS);
    this.#cosMax = (south < 0 && north > 0 ? 1 : Math.max(cosSouth, cosNorth)) + MARGIN_RADIANS;
  }

  /** No position in the cell is nearer than this squared chord. */
  nearest({ latitude, longitude, cosLatitude }: CircleTest): number {
    const stepLat = Math.max(0, Math.abs(latitude - this.#latitude) - this.#halfHeight);
    const stepLon = Math.max(0, turnBetween(longitude, this.#longitude) - this.#halfWidth);
    return 4 * (halfSineSquared(stepLat) + cosLatitude * this.#cosMin * halfSineSquared(stepLon));
  }

  /** No position in the cell is farther than this squared chord. */
  farthest({ latitude, longitude, cosLatitude }: CircleTest): number {
    const stepLat = Math.min(Math.PI, Math.abs(latitude - this.#latitude) + this.#halfHeight);
    const stepLon = Math.min(Math.PI, turnBetween(longitude, this.#longitude) + this.#halfWidth);
    return 4 * (halfSineSquared(stepLat) + cosLatitude * this.#cosMax * halfSineSquared(stepLon));
  }

  /** How many of its positions are fresh and accurate enough. */
  countFresh(test: CircleTest): number {
    const { oldestMs, accuracyMax } = test;
    if (
      this.#staleMs < oldestMs &&
      oldestMs <= this.#freshMs &&
      this.#accurate <= accuracyMax &&
      accuracyMax < this.#vague
    )
      return this.#fresh;
    if (this.children === null) this.#countRows(oldestMs, accuracyMax);
    else this.#countChildren(test);
    return this.#fresh;
  }

  #countRows(oldestMs: number, accuracyMax: number): void {
    const { rows, count } = this;
    const first = this.firstFresh(oldestMs);
    this.#staleMs = first === 0 ? Number.NEGATIVE_INFINITY : rows[(first - 1) * ROW.width + ROW.time]!;
    this.#freshMs = first === count ? Number.POSITIVE_INFINITY : rows[first * ROW.width + ROW.time]!;
    this.#accurate = Number.NEGATIVE_INFINITY;
    this.#vague = Number.POSITIVE_INFINITY;
    if (accuracyMax === Number.MAX_VALUE) {
      this.#accurate = Number.MAX_VALUE; // Whatever comes is accurate enough.
      this.#fresh = count - first;
      return;
    }
    // All rows are looked at, so that it is known of stale ones too on which side of the bound they are.
    let fresh = 0;
    for (let row = 0; row < count; row++) {
      const accuracy = rows[row * ROW.width + ROW.accuracy]!;
      if (accuracy <= accuracyMax) {
        if (accuracy > this.#accurate) this.#accurate = accuracy;
        if (row >= first) fresh++;
      } else if (accuracy < this.#vague) this.#vague = accuracy;
    }
    this.#fresh = fresh;
  }

  #countChildren(test: CircleTest): void {
    let fresh = 0;
    let staleMs = Number.NEGATIVE_INFINITY;
    let freshMs = Number.POSITIVE_INFINITY;
    let accurate = Number.NEGATIVE_INFINITY;
    let vague = Number.POSITIVE_INFINITY;
    for (const child of this.children!) {
      if (child === null) continue;
      fresh += child.countFresh(test);
      if (child.#staleMs > staleMs) staleMs = child.#staleMs;
      if (child.#freshMs < freshMs) freshMs = child.#freshMs;
      if (child.#accurate > accurate) accurate = child.#accurate;
      if (child.#vague < vague) vague = child.#vague;
    }
    this.#fresh = fresh;
    this.#staleMs = staleMs;
    this.#freshMs = freshMs;
    this.#accurate = accurate;
    this.#vague = vague;
  }

  /** The first row that is not older than this. */
  firstFresh(oldestMs: number): number {
    const { rows } = this;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (rows[middle * ROW.width]! < oldestMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** One position more in it, here or in a finer cell: what is remembered stays true. */
  noteAdded(timeMs: number, accuracy: number): void {
    this.count++;
    if (this.#staleMs >= this.#freshMs) return;
    if (timeMs > this.#staleMs && timeMs < this.#freshMs) this.#freshMs = timeMs;
    if (accuracy > this.#accurate && accuracy < this.#vague) this.#accurate = accuracy;
    if (timeMs >= this.#freshMs && accuracy <= this.#accurate) this.#fresh++;
  }

  /** Remembers no count any more. */
  forget(): void {
    this.#staleMs = Number.POSITIVE_INFINITY;
    this.#freshMs = Number.NEGATIVE_INFINITY;
  }

  noteRemoved(timeMs: number, accuracy: number): void {
    this.count--;
    if (this.#staleMs < this.#freshMs && timeMs >= this.#freshMs && accuracy <= this.#accurate) this.#fresh--;
  }

  /** Puts a row in its place by time. The caller has counted it. */
  insertRow(timeMs: number, x: number, y: number, z: number, accuracy: number, device: number): void {
    const last = this.count - 1;
    const width = ROW.width;
    if (this.count * width > this.rows.length) {
      const grown = new Float64Array(Math.max(ROWS_INITIAL, Math.ceil(last * 1.5)) * width);
      grown.set(this.rows.subarray(0, last * width));
      this.rows = grown;
    }
    const { rows } = this;
    let at = last;
    while (at > 0 && rows[(at - 1) * width]! > timeMs) at--; // Newest ones come last, mostly.
    if (at < last) rows.copyWithin((at + 1) * width, at * width, last * width);
    const start = at * width;
    rows[start + ROW.time] = timeMs;
    rows[start + ROW.x] = x;
    rows[start + ROW.y] = y;
    rows[start + ROW.z] = z;
    rows[start + ROW.accuracy] = accuracy;
    rows[start + ROW.device] = device;
  }

  /** Takes a device's row out, whose time is known; returns its accuracy. The caller counts it off afterwards. */
  removeRow(device: number, timeMs: number): number {
    const { rows } = this;
    const width = ROW.width;
    let row = this.firstFresh(timeMs);
    while (rows[row * width + ROW.device] !== device) row++;
    const accuracy = rows[row * width + ROW.accuracy]!;
    rows.copyWithin(row * width, (row + 1) * width, this.count * width);
    return accuracy;
  }

  get isFull(): boolean {
    return this.count >= LEAF_ROWS_MAX && this.bits + 2 <= CELL_BITS_MAX;
  }

  get isSparse(): boolean {
    return this.count < MERGE_ROWS_MAX;
  }

  /** The finer cell that a finest cell lies in, made where there is none. */
  childFor(cell: number): PositionNode {
    const bits = this.bits + 2;
    const number = Math.floor(cell / 2 ** (CELL_BITS_MAX - bits));
    const index = number % 4;
    this.children![index] ??= new PositionNode(this, number, bits);
    return this.children![index]!;
  }
}

const NO_ROWS = new Float64Array(0);

/** The turn from one meridian to another the short way, in radians. */
function turnBetween(a: number, b: number): number {
  const turn = Math.abs(a - b);
  return turn > Math.PI ? 2 * Math.PI - turn : turn;
}

/** Half the versed sine. For small angles its series, whose next term is below 1e-17 of it. */
function halfSineSquared(angle: number): number {
  if (angle < 0.02) {
    const square = angle * angle;
    return (square / 4) * (1 - (square / 12) * (1 - (square / 30) * (1 - square / 56)));
  }
  const sine = Math.sin(angle / 2);
  return sine * sine;
}
