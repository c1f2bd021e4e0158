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
const LARGE_DIRECTORY_END = 0x06064b50;
const LARGE_END_LOCATOR = 0x07064b50;

const VERSION = 20; // The version that added deflate.
const LARGE_VERSION = 45; // The version that added zip64.
const LARGE_EXTRA = 0x0001;
const SIZES_BEHIND = 0x0008;
const UTF8_NAME = 0x0800;
const DEFLATED = 8;
/** 1980-01-01, the first date of zip files. It is fixed, so that the same records give the same file. */
const DATE = 0x0021;
/** The largest 16-bit counts, and 32-bit sizes and offsets. In a zip64 the next ones mark larger values. */
const FILES_MAX = 0xfffe;
const ARCHIVE_BYTES_MAX = 0xffff_fffe;
/** Bytes of zip64's end of the directory behind its own first 12. */
const LARGE_END_BYTES = 44;

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

export interface ZipOptions {
  /** Whether the archive may exceed the limits below, as a zip64. Some programs can't read these. */
  readonly isLarge?: boolean;
  /** The limits are for tests, which don't write gigabytes. */
  readonly bytesMax?: number;
  readonly filesMax?: number;
}

/** Writes a zip. Throws if it is not a large one, and the archive or the bytes of a file exceed 4 GiB. */
export class ZipWriter {
  readonly #isLarge: boolean;
  readonly #bytesMax: number;
  readonly #filesMax: number;
  readonly #directory: Uint8Array[] = [];
  /** Bytes of the archive written so far. */
  #bytes = 0;
  #file: OpenFile | null = null;

  constructor({ isLarge = false, bytesMax = ARCHIVE_BYTES_MAX, filesMax = FILES_MAX }: ZipOptions = {}) {
    this.#isLarge = isLarge;
    this.#bytesMax = bytesMax;
    this.#filesMax = filesMax;
  }

  /** Begins a file, and ends the one before. */
  begin(name: string): Uint8Array<ArrayBuffer> {
    const end = this.#endFile();
    assert(this.#isLarge || this.#directory.length < this.#filesMax, "the number of files fits into 16 bits");
    const at = this.#bytes;
    const file = { name: new TextEncoder().encode(name), at, crc: 0, packedBytes: 0, plainBytes: 0 };
    this.#file = file;
    // A reader that takes files as they come learns here that the sizes behind the file have 64 bits.
    const extra = this.#isLarge ? encode("2288", LARGE_EXTRA, 16, 0, 0) : NOTHING;
    const bytes = this.#isLarge ? MARK_32 : 0;
    const sums = encode("44422", 0, bytes, bytes, file.name.length, extra.length);
    const header = joinBytes([encode("4", LOCAL_HEADER), this.#traits(), sums, file.name, extra]);
    return joinBytes([end, this.#written(header)]);
  }

  /** Adds bytes to the file. Each piece is deflated separately up to a whole byte, so long pieces lose nothing. */
  add(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    const file = this.#file;
    assert(file !== null, "a file has begun");
    if (piece.length === 0) return NOTHING;
    file.crc = crc32(piece, file.crc);
    file.plainBytes += piece.length;
    const packed = deflateRawSync(piece, { finishFlush: constants.Z_SYNC_FLUSH });
    file.packedBytes += packed.length;
    if (!this.#isLarge && file.plainBytes > this.#bytesMax) throw tooLarge();
    return this.#written(new Uint8Array(packed));
  }

  /** Ends the last file and the archive. */
  end(): Uint8Array<ArrayBuffer> {
    const end = this.#endFile();
    const directoryAt = this.#bytes;
    const directory = this.#written(joinBytes(this.#directory));
    const count = this.#directory.length;
    const isBeyond = count > this.#filesMax || this.#bytes > this.#bytesMax;
    const largeEnd = isBeyond ? largeEndOf(count, directory.length, directoryAt) : NOTHING;
    const shownCount = count > this.#filesMax ? MARK_16 : count;
    const counts = encode("42222", DIRECTORY_END, 0, 0, shownCount, shownCount);
    const place = encode("442", this.#shown(directory.length), this.#shown(directoryAt), 0);
    return joinBytes([end, directory, largeEnd, counts, place]);
  }

  #endFile(): Uint8Array {
    const file = this.#file;
    if (file === null) return NOTHING;
    this.#file = null;
    file.packedBytes += DEFLATE_END.length;
    const { name, at, crc, packedBytes, plainBytes } = file;
    const large = [plainBytes, packedBytes, at].filter((value) => value > this.#bytesMax);
    const numbers = encode("8".repeat(large.length), ...large);
    const extra =
      large.length === 0 ? NOTHING : joinBytes([encode("22", LARGE_EXTRA, numbers.length), numbers]);
    const start = encode("42", DIRECTORY_ENTRY, this.#version);
    const sizes = encode("444", crc, this.#shown(packedBytes), this.#shown(plainBytes));
    const lengths = encode("22", name.length, extra.length);
    const rest = encode("22244", 0, 0, 0, 0, this.#shown(at)); // No comment, disk 0, no attributes.
    this.#directory.push(joinBytes([start, this.#traits(), sizes, lengths, rest, name, extra]));
    const behind = encode(this.#isLarge ? "4488" : "4444", DESCRIPTOR, crc, packedBytes, plainBytes);
    return this.#written(joinBytes([DEFLATE_END, behind]));
  }

  get #version(): number {
    return this.#isLarge ? LARGE_VERSION : VERSION;
  }

  /** The fields that the header of a file and its entry in the directory share. */
  #traits(): Uint8Array {
    return encode("22222", this.#version, SIZES_BEHIND | UTF8_NAME, DEFLATED, 0, DATE);
  }

  /** A number, or the mark that it is in a field of 64 bits. */
  #shown(bytes: number): number {
    return bytes > this.#bytesMax ? MARK_32 : bytes;
  }

  #written(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#bytes += bytes.length;
    if (!this.#isLarge && this.#bytes > this.#bytesMax) throw tooLarge();
    return bytes;
  }
}

const NOTHING = new Uint8Array(0);
const MARK_16 = 0xffff;
const MARK_32 = 0xffff_ffff;

/** Zip64's own end of the directory, and where it is. */
function largeEndOf(count: number, directoryBytes: number, directoryAt: number): Uint8Array {
  const start = encode("48", LARGE_DIRECTORY_END, LARGE_END_BYTES);
  const traits = encode("2244", LARGE_VERSION, LARGE_VERSION, 0, 0);
  const place = encode("8888", count, count, directoryBytes, directoryAt);
  const locator = encode("4484", LARGE_END_LOCATOR, 0, directoryAt + directoryBytes, 1);
  return joinBytes([start, traits, place, locator]);
}

function tooLarge(): Error {
  return new Error(
    "The file would be larger than 4 GiB, the limit of a zip: request fewer days, or a format that is not zipped",
  );
}

/** Little-endian numbers of 2, 4 or 8 bytes each, as `widths` says. */
function encode(widths: string, ...numbers: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(8 * numbers.length);
  let at = 0;
  for (const [i, number] of numbers.entries()) {
    const width = Number(widths[i]);
    at = width === 8 ? bytes.writeBigUInt64LE(BigInt(number), at) : bytes.writeUIntLE(number, at, width);
  }
  return bytes.subarray(0, at);
}
