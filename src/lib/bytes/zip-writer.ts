import { constants, crc32, deflateRawSync } from "node:zlib";

/*
 * A zip archive of one file, written as its bytes come. What is known only at the end, its sizes and checksum, stands
 * behind the bytes and in the directory, which readers go by. Zip64 where sizes pass 4 GiB, and only there: some
 * programs know no other zips.
 */

const LOCAL_HEADER = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
const DIRECTORY_END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;

const VERSION = 20; // Deflated files.
const VERSION_64 = 45;
const SIZES_BEHIND = 0x0008;
const UTF8_NAME = 0x0800;
const DEFLATED = 8;
/** 1980-01-01, from which zips count: what is made of the same records is the same file. */
const DATE = 0x0021;
const EXTRA_64 = 0x0001;
const U32_MAX = 0xffff_ffff;

/** An empty last block. */
const DEFLATE_END = Uint8Array.of(3, 0);

/** Numbers of a header: how many bytes each takes, and its value. */
type Numbers = readonly (readonly [bytes: 2 | 4 | 8, value: number])[];

export class ZipWriter {
  readonly #name: Uint8Array;
  readonly #zip64From: number;
  #crc = 0;
  #plainBytes = 0;
  #packedBytes = 0;

  /** `zip64From` is for tests, which don't write gigabytes. */
  constructor(name: string, zip64From = U32_MAX) {
    this.#name = new TextEncoder().encode(name);
    this.#zip64From = zip64From;
  }

  begin(): Uint8Array<ArrayBuffer> {
    const sizes: Numbers = [
      [4, 0],
      [4, 0],
      [4, 0],
    ];
    return concat([
      encode([[4, LOCAL_HEADER], [2, VERSION], ...this.#traits(), ...sizes, ...this.#lengths(0)]),
      this.#name,
    ]);
  }

  /** More of the file: deflated by itself up to a whole byte, so pieces are long where that is to cost nothing. */
  add(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    if (piece.length === 0) return new Uint8Array(0);
    this.#crc = crc32(piece, this.#crc);
    this.#plainBytes += piece.length;
    const packed = deflateRawSync(piece, { finishFlush: constants.Z_SYNC_FLUSH });
    this.#packedBytes += packed.length;
    return new Uint8Array(packed);
  }

  end(): Uint8Array<ArrayBuffer> {
    this.#packedBytes += DEFLATE_END.length;
    const isLarge = Math.max(this.#plainBytes, this.#packedBytes) >= this.#zip64From;
    const width = isLarge ? 8 : 4;
    const descriptor = encode([
      [4, DESCRIPTOR],
      [4, this.#crc],
      [width, this.#packedBytes],
      [width, this.#plainBytes],
    ]);
    const directoryAt = 30 + this.#name.length + this.#packedBytes + descriptor.length;
    return concat([DEFLATE_END, descriptor, this.#directory(isLarge, directoryAt)]);
  }

  #directory(isLarge: boolean, directoryAt: number): Uint8Array<ArrayBuffer> {
    const version = isLarge ? VERSION_64 : VERSION;
    const known = (value: number) => (isLarge ? U32_MAX : value);
    const extra = isLarge
      ? encode([
          [2, EXTRA_64],
          [2, 16],
          [8, this.#plainBytes],
          [8, this.#packedBytes],
        ])
      : NO_BYTES;
    const entry = concat([
      encode([
        [4, DIRECTORY_ENTRY],
        [2, version],
        [2, version],
        ...this.#traits(),
        [4, this.#crc],
        [4, known(this.#packedBytes)],
        [4, known(this.#plainBytes)],
        ...this.#lengths(extra.length),
        [2, 0], // No comment, on the first disk, of no kind,
        [2, 0],
        [2, 0],
        [4, 0],
        [4, 0], // at the start of the archive.
      ]),
      this.#name,
      extra,
    ]);
    const endAt = directoryAt + entry.length;
    const isFar = directoryAt >= this.#zip64From || isLarge;
    const end64 = encode([
      [4, DIRECTORY_END_64],
      [8, 44],
      [2, VERSION_64],
      [2, VERSION_64],
      [4, 0],
      [4, 0],
      [8, 1],
      [8, 1],
      [8, entry.length],
      [8, directoryAt],
      [4, LOCATOR_64],
      [4, 0],
      [8, endAt],
      [4, 1],
    ]);
    const end = encode([
      [4, DIRECTORY_END],
      [2, 0],
      [2, 0],
      [2, 1],
      [2, 1],
      [4, entry.length],
      [4, isFar ? U32_MAX : directoryAt],
      [2, 0],
    ]);
    return concat([entry, isFar ? end64 : NO_BYTES, end]);
  }

  #traits(): Numbers {
    return [
      [2, SIZES_BEHIND | UTF8_NAME],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
    ];
  }

  #lengths(extraBytes: number): Numbers {
    return [
      [2, this.#name.length],
      [2, extraBytes],
    ];
  }
}

const NO_BYTES = new Uint8Array(0);

function encode(numbers: Numbers): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(numbers.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of numbers) {
    if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
