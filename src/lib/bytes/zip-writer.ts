import { Buffer } from "node:buffer";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { assert } from "../assert.ts";
import { joinBytes } from "./growing-bytes.ts";

/*
 * A zip archive, written while the bytes of its files come. The sizes and the checksum of a file are known only at its
 * end, so they are written behind its bytes, and in the directory, which readers use.
 *
 *     | header, file, sizes | header, file, sizes | ... | directory: an entry for each file | end |
 */

const LOCAL_HEADER = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_END = 0x06054b50;

const VERSION = 20; // The version that added deflate.
const SIZES_BEHIND = 0x0008;
const UTF8_NAME = 0x0800;
const DEFLATED = 8;
/** 1980-01-01, the first date of zip files. It is fixed, so that the same records give the same file. */
const DATE = 0x0021;
const FILES_MAX = 0xffff;
/** The largest value of 32-bit sizes and offsets. Some programs can't read larger zips. */
const ARCHIVE_BYTES_MAX = 0xffff_fffe;

/** An empty last block. */
const DEFLATE_END = Uint8Array.of(3, 0);

interface OpenFile {
  readonly name: Uint8Array;
  /** Offset of its header in the archive. */
  readonly at: number;
  crc: number;
  packedBytes: number;
  plainBytes: number;
}

/** Writes a zip. Throws if the archive, or the uncompressed bytes of a file, exceed 4 GiB. */
export class ZipWriter {
  readonly #bytesMax: number;
  readonly #directory: Uint8Array[] = [];
  /** Bytes of the archive written so far. */
  #bytes = 0;
  #file: OpenFile | null = null;

  /** `bytesMax` is for tests, which don't write gigabytes. */
  constructor(bytesMax = ARCHIVE_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Begins a file, and ends the one before. */
  begin(name: string): Uint8Array<ArrayBuffer> {
    const end = this.#endFile();
    assert(this.#directory.length < FILES_MAX, "the number of files fits into 16 bits");
    const at = this.#bytes;
    const file = { name: new TextEncoder().encode(name), at, crc: 0, packedBytes: 0, plainBytes: 0 };
    this.#file = file;
    return joinBytes([end, this.#written(joinBytes([encode("4", LOCAL_HEADER), traitsOf(file), file.name]))]);
  }

  /** Adds bytes to the file. Each piece is deflated separately up to a whole byte, so long pieces lose nothing. */
  add(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    const file = this.#file;
    assert(file !== null, "a file has begun");
    if (piece.length === 0) return new Uint8Array(0);
    file.crc = crc32(piece, file.crc);
    file.plainBytes += piece.length;
    const packed = deflateRawSync(piece, { finishFlush: constants.Z_SYNC_FLUSH });
    file.packedBytes += packed.length;
    if (file.plainBytes > this.#bytesMax) throw tooLarge();
    return this.#written(new Uint8Array(packed));
  }

  /** Ends the last file and the archive. */
  end(): Uint8Array<ArrayBuffer> {
    const end = this.#endFile();
    const directoryAt = this.#bytes;
    const directory = this.#written(joinBytes(this.#directory));
    const count = this.#directory.length;
    const counts = encode("42222", DIRECTORY_END, 0, 0, count, count);
    return joinBytes([end, directory, counts, encode("442", directory.length, directoryAt, 0)]);
  }

  #endFile(): Uint8Array {
    const file = this.#file;
    if (file === null) return new Uint8Array(0);
    this.#file = null;
    file.packedBytes += DEFLATE_END.length;
    const { name, at, crc, packedBytes, plainBytes } = file;
    const start = encode("42", DIRECTORY_ENTRY, VERSION);
    const rest = encode("22244", 0, 0, 0, 0, at); // No comment, disk 0, no attributes.
    this.#directory.push(joinBytes([start, traitsOf(file), rest, name]));
    return this.#written(joinBytes([DEFLATE_END, encode("4444", DESCRIPTOR, crc, packedBytes, plainBytes)]));
  }

  #written(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) throw tooLarge();
    return bytes;
  }
}

/** The fields that the header of a file and its entry in the directory share. Sizes in the header are 0. */
function traitsOf({ name, crc, packedBytes, plainBytes }: OpenFile): Uint8Array {
  const traits = encode("22222", VERSION, SIZES_BEHIND | UTF8_NAME, DEFLATED, 0, DATE);
  return joinBytes([traits, encode("44422", crc, packedBytes, plainBytes, name.length, 0)]);
}

function tooLarge(): Error {
  return new Error(
    "The file would be larger than 4 GiB, the limit of a zip: request fewer days, or a format that is not zipped",
  );
}

/** Little-endian numbers of 2 or 4 bytes each, as `widths` says. */
function encode(widths: string, ...numbers: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(4 * numbers.length);
  let at = 0;
  for (const [i, number] of numbers.entries()) at = bytes.writeUIntLE(number, at, Number(widths[i]));
  return bytes.subarray(0, at);
}
