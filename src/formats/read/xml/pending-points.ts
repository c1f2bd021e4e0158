/** The columns of a point. */
export const TIME = 0;
export const LONGITUDE = 1;
export const LATITUDE = 2;
export const ALTITUDE = 3;
export const SPEED = 4;
export const BEARING = 5;
export const ACCURACY = 6;
/** The point's line in the file. */
export const LINE = 7;
/** The index of the reason to skip it, if any. */
export const REASON = 8;
const COLUMNS = 9;

/** Encodes a value: NaN for null, infinity for NaN. */
export function encodeValue(value: number | null): number {
  if (value === null) return Number.NaN;
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}

export function decodeValue(code: number): number | null {
  if (Number.isNaN(code)) return null;
  return code === Number.POSITIVE_INFINITY ? Number.NaN : code;
}

const BLOCK_BITS = 12;
const BLOCK_POINTS = 1 << BLOCK_BITS;

/**
 * Points whose parts arrive separately, such as all times before all positions. They are numbered from 0 in file order,
 * and removed from the oldest on. Values are encoded by `encodeValue`.
 */
export class PendingPoints {
  readonly #blocks: Float64Array[] = [];
  /** The number of removed blocks. */
  #blocksRemoved = 0;
  #first = 0;
  #end = 0;

  /** The number of the oldest point. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next point gets. */
  get end(): number {
    return this.#end;
  }

  /** Returns the new point's number. */
  add(line: number): number {
    const number = this.#end++;
    if (this.#blockOf(number) === undefined)
      this.#blocks.push(new Float64Array(BLOCK_POINTS * COLUMNS).fill(Number.NaN));
    this.set(number, LINE, line);
    return number;
  }

  get(number: number, column: number): number {
    return this.#blockOf(number)![slotOf(number, column)]!;
  }

  set(number: number, column: number, value: number): void {
    this.#blockOf(number)![slotOf(number, column)] = value;
  }

  /** Removes the oldest point. */
  removeFirst(): void {
    this.#first++;
    if (this.#first % BLOCK_POINTS !== 0) return;
    this.#blocks.shift();
    this.#blocksRemoved++;
  }

  /** Drops all points from this number on. */
  dropFrom(number: number): void {
    this.#end = number;
  }

  #blockOf(number: number): Float64Array | undefined {
    return this.#blocks[(number >>> BLOCK_BITS) - this.#blocksRemoved];
  }
}

function slotOf(number: number, column: number): number {
  return (number & (BLOCK_POINTS - 1)) * COLUMNS + column;
}
