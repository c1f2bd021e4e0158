import { NUMBER_FIELDS } from "../model/location-fields.ts";

/**
 * Up to `CHUNK_ROWS_MAX` records of one device in time order, in columns over one buffer. Latitude and
 * longitude always have a column, the other number fields only once a record carries them:
 *
 *   f64:  timestampMs × capacity | latitude × capacity | longitude × capacity | ... fields in `mask`
 *   u32:  profile × capacity | state × capacity
 *
 * A plain record (time and place) takes 32 bytes, one with all number fields 80.
 */
export interface Chunk {
  count: number;
  readonly capacity: number;
  /** Bit `f - FIXED_FIELDS` is set where number field `f` has a column. */
  readonly mask: number;
  readonly f64: Float64Array;
  readonly u32: Uint32Array;
}

/** 256 rows keep the slack of a half-filled chunk small beside a device-day and a late insert cheap. */
export const CHUNK_ROWS_MAX = 256;
const CHUNK_ROWS_MIN = 4;

/** Latitude and longitude: number fields that every record has. */
const FIXED_FIELDS = 2;
const OPTIONAL_FIELDS = NUMBER_FIELDS.length - FIXED_FIELDS;

/** By mask and number field, its column in `f64`, or -1 where the chunk has none. */
const COLUMN_OF = new Int8Array((1 << OPTIONAL_FIELDS) * NUMBER_FIELDS.length);
/** By mask, how many columns `f64` has. */
const WIDTH_OF = new Uint8Array(1 << OPTIONAL_FIELDS);
for (let mask = 0; mask < WIDTH_OF.length; mask++) {
  let column = 1; // Column 0 is the timestamp.
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const present = field < FIXED_FIELDS || (mask >> (field - FIXED_FIELDS)) & 1;
    COLUMN_OF[mask * NUMBER_FIELDS.length + field] = present ? column++ : -1;
  }
  WIDTH_OF[mask] = column;
}

export function createChunk(capacity: number, mask: number): Chunk {
  const doubles = WIDTH_OF[mask]! * capacity;
  const buffer = new ArrayBuffer(doubles * 8 + 2 * capacity * 4);
  return {
    count: 0,
    capacity,
    mask,
    f64: new Float64Array(buffer, 0, doubles),
    u32: new Uint32Array(buffer, doubles * 8, 2 * capacity),
  };
}

/** The smallest chunk that takes a device's first row: most devices of a large fleet have few. */
export function createFirstChunk(mask: number): Chunk {
  return createChunk(CHUNK_ROWS_MIN, mask);
}

/** The mask of the optional fields that row `row` of these columns carries. */
export function maskOf(numbers: readonly Float64Array[], row: number): number {
  let mask = 0;
  for (let field = FIXED_FIELDS; field < NUMBER_FIELDS.length; field++) {
    const value = numbers[field]![row]!;
    if (!Number.isNaN(value)) mask |= 1 << (field - FIXED_FIELDS);
  }
  return mask;
}

/** Bytes that one row of the chunk takes. */
export function rowBytes(chunk: Chunk): number {
  return WIDTH_OF[chunk.mask]! * 8 + 8;
}

export function timestampAt(chunk: Chunk, row: number): number {
  return chunk.f64[row]!;
}

export function numberAt(chunk: Chunk, row: number, field: number): number {
  const column = COLUMN_OF[chunk.mask * NUMBER_FIELDS.length + field]!;
  return column < 0 ? Number.NaN : chunk.f64[column * chunk.capacity + row]!;
}

/** Where a field's values start in `f64`, or -1 where no record of the chunk carries it. */
export function columnStart(chunk: Chunk, field: number): number {
  const column = COLUMN_OF[chunk.mask * NUMBER_FIELDS.length + field]!;
  return column < 0 ? -1 : column * chunk.capacity;
}

export function setNumber(chunk: Chunk, row: number, field: number, value: number): void {
  chunk.f64[columnStart(chunk, field) + row] = value;
}

export function profileAt(chunk: Chunk, row: number): number {
  return chunk.u32[row]!;
}

export function stateAt(chunk: Chunk, row: number): number {
  return chunk.u32[chunk.capacity + row]!;
}

export function setTuples(chunk: Chunk, row: number, profile: number, state: number): void {
  chunk.u32[row] = profile;
  chunk.u32[chunk.capacity + row] = state;
}

/** Rows with a timestamp before `timestampMs`. */
export function rowsBefore(chunk: Chunk, timestampMs: number): number {
  const { f64 } = chunk;
  let low = 0;
  let high = chunk.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (f64[middle]! < timestampMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Makes room at `row`; the caller writes it. The chunk must have capacity left. */
export function openRow(chunk: Chunk, row: number): void {
  const { f64, u32, capacity, count } = chunk;
  if (row < count) {
    for (let start = 0; start < f64.length; start += capacity) {
      f64.copyWithin(start + row + 1, start + row, start + count);
    }
    u32.copyWithin(row + 1, row, count);
    u32.copyWithin(capacity + row + 1, capacity + row, capacity + count);
  }
  chunk.count = count + 1;
}

/** A new chunk with rows `from` to `to` of this one, of this capacity and with at least these fields. */
export function copyRows(chunk: Chunk, from: number, to: number, capacity: number, mask: number): Chunk {
  const copy = createChunk(capacity, mask);
  copy.f64.set(chunk.f64.subarray(from, to), 0);
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const target = columnStart(copy, field);
    if (target < 0) continue;
    const source = columnStart(chunk, field);
    if (source < 0) copy.f64.fill(Number.NaN, target, target + (to - from));
    else copy.f64.set(chunk.f64.subarray(source + from, source + to), target);
  }
  copy.u32.set(chunk.u32.subarray(from, to), 0);
  copy.u32.set(chunk.u32.subarray(chunk.capacity + from, chunk.capacity + to), capacity);
  copy.count = to - from;
  return copy;
}

/** Writes row `row` of the batch's columns into row `into`, whose fields the chunk must have. */
export function writeRow(
  chunk: Chunk,
  into: number,
  timestampMs: number,
  numbers: readonly Float64Array[],
  row: number,
): void {
  const { f64, capacity } = chunk;
  f64[into] = timestampMs;
  const columns = chunk.mask * NUMBER_FIELDS.length;
  for (let field = 0; field < NUMBER_FIELDS.length; field++) {
    const column = COLUMN_OF[columns + field]!;
    if (column >= 0) f64[column * capacity + into] = numbers[field]![row]!;
  }
}
