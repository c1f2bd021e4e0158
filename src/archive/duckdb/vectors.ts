import type { DuckDBDataChunk } from "@duckdb/node-api";
import type * as DuckDbBindings from "@duckdb/node-bindings";

/*
 * Columns of a chunk read from DuckDB's own memory, a call for each column and not for each value.
 */

export type Bindings = Pick<
  typeof DuckDbBindings,
  "data_chunk_get_vector" | "vector_get_data" | "vector_get_validity" | "get_data_from_pointer"
>;

/** Which rows of a vector hold anything: a bit each; null where all do. */
type Validity = Uint8Array | null;

function validityOf(vector: DuckDbBindings.Vector, rows: number, bindings: Bindings): Validity {
  // The library's declaration leaves out that there is none where all rows hold something.
  return bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Validity;
}

function isNull(validity: Validity, row: number): boolean {
  return validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
}

/** Copies a column of DOUBLE to where `numbers` has room for it, NaN for null. */
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

/** A column of BOOLEAN. */
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
/** Longer texts lie elsewhere: what lies here is their length, how they begin, and a pointer. */
const INLINE_BYTES_MAX = 12;

/** The library's own decoder takes a byte order mark at the start of a text for none of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A column of VARCHAR, byte for byte. */
export class TextVector {
  readonly #bindings: Bindings;
  readonly #bytes: Uint8Array;
  /** Four words a text: its length, then its bytes, or four of them and a pointer. */
  readonly #words: Int32Array;
  readonly #validity: Validity;
  /** Long texts that lie one behind the other in memory, as they mostly do: each look into it is a call. */
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

  /** Marks the rows whose text is not that of the row before, and the first. */
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

  /** Compares long texts of one length where they lie: a view of each would cost more than that. */
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

  /** Has the run be one that a long text lies in; returns where in its bytes. */
  #locate(row: number): number {
    if (row < this.#run.from || row >= this.#run.to) this.#run = this.#runFrom(row);
    return this.#addressAt(row) - this.#run.address;
  }

  /** All of it is memory of texts: each begins where the one before it ends. */
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

  /** User space has 47 bits of them, so a double is exact. */
  #addressAt(row: number): number {
    return this.#words[row * 4 + 3]! * 2 ** 32 + (this.#words[row * 4 + 2]! >>> 0);
  }
}

/** Texts of some rows, to before another, as they lie in memory. */
interface TextRun {
  readonly from: number;
  readonly to: number;
  readonly address: number;
  readonly bytes: Uint8Array;
}
