import type { DuckDBDataChunk } from "@duckdb/node-api";
import type * as DuckDbBindings from "@duckdb/node-bindings";

// Reads columns of a chunk from DuckDB's memory, with one library call per column instead of one per value.

export type Bindings = Pick<
  typeof DuckDbBindings,
  "data_chunk_get_vector" | "vector_get_data" | "vector_get_validity" | "get_data_from_pointer"
>;

/** Which rows of a vector are not null, one bit each; null if all are not null. */
type Validity = Uint8Array | null;

function validityOf(vector: DuckDbBindings.Vector, rows: number, bindings: Bindings): Validity {
  // The library's type omits that the result is null if no row is null.
  return bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Validity;
}

function isNull(validity: Validity, row: number): boolean {
  return validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
}

/** Copies a DOUBLE column to `numbers` from `at` on; NaN for null. */
export function copyNumbers(
  { chunk, rowCount }: DuckDBDataChunk,
  column: number,
  bindings: Bindings,
  numbers: Float64Array,
  at: number,
): void {
  const vector = bindings.data_chunk_get_vector(chunk, column);
  const bytes = bindings.vector_get_data(vector, rowCount * Float64Array.BYTES_PER_ELEMENT);
  numbers.set(new Float64Array(bytes.buffer, bytes.byteOffset, rowCount), at);
  const validity = validityOf(vector, rowCount, bindings);
  if (validity === null) return;
  for (let row = 0; row < rowCount; row++) if (isNull(validity, row)) numbers[at + row] = Number.NaN;
}

export class BooleanVector {
  readonly #bytes: Uint8Array;
  readonly #validity: Validity;

  constructor({ chunk, rowCount }: DuckDBDataChunk, column: number, bindings: Bindings) {
    const vector = bindings.data_chunk_get_vector(chunk, column);
    this.#bytes = bindings.vector_get_data(vector, rowCount);
    this.#validity = validityOf(vector, rowCount, bindings);
  }

  at(row: number): boolean | null {
    return isNull(this.#validity, row) ? null : this.#bytes[row] === 1;
  }
}

const TEXT_BYTES = 16;
/** A longer text lies elsewhere; the vector has its length, its first bytes and a pointer. */
const INLINE_BYTES_MAX = 12;

/** The library's own decoder drops a byte order mark at the start of a text. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A VARCHAR column, byte for byte. */
export class TextVector {
  readonly #bindings: Bindings;
  readonly #bytes: Uint8Array;
  /** Four words per text: its length, then its bytes, or its first four bytes and a pointer. */
  readonly #words: Int32Array;
  readonly #validity: Validity;
  /** Long texts that are consecutive in memory, as they mostly are: reading each would be a call. */
  #run: TextRun = { from: 0, to: 0, address: 0, bytes: new Uint8Array(0) };

  constructor({ chunk, rowCount }: DuckDBDataChunk, column: number, bindings: Bindings) {
    const vector = bindings.data_chunk_get_vector(chunk, column);
    this.#bindings = bindings;
    this.#bytes = bindings.vector_get_data(vector, rowCount * TEXT_BYTES);
    this.#words = new Int32Array(this.#bytes.buffer, this.#bytes.byteOffset, rowCount * 4);
    this.#validity = validityOf(vector, rowCount, bindings);
  }

  at(row: number): string | null {
    return isNull(this.#validity, row) ? null : decoder.decode(this.#bytesAt(row));
  }

  /** Marks the first row, and the rows whose text differs from that of the row before. */
  markChanges(marks: Uint8Array): void {
    marks[0] = 1;
    for (let row = 1; row < marks.length; row++) if (marks[row] === 0 && !this.#repeats(row)) marks[row] = 1;
  }

  #repeats(row: number): boolean {
    const isMissing = isNull(this.#validity, row);
    const wasMissing = isNull(this.#validity, row - 1);
    if (isMissing || wasMissing) return isMissing === wasMissing;
    const words = this.#words;
    const at = row * 4;
    if (words[at] !== words[at - 4] || words[at + 1] !== words[at - 3]) return false;
    if (words[at + 2] === words[at - 2] && words[at + 3] === words[at - 1]) return true;
    if (words[at]! <= INLINE_BYTES_MAX) return false;
    return this.#isSame(row - 1, row, words[at]!);
  }

  /** Compares long texts of equal length in place, which is cheaper than a view of each. */
  #isSame(row: number, other: number, length: number): boolean {
    const start = this.#locate(row);
    const { bytes } = this.#run;
    const otherStart = this.#locate(other);
    const { bytes: otherBytes } = this.#run;
    for (let at = 0; at < length; at++) if (bytes[start + at] !== otherBytes[otherStart + at]) return false;
    return true;
  }

  #bytesAt(row: number): Uint8Array {
    const length = this.#words[row * 4]!;
    if (length <= INLINE_BYTES_MAX) {
      const start = row * TEXT_BYTES + 4;
      return this.#bytes.subarray(start, start + length);
    }
    const start = this.#locate(row);
    return this.#run.bytes.subarray(start, start + length);
  }

  /** Makes the run contain a long text. Returns the text's offset in the run. */
  #locate(row: number): number {
    if (row < this.#run.from || row >= this.#run.to) this.#run = this.#runFrom(row);
    return this.#addressAt(row) - this.#run.address;
  }

  /** A run contains texts only: each begins where the one before it ends. */
  #runFrom(row: number): TextRun {
    const address = this.#addressAt(row);
    let end = address + this.#words[row * 4]!;
    let to = row + 1;
    while (to * 4 < this.#words.length && this.#isLong(to) && this.#addressAt(to) === end)
      end += this.#words[to++ * 4]!;
    const pointer = this.#bytes.byteOffset + row * TEXT_BYTES + 8;
    const buffer = this.#bytes.buffer as ArrayBuffer;
    return {
      from: row,
      to,
      address,
      bytes: this.#bindings.get_data_from_pointer(buffer, pointer, end - address),
    };
  }

  #isLong(row: number): boolean {
    return !isNull(this.#validity, row) && this.#words[row * 4]! > INLINE_BYTES_MAX;
  }

  /** Addresses in user space have 47 bits, so a double is exact. */
  #addressAt(row: number): number {
    return this.#words[row * 4 + 3]! * 2 ** 32 + (this.#words[row * 4 + 2]! >>> 0);
  }
}

/** Texts of rows `from` to before `to`, consecutive in memory. */
interface TextRun {
  readonly from: number;
  readonly to: number;
  readonly address: number;
  readonly bytes: Uint8Array;
}
