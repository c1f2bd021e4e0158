/*
 * Thrift's compact protocol, as far as the footer of a Parquet file needs it:
 *
 *   structure  fields, then a byte 0
 *   field      a byte: 4 bits of id as the distance to the one before (0: the id follows), 4 bits of type; its value
 *   list       a byte: 4 bits of size (15: the size follows), 4 bits of type; then the elements
 *   integer    7 bits a byte, the lowest first, the top bit for more; signed ones in zigzag
 *   binary     its length, then its bytes
 *   boolean    of a field: nothing but its type, 1 for true and 2 for false; of a list: a byte
 */

const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const INTEGER_MAX = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCTURE = 12;

/** Structures within structures: a footer has some five. */
const DEPTH_MAX = 16;

/** Reads from front to back. Throws a RangeError where the bytes end too early or make no sense. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #type = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The id of a structure's next field, given that of the last, 0 at first; 0 where there is none any more. */
  field(last: number): number {
    const head = this.#byte();
    if (head === 0) return 0;
    this.#type = head & 0x0f;
    return head >> 4 === 0 ? this.integer() : last + (head >> 4);
  }

  /** The field's value, where it is a boolean. */
  get isTrue(): boolean {
    return this.#type === TRUE;
  }

  /** Leaves the field's value out. */
  skip(): void {
    this.#skip(this.#type, 0);
  }

  /** The size of a list, whose elements come next. */
  listSize(): number {
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#unsigned() : head >> 4;
    if (size > this.#bytes.length) throw new RangeError("a list is longer than the bytes");
    return size;
  }

  /** A signed integer; beyond 53 bits it is not exact. */
  integer(): number {
    const folded = this.#unsigned();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  binary(): Uint8Array {
    const length = this.#unsigned();
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new RangeError("the bytes end too early");
    return this.#bytes.subarray(start, this.#at);
  }

  #unsigned(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 64; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new RangeError("an integer has more than 64 bits");
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError("the bytes end too early");
    return byte;
  }

  #skip(type: number, depth: number): void {
    if (depth > DEPTH_MAX) throw new RangeError("structures lie too deep within each other");
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#byte();
    else if (type <= INTEGER_MAX) this.#unsigned();
    else if (type === DOUBLE) this.#at += Float64Array.BYTES_PER_ELEMENT;
    else if (type === BINARY) this.binary();
    else if (type === LIST || type === SET) this.#skipList(depth + 1);
    else if (type === STRUCTURE) this.#skipStructure(depth + 1);
    else throw new RangeError(`nothing in a footer has the type ${type}`);
  }

  #skipList(depth: number): void {
    const type = this.#bytes[this.#at]! & 0x0f;
    for (let left = this.listSize(); left > 0; left--) {
      if (type === TRUE || type === FALSE) this.#byte();
      else this.#skip(type, depth);
    }
  }

  #skipStructure(depth: number): void {
    for (let id = this.field(0); id !== 0; id = this.field(id)) this.#skip(this.#type, depth);
  }
}
