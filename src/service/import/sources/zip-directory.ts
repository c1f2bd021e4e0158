import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  validateFileName,
} from "yauzl";
import { FormatError } from "../../../formats/read/format-error.ts";
import { messageOf } from "../../../lib/message-of.ts";
import type { RandomInput } from "../../../runtime/inputs/inputs.ts";

/** A file in a zip archive, as the archive's directory tells of it. */
export interface ZipEntry {
  /** From 0; two entries may have the same path. */
  readonly index: number;
  /** With `/` between folders. */
  readonly path: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly crc32: number;
  readonly method: number;
  /** Where its own header lies in the archive. */
  readonly headerPosition: number;
  /** Why it can't be read; null where nothing is known against it. */
  readonly fault: string | null;
}

/**
 * The files of a zip archive one by one, as its directory lists them: a million of them take no more memory than one.
 * Throws a `FormatError` where the directory can't be read, or not any further.
 */
export async function* zipEntries(input: RandomInput): AsyncGenerator<ZipEntry> {
  try {
    // Names and sizes are judged here, one by one: yauzl gives up the whole archive for a single bad one.
    const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false };
    const zip = await fromRandomAccessReaderPromise(new WindowReader(input), input.sizeBytes, options);
    let index = 0;
    let packedBytes = 0;
    for await (const found of zip.eachEntry()) {
      if (found.compressedSize < input.sizeBytes) packedBytes += found.compressedSize; // Else it lies.
      const entry = entryOf(found, index++, packedBytes > input.sizeBytes);
      if (!entry.path.endsWith("/")) yield entry;
    }
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    throw new FormatError(explained(messageOf(cause)), { cause });
  }
}

function entryOf(entry: Entry, index: number, isOverlapping: boolean): ZipEntry {
  const path = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
  return {
    index,
    path,
    packedBytes: entry.compressedSize,
    unpackedBytes: entry.uncompressedSize,
    crc32: entry.crc32,
    method: entry.compressionMethod,
    headerPosition: entry.relativeOffsetOfLocalHeader,
    fault: isOverlapping ? OVERLAPPING : faultOf(entry, path),
  };
}

/** All entries together are larger than the archive: they share bytes, as those of a bomb do and no others. */
const OVERLAPPING = "it lies across other entries of its archive";

export const STORED = 0;
export const DEFLATED = 8;
export const ZSTANDARD = 93;

/** What some programs pack with that is not read here. */
const OTHER_METHODS: ReadonlyMap<number, string> = new Map([
  [9, "Deflate64"],
  [12, "bzip2"],
  [14, "LZMA"],
  [95, "xz"],
  [98, "PPMd"],
  [99, "AES"],
]);

function faultOf(entry: Entry, path: string): string | null {
  if (validateFileName(path) !== null || path.includes("\0")) return "its path leads out of the archive";
  if (entry.isEncrypted()) return "it is encrypted: unpack it with its password and give what comes out";
  const { compressionMethod: method } = entry;
  if ([STORED, DEFLATED, ZSTANDARD].includes(method)) return null;
  const name = OTHER_METHODS.get(method) ?? `method ${method}`;
  return `it is packed by ${name}, which is not read here: unpack it and give what comes out`;
}

/** The library's words are for programmers, and a download that was cut off is what most people have. */
function explained(message: string): string {
  if (/End of central directory/i.test(message))
    return "its end is missing, where a zip lists its files: it was not downloaded or copied whole";
  return `its list of files is damaged (${message})`;
}

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;

/** Where the bytes of an entry begin. Throws a `FormatError` where they can't lie there. */
export async function dataPosition(input: RandomInput, entry: ZipEntry): Promise<number> {
  const header = new Uint8Array(HEADER_BYTES);
  const bytesRead = await input.read(header, entry.headerPosition);
  const view = new DataView(header.buffer);
  if (bytesRead < HEADER_BYTES || view.getUint32(0, true) !== HEADER_SIGNATURE)
    throw new FormatError("it does not lie where its archive says");
  const position = entry.headerPosition + HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true);
  if (position + entry.packedBytes > input.sizeBytes)
    throw new FormatError("its archive ends before it does");
  return position;
}

const WINDOW_BYTES = 64 * 1024;

/** Reads ahead, since a directory is read in pieces of some 50 bytes. */
class WindowReader extends RandomAccessReader {
  readonly #input: RandomInput;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;

  constructor(input: RandomInput) {
    super();
    this.#input = input;
  }

  override read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    const copy = () => {
      const from = position - this.#windowStart;
      const bytes = this.#window.subarray(from, from + length);
      buffer.set(bytes, offset);
      callback(null, bytes.length);
    };
    const end = this.#windowStart + this.#window.length;
    if (position >= this.#windowStart && position + length <= end) copy();
    else this.#move(position, length).then(copy, callback);
  }

  async #move(position: number, length: number): Promise<void> {
    const window = new Uint8Array(Math.max(length, WINDOW_BYTES));
    const bytesRead = await this.#input.read(window, position);
    this.#window = window.subarray(0, bytesRead);
    this.#windowStart = position;
  }
}
