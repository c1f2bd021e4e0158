import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  validateFileName,
} from "yauzl";
import { FormatError } from "../../formats/read/format.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { RandomInput } from "../../runtime/inputs.ts";

/** A file in a zip archive, according to the archive's directory. */
export interface ZipEntry {
  /** From 0; two entries may have the same path. */
  readonly index: number;
  /** With `/` between folders. */
  readonly path: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly crc32: number;
  readonly method: number;
  /** The position of its local header in the archive. */
  readonly headerPosition: number;
  /** Why it can't be read; null if no reason is known. */
  readonly fault: string | null;
}

/**
 * The files of a zip archive one by one, in the order of its directory: a million need no more memory than one. Throws
 * a `FormatError` if the directory, or the rest of it, can't be read.
 */
export async function* zipEntries(input: RandomInput): AsyncGenerator<ZipEntry> {
  try {
    // Names and sizes are checked here one by one: yauzl would reject the whole archive for one bad entry.
    const options = { decodeStrings: false, validateEntrySizes: false, autoClose: false };
    const zip = await fromRandomAccessReaderPromise(new WindowReader(input), input.sizeBytes, options);
    // The library declares this number as a boolean.
    const overlapping = await findOverlapping(
      input,
      zip.readEntryCursor as unknown as number,
      zip.entryCount,
    );
    let index = 0;
    for await (const listed of zip.eachEntry()) {
      const entry = entryOf(listed, index, overlapping.has(index));
      index++;
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

const OVERLAPPING = "it lies across other entries of its archive";

const CENTRAL_HEADER_BYTES = 46;
const CENTRAL_SIGNATURE = 0x02014b50;
const ZIP64_EXTRA = 1;
const ZIP64 = 0xffffffff;

/** No history has more files. Each one's position takes 16 bytes. */
const ENTRIES_MAX = 1 << 20;
/** Damage may make a few entries overlap others; all entries of a zip bomb do. */
const OVERLAPPING_MAX = 16;

/**
 * The indexes of entries that share bytes with others. Throws a `FormatError` if they are many, before any is
 * decompressed: an archive of a few megabytes with overlapping entries can decompress to a terabyte.
 */
async function findOverlapping(
  input: RandomInput,
  directoryStart: number,
  entryCount: number,
): Promise<ReadonlySet<number>> {
  if (entryCount > ENTRIES_MAX)
    throw new FormatError(
      `it lists more than ${ENTRIES_MAX.toLocaleString("en-US")} files, as no history does`,
    );
  const { starts, ends, count } = await findPlaces(input, directoryStart, entryCount);
  // Of overlapping entries the one that ends first is valid, so an entry with a wrong length invalidates only itself.
  const byEnd = Uint32Array.from({ length: count }, (_, index) => index).sort((a, b) => ends[a]! - ends[b]!);
  const overlapping = new Set<number>();
  let lastEnd = 0;
  for (const index of byEnd) {
    if (ends[index]! > input.sizeBytes) break; // Reading these entries fails with its own message.
    if (starts[index]! >= lastEnd) lastEnd = ends[index]!;
    else if (overlapping.add(index).size > OVERLAPPING_MAX)
      throw new FormatError("its files lie across each other, as those of no real archive do");
  }
  return overlapping;
}

/** The byte ranges of entries with their headers, as far as the directory can be read. */
async function findPlaces(input: RandomInput, directoryStart: number, entryCount: number) {
  const starts = new Float64Array(entryCount);
  const ends = new Float64Array(entryCount);
  let window = new Uint8Array(0);
  let windowStart = directoryStart;
  let count = 0;
  for (let at = directoryStart; count < entryCount; count++) {
    // An entry has at most 46 bytes and three parts of 64 KiB.
    if (at + ENTRY_BYTES_MAX > windowStart + window.length && windowStart + window.length < input.sizeBytes) {
      window = new Uint8Array(DIRECTORY_WINDOW_BYTES);
      window = window.subarray(0, await input.read(window, at));
      windowStart = at;
    }
    const header = new DataView(
      window.buffer,
      at - windowStart,
      Math.max(0, windowStart + window.length - at),
    );
    if (header.byteLength < CENTRAL_HEADER_BYTES || header.getUint32(0, true) !== CENTRAL_SIGNATURE) break;
    const nameBytes = header.getUint16(28, true);
    const extraBytes = header.getUint16(30, true);
    const { packedBytes, position } = placeOf(header, CENTRAL_HEADER_BYTES + nameBytes, extraBytes);
    starts[count] = position;
    ends[count] = position + HEADER_BYTES + packedBytes;
    at += CENTRAL_HEADER_BYTES + nameBytes + extraBytes + header.getUint16(32, true);
  }
  return { starts, ends, count };
}

const ENTRY_BYTES_MAX = CENTRAL_HEADER_BYTES + 3 * 64 * 1024;
const DIRECTORY_WINDOW_BYTES = 1024 * 1024;

/** For an entry of more than 4 GiB an extra field has the values that don't fit the header. */
function placeOf(header: DataView, extraStart: number, extraBytes: number) {
  let packedBytes = header.getUint32(20, true);
  let position = header.getUint32(42, true);
  const extraEnd = Math.min(extraStart + extraBytes, header.byteLength);
  for (let at = extraStart; at + 4 <= extraEnd; at += 4 + header.getUint16(at + 2, true)) {
    if (header.getUint16(at, true) !== ZIP64_EXTRA) continue;
    let field = at + 4 + (header.getUint32(24, true) === ZIP64 ? 8 : 0);
    const next = () => {
      const value = field + 8 <= extraEnd ? Number(header.getBigUint64(field, true)) : 0;
      field += 8;
      return value;
    };
    if (packedBytes === ZIP64) packedBytes = next();
    if (position === ZIP64) position = next();
    break;
  }
  return { packedBytes, position };
}

export const STORED = 0;
export const DEFLATED = 8;
export const ZSTANDARD = 93;

/** Compression methods of some programs that are not supported. */
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

/** The library's messages are for programmers, and the most frequent cause is an incomplete download. */
function explained(message: string): string {
  if (/End of central directory/i.test(message))
    return "its end is missing, where a zip lists its files: it was not downloaded or copied whole";
  return `its list of files is damaged (${message})`;
}

const HEADER_BYTES = 30;
const HEADER_SIGNATURE = 0x04034b50;

/** The position of an entry's data. Throws a `FormatError` if it can't be there. */
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

/** Reads ahead, because a directory is read in pieces of about 50 bytes. */
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
