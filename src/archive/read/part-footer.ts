import { nextTurn } from "../../lib/schedule/timers.ts";
import { ARCHIVE_COLUMNS } from "../columns.ts";

// Reads the footer of a part, with the metadata of its column chunks. DuckDB's `parquet_metadata` would take a
// connection, a statement and a millisecond per file. A Parquet file ends with the footer, its length and "PAR1".

/** The row groups of a file, and what is known of each of their columns. */
export interface FileChunks {
  readonly rowGroups: readonly Readonly<RowGroup>[];
  /** Compressed sizes, by row group, then by column as in `ARCHIVE_COLUMNS`. */
  readonly bytes: Uint32Array;
  /** In the same order: `DIFFERENT`, `NONE`, or `FIRST_TEXT` plus the index of a text. */
  readonly constants: Uint16Array;
  readonly texts: readonly string[];
}

/** Bounds of a row group; null if they are not known, as for long texts, which files truncate. */
export interface RowGroup {
  appMin: string | null;
  appMax: string | null;
  deviceMin: string | null;
  deviceMax: string | null;
  startMs: number;
  lastMs: number;
}

/** The values of a chunk differ, or may differ. */
export const DIFFERENT = 0;
/** A chunk has only nulls. */
export const NONE = 1;
/** From this number on, all values of a chunk are one text, and none is null. */
export const FIRST_TEXT = 2;
const TEXTS_MAX = 0xffff - FIRST_TEXT;

export const CHUNKS_A_GROUP = ARCHIVE_COLUMNS.length;
export const COLUMN_INDEXES: ReadonlyMap<string, number> = new Map(
  ARCHIVE_COLUMNS.map(({ name }, index) => [name, index]),
);

/** Row groups read before other work gets a turn, in some 0.3 ms. */
const GROUPS_A_TURN = 32;

// Numbers of the fields of Parquet's FileMetaData and the structures in it (parquet.thrift).
const FILE_ROW_GROUPS = 4;
const GROUP_COLUMNS = 1;
const CHUNK_METADATA = 3;
const [COLUMN_PATH, COLUMN_VALUES, COLUMN_COMPRESSED_BYTES, COLUMN_STATISTICS] = [3, 5, 7, 12];
const [NULL_COUNT, MAX_VALUE, MIN_VALUE, IS_MAX_EXACT, IS_MIN_EXACT] = [3, 5, 6, 7, 8];

const MAGIC = "PAR1";
const TAIL_BYTES = 8;

/** By default, a decoder drops a byte order mark at the start of a text. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The size of the footer of a file, of which these are the last bytes. Throws a RangeError if it is not a Parquet file.
 */
export function footerBytes(end: Uint8Array): number {
  const tail = end.subarray(-TAIL_BYTES);
  if (tail.length < TAIL_BYTES || decoder.decode(tail.subarray(4)) !== MAGIC)
    throw new RangeError("a part does not end as a Parquet file");
  return new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) + TAIL_BYTES;
}

/** Parses a footer. Rejects with a RangeError if it is invalid. */
export async function parseFooter(footer: Uint8Array): Promise<FileChunks> {
  const reader = new ThriftReader(footer.subarray(0, -TAIL_BYTES));
  const chunks = new ChunkCollector();
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id !== FILE_ROW_GROUPS) {
      reader.skip();
      continue;
    }
    const groups = reader.listSize();
    for (let group = 0; group < groups; group++) {
      if (group % GROUPS_A_TURN === GROUPS_A_TURN - 1) await nextTurn();
      readRowGroup(reader, chunks);
    }
  }
  return chunks.build();
}

/** Collects what is read. */
class ChunkCollector {
  readonly #rowGroups: RowGroup[] = [];
  readonly #bytes: number[] = [];
  readonly #constants: number[] = [];
  readonly #numbers = new Map<string, number>();

  addRowGroup(): void {
    this.#rowGroups.push({ ...UNBOUNDED });
    for (let column = 0; column < CHUNKS_A_GROUP; column++) {
      this.#bytes.push(0);
      this.#constants.push(DIFFERENT);
    }
  }

  addChunk({ name, compressedBytes, values, statistics }: Chunk): void {
    const index = COLUMN_INDEXES.get(name);
    if (index === undefined) return; // A column of a later version.
    const at = (this.#rowGroups.length - 1) * CHUNKS_A_GROUP + index;
    this.#bytes[at] = compressedBytes;
    if (statistics === null) return;
    this.#constants[at] = statistics.nulls === values ? NONE : this.#constantText(index, statistics);
    setBounds(this.#rowGroups.at(-1)!, name, statistics);
  }

  #constantText(index: number, { nulls, min, max, isExact }: Statistics): number {
    if (nulls !== 0 || min === null || max === null || !isExact || !isSame(min, max)) return DIFFERENT;
    const { type } = ARCHIVE_COLUMNS[index]!;
    if (type !== "VARCHAR" && type !== "BOOLEAN") return DIFFERENT;
    const text = type === "BOOLEAN" ? String(min[0] === 1) : decoder.decode(min);
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    if (number >= TEXTS_MAX) return DIFFERENT;
    this.#numbers.set(text, number);
    return FIRST_TEXT + number;
  }

  build(): FileChunks {
    return {
      rowGroups: this.#rowGroups,
      bytes: Uint32Array.from(this.#bytes),
      constants: Uint16Array.from(this.#constants),
      texts: [...this.#numbers.keys()],
    };
  }
}

const UNBOUNDED: RowGroup = {
  appMin: null,
  appMax: null,
  deviceMin: null,
  deviceMax: null,
  startMs: Number.NEGATIVE_INFINITY,
  lastMs: Number.POSITIVE_INFINITY,
};

interface Chunk {
  name: string;
  values: number;
  compressedBytes: number;
  statistics: Statistics | null;
}

interface Statistics {
  nulls: number | null;
  min: Uint8Array | null;
  max: Uint8Array | null;
  /** Whether both bounds are values, not truncated texts. */
  isExact: boolean;
}

function readRowGroup(reader: ThriftReader, chunks: ChunkCollector): void {
  chunks.addRowGroup();
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id !== GROUP_COLUMNS) reader.skip();
    else for (let left = reader.listSize(); left > 0; left--) readChunk(reader, chunks);
  }
}

function readChunk(reader: ThriftReader, chunks: ChunkCollector): void {
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id === CHUNK_METADATA) chunks.addChunk(readMetadata(reader));
    else reader.skip();
  }
}

function readMetadata(reader: ThriftReader): Chunk {
  const chunk: Chunk = { name: "", values: 0, compressedBytes: 0, statistics: null };
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id === COLUMN_PATH) chunk.name = readPath(reader);
    else if (id === COLUMN_VALUES) chunk.values = reader.integer();
    else if (id === COLUMN_COMPRESSED_BYTES) chunk.compressedBytes = reader.integer();
    else if (id === COLUMN_STATISTICS) chunk.statistics = readStatistics(reader);
    else reader.skip();
  }
  return chunk;
}

function readPath(reader: ThriftReader): string {
  return Array.from({ length: reader.listSize() }, () => decoder.decode(reader.binary())).join(".");
}

function readStatistics(reader: ThriftReader): Statistics {
  const statistics: Statistics = { nulls: null, min: null, max: null, isExact: false };
  let [isMinExact, isMaxExact] = [false, false];
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id === NULL_COUNT) statistics.nulls = reader.integer();
    else if (id === MAX_VALUE) statistics.max = reader.binary();
    else if (id === MIN_VALUE) statistics.min = reader.binary();
    else if (id === IS_MAX_EXACT) isMaxExact = reader.isTrue;
    else if (id === IS_MIN_EXACT) isMinExact = reader.isTrue;
    else reader.skip();
  }
  return { ...statistics, isExact: isMinExact && isMaxExact };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function setBounds(group: RowGroup, column: string, { min, max, isExact }: Statistics): void {
  if (min === null || max === null || !isExact) return;
  if (column === "app_id") Object.assign(group, { appMin: decoder.decode(min), appMax: decoder.decode(max) });
  if (column === "device_id")
    Object.assign(group, { deviceMin: decoder.decode(min), deviceMax: decoder.decode(max) });
  if (column === "timestamp") Object.assign(group, { startMs: integerOf(min), lastMs: integerOf(max) });
}

function integerOf(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigInt64(0, true));
}

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

/** Nested structures; a footer has some five levels. */
const DEPTH_MAX = 16;

/** Reads from front to back. Throws a RangeError if the bytes end too early or are invalid. */
class ThriftReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #type = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The id of a structure's next field, or 0 at its end. `last` is the id of the field before, 0 for the first. */
  field(last: number): number {
    const head = this.#byte();
    if (head === 0) return 0;
    this.#type = head & 0x0f;
    return head >> 4 === 0 ? this.integer() : last + (head >> 4);
  }

  /** The value of a boolean field. */
  get isTrue(): boolean {
    return this.#type === TRUE;
  }

  /** Skips the field's value. */
  skip(): void {
    this.#skip(this.#type, 0);
  }

  /** The size of a list, whose elements follow. */
  listSize(): number {
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#unsigned() : head >> 4;
    if (size > this.#bytes.length) throw new RangeError("a list is longer than the bytes");
    return size;
  }

  /** A signed integer; not exact beyond 53 bits. */
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
    if (depth > DEPTH_MAX) throw new RangeError("structures are nested too deeply");
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#byte();
    else if (type <= INTEGER_MAX) this.#unsigned();
    else if (type === DOUBLE) this.#at += Float64Array.BYTES_PER_ELEMENT;
    else if (type === BINARY) this.binary();
    else if (type === LIST || type === SET) this.#skipList(depth + 1);
    else if (type === STRUCTURE) this.#skipStructure(depth + 1);
    else throw new RangeError(`a footer has no values of type ${type}`);
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
