import { assert } from "../../lib/assert.ts";
import { decodeIndexColumn, encodeIndexColumn, indexColumnBytesMax } from "../../lib/frames/index-column.ts";
import {
  decodeNumberColumn,
  encodeNumberColumn,
  numberColumnBytesMax,
} from "../../lib/frames/number-column.ts";
import { viewsOf } from "../../lib/frames/views.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import {
  CHUNK_ROWS_MAX,
  type Chunk,
  createChunk,
  profileAt,
  setTimestamp,
  setTuples,
  stateAt,
  timestampAt,
} from "./chunk.ts";

/**
 * A compressed chunk, whose rows seldom change, in the column format of the log. Neighbours differ little: a full
 * record shrinks from 80 bytes to some 25, one with speed and bearing from 48 to 16. Readers unpack it.
 */
export interface PackedChunk {
  readonly count: number;
  readonly mask: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly packed: Uint8Array;
}

/** A chunk that shrinks less is not worth unpacking. */
const PACKED_SHARE_MAX = 3 / 4;

/** Time gaps, then number fields. Profile and state follow as index columns. */
const NUMBER_COLUMNS_MAX = 1 + NUMBER_FIELDS.length;
const scratch = viewsOf(
  new Uint8Array(
    NUMBER_COLUMNS_MAX * numberColumnBytesMax(CHUNK_ROWS_MAX) + 2 * indexColumnBytesMax(CHUNK_ROWS_MAX),
  ),
);
/** Arrays of each length, because columns are read and written to the length of the array. */
const NUMBERS = Array.from({ length: CHUNK_ROWS_MAX + 1 }, (_, count) => new Float64Array(count));
const INDEXES = Array.from({ length: CHUNK_ROWS_MAX + 1 }, (_, count) => new Uint32Array(count));

const INDEX_LIMIT = 2 ** 32;

/** The packed chunk; null if packing saves too little. */
export function packChunk(chunk: Chunk): PackedChunk | null {
  const { count, mask, width, f64 } = chunk;
  const numbers = NUMBERS[count]!;
  const indexes = INDEXES[count]!;
  // A device that reports every minute has the same gap between all times.
  for (let row = 1; row < count; row++) numbers[row] = timestampAt(chunk, row) - timestampAt(chunk, row - 1);
  numbers[0] = count > 1 ? numbers[1]! : 0;
  let end = encodeNumberColumn(scratch, 0, numbers);
  for (let cell = 1; cell < width - 1; cell++) {
    for (let row = 0, at = cell; row < count; row++, at += width) numbers[row] = f64[at]!;
    end = encodeNumberColumn(scratch, end, numbers);
  }
  for (let row = 0; row < count; row++) indexes[row] = profileAt(chunk, row);
  end = encodeIndexColumn(scratch, end, indexes);
  for (let row = 0; row < count; row++) indexes[row] = stateAt(chunk, row);
  end = encodeIndexColumn(scratch, end, indexes);
  if (end > count * width * Float64Array.BYTES_PER_ELEMENT * PACKED_SHARE_MAX) return null;
  return {
    count,
    mask,
    firstMs: timestampAt(chunk, 0),
    lastMs: timestampAt(chunk, count - 1),
    packed: new Uint8Array(scratch.bytes.subarray(0, end)),
  };
}

/** The rows of a packed chunk, in a new chunk without free rows. */
export function unpackChunk({ count, mask, firstMs, packed }: PackedChunk): Chunk {
  const chunk = createChunk(count, mask);
  const { f64, width } = chunk;
  const numbers = NUMBERS[count]!;
  const profiles = INDEXES[count]!;
  scratch.bytes.set(packed);
  let next = decodeNumberColumn(scratch, 0, packed.length, numbers);
  let timestampMs = firstMs - numbers[0]!;
  for (let row = 0; row < count; row++) {
    timestampMs += numbers[row]!;
    setTimestamp(chunk, row, timestampMs);
  }
  for (let cell = 1; cell < width - 1; cell++) {
    next = decodeNumberColumn(scratch, next, packed.length, numbers);
    for (let row = 0, at = cell; row < count; row++, at += width) f64[at] = numbers[row]!;
  }
  next = decodeIndexColumn(scratch, next, packed.length, INDEX_LIMIT, profiles);
  const states = new Uint32Array(count);
  next = decodeIndexColumn(scratch, next, packed.length, INDEX_LIMIT, states);
  assert(next === packed.length, "a packed chunk is unpacked to its end");
  for (let row = 0; row < count; row++) setTuples(chunk, row, profiles[row]!, states[row]!);
  chunk.count = count;
  return chunk;
}
