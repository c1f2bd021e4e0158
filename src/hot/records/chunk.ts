import { assert } from "../../lib/assert.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";

/**
 * Up to `CHUNK_ROWS_MAX` records of one device in time order, row after row in one buffer of 8-byte cells:
 *   | timestampMs | latitude | longitude | ... number fields in `mask` | profile u32, state u32 |  × capacity
 *
 * A row with time and position takes 32 bytes, one with all number fields 80. Rows are not split into columns: writing
 * a report and reading a page touch all fields of a record but few records of a device, and each column would cost a
 * cache miss.
 */
export interface Chunk {
  count: number;
  readonly capacity: number;
  /** Bit `f - FIXED_FIELDS` is set if rows have a cell for number field `f`. */
  readonly mask: number;
  /** Cells per row. */
  readonly width: number;
  /**
   * The only view of its memory, whose buffer is never read: with two views, four rows took 830 bytes instead of 450.
   */
  readonly f64: Float64Array;
}

/** 64 rows bound the unused memory of a half-filled chunk, the cost of a late insert, and the unpacking for a page. */
export const CHUNK_ROWS_MAX = 64;

/** Latitude and longitude: number fields that every record has. */
const FIXED_FIELDS = 2;
const FIELDS = NUMBER_FIELDS.length;
const OPTIONAL_FIELDS = FIELDS - FIXED_FIELDS;
assert(OPTIONAL_FIELDS <= 16, "the tables by mask below stay small");

/** The mask of a chunk with a cell for every field. */
export const ALL_FIELDS = (1 << OPTIONAL_FIELDS) - 1;

/** By mask and number field, the field's cell in a row; 0, which is the timestamp's, if the row has none. */
const CELL_OF = new Uint8Array((1 << OPTIONAL_FIELDS) * FIELDS);
/** Cells per row, by mask. */
const WIDTH_OF = new Uint8Array(1 << OPTIONAL_FIELDS);
for (let mask = 0; mask < WIDTH_OF.length; mask++) {
  let cell = 1; // Cell 0 is the timestamp.
  for (let field = 0; field < FIELDS; field++) {
    const present = field < FIXED_FIELDS || (mask >> (field - FIXED_FIELDS)) & 1;
    if (present) CELL_OF[mask * FIELDS + field] = cell++;
  }
  WIDTH_OF[mask] = cell + 1; // The last cell holds profile and state.
}

const BYTES_PER_CELL = 8;

export function createChunk(capacity: number, mask: number): Chunk {
  const width = WIDTH_OF[mask]!;
  return { count: 0, capacity, mask, width, f64: new Float64Array(width * capacity) };
}

/** The mask of the optional fields in one row of these columns. */
export function maskOf(numbers: readonly Float64Array[], row: number): number {
  let mask = 0;
  for (let field = FIXED_FIELDS; field < FIELDS; field++) {
    if (!Number.isNaN(numbers[field]![row]!)) mask |= 1 << (field - FIXED_FIELDS);
  }
  return mask;
}

export function rowBytes(chunk: Chunk): number {
  return chunk.width * BYTES_PER_CELL;
}

export function timestampAt(chunk: Chunk, row: number): number {
  return chunk.f64[row * chunk.width]!;
}

export function hasField({ mask }: Chunk, field: number): boolean {
  return CELL_OF[mask * FIELDS + field] !== 0;
}

/** NaN if the record lacks the field. */
export function numberAt(chunk: Chunk, row: number, field: number): number {
  const cell = CELL_OF[chunk.mask * FIELDS + field]!;
  return cell === 0 ? Number.NaN : chunk.f64[row * chunk.width + cell]!;
}

export function setTimestamp(chunk: Chunk, row: number, timestampMs: number): void {
  chunk.f64[row * chunk.width] = timestampMs;
}

/** Writes a field that the mask must include. */
export function setNumber(chunk: Chunk, row: number, field: number, value: number): void {
  const cell = CELL_OF[chunk.mask * FIELDS + field]!;
  assert(cell !== 0, "the chunk has a cell for the field");
  chunk.f64[row * chunk.width + cell] = value;
}

/** Writes all number fields of a row, in order, to `out` from `start`; NaN for a field that the record lacks. */
export function copyNumbers(chunk: Chunk, row: number, out: Float64Array, start: number): void {
  const { f64, width, mask } = chunk;
  const from = row * width;
  const cells = mask * FIELDS;
  for (let field = 0; field < FIELDS; field++) {
    const cell = CELL_OF[cells + field]!;
    out[start + field] = cell === 0 ? Number.NaN : f64[from + cell]!;
  }
}

/** Writes the timestamps of rows `from` to before `to` to `out` from `start`. */
export function copyTimestamps(
  chunk: Chunk,
  from: number,
  to: number,
  out: Float64Array,
  start: number,
): void {
  copyCells(chunk, 0, from, to, out, start);
}

/** Writes a number field of rows `from` to before `to` to `out` from `start`; NaN if the rows lack it. */
export function copyField(
  chunk: Chunk,
  field: number,
  from: number,
  to: number,
  out: Float64Array,
  start: number,
): void {
  const cell = CELL_OF[chunk.mask * FIELDS + field]!;
  if (cell === 0) out.fill(Number.NaN, start, start + to - from);
  else copyCells(chunk, cell, from, to, out, start);
}

function copyCells(
  { f64, width }: Chunk,
  cell: number,
  from: number,
  to: number,
  out: Float64Array,
  start: number,
): void {
  const end = to * width;
  for (let at = from * width + cell, into = start; at < end; at += width, into++) out[into] = f64[at]!;
}

// Profile and state are the two halves of a double's bits.
const PAIR = new Float64Array(1);
const HALVES = new Uint32Array(PAIR.buffer);
/** From here on the upper half makes a NaN, whose bits a runtime may change. Memory can't hold that many states. */
const STATES_END = 0x7ff0_0000;

export function profileAt(chunk: Chunk, row: number): number {
  PAIR[0] = chunk.f64[(row + 1) * chunk.width - 1]!;
  return HALVES[0]!;
}

export function stateAt(chunk: Chunk, row: number): number {
  PAIR[0] = chunk.f64[(row + 1) * chunk.width - 1]!;
  return HALVES[1]!;
}

export function setTuples(chunk: Chunk, row: number, profile: number, state: number): void {
  assert(state < STATES_END, "a state and a profile are the bits of a number");
  HALVES[0] = profile;
  HALVES[1] = state;
  chunk.f64[(row + 1) * chunk.width - 1] = PAIR[0]!;
}

/** How many rows have an earlier timestamp. */
export function rowsBefore(chunk: Chunk, timestampMs: number): number {
  return firstRowSince(chunk, 0, chunk.count, timestampMs);
}

/** The first of rows `from` to before `to` with this timestamp or a later one; `to` if there is none. */
export function firstRowSince(chunk: Chunk, from: number, to: number, timestampMs: number): number {
  const { f64, width } = chunk;
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (f64[middle * width]! < timestampMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Inserts a row at `row`, which the caller writes. */
export function openRow(chunk: Chunk, row: number): void {
  assert(row <= chunk.count && chunk.count < chunk.capacity, "the new row is within a chunk that has room");
  shiftRows(chunk, row, chunk.count);
  chunk.count++;
}

/** Moves rows `from` to before `to` up by one row. */
export function shiftRows({ f64, width }: Chunk, from: number, to: number): void {
  if (from < to) f64.copyWithin((from + 1) * width, from * width, to * width);
}

/** A new chunk with rows `from` to before `to`, with this capacity and at least the fields of `mask`. */
export function copyRows(chunk: Chunk, from: number, to: number, capacity: number, mask: number): Chunk {
  assert(to - from <= capacity, "a chunk has room for what is copied into it");
  const copy = createChunk(capacity, mask);
  copy.count = to - from;
  putRows(copy, 0, chunk, from, to);
  return copy;
}

/** Copies rows `from` to before `to` into `target` from row `into` on. `target` must have at least the same fields. */
export function putRows(target: Chunk, into: number, chunk: Chunk, from: number, to: number): void {
  if (target.mask === chunk.mask) {
    // Cell by cell, since a subarray would give the chunk a buffer (see `f64`).
    const end = to * chunk.width;
    for (let cell = from * chunk.width, at = into * chunk.width; cell < end; cell++, at++)
      target.f64[at] = chunk.f64[cell]!;
    return;
  }
  for (let row = from, at = into; row < to; row++, at++) {
    setTimestamp(target, at, timestampAt(chunk, row));
    for (let field = 0; field < FIELDS; field++) {
      const cell = CELL_OF[target.mask * FIELDS + field]!;
      if (cell !== 0) target.f64[at * target.width + cell] = numberAt(chunk, row, field);
    }
    setTuples(target, at, profileAt(chunk, row), stateAt(chunk, row));
  }
}

/** Writes row `row` of the batch's columns into row `into`. The chunk must have their fields. */
export function writeRow(
  chunk: Chunk,
  into: number,
  timestampMs: number,
  numbers: readonly Float64Array[],
  row: number,
): void {
  const { f64, width, mask } = chunk;
  const start = into * width;
  const cells = mask * FIELDS;
  f64[start] = timestampMs;
  for (let field = 0; field < FIELDS; field++) {
    const cell = CELL_OF[cells + field]!;
    if (cell !== 0) f64[start + cell] = numbers[field]![row]!;
  }
}
