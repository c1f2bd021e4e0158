import {
  type Cache,
  Compression,
  type Entry,
  type Header,
  type RangeResponse,
  ResolvedValueCache,
  readVarint,
  type Source,
} from "pmtiles";
import { gunzip } from "../lib/bytes/gunzip.ts";
import { Semaphore } from "../lib/schedule/semaphore.ts";
import type { RandomInput } from "../runtime/inputs.ts";

/** A tile or a directory of a planet is at most some hundred kilobytes; a file that says more is not believed. */
const RANGE_BYTES_MAX = 4 * 1024 * 1024;

/** A client needs no key, and may ask for thousands of tiles at once: bytes are held for this many. */
const READS_MAX = 16;
const OWNER = "";

/** Bytes of an open file for pmtiles. Where they lie is what the file says itself: it may be damaged, or lie. */
export class TileSource implements Source {
  readonly #input: RandomInput;
  readonly #reads = new Semaphore(READS_MAX);

  constructor(input: RandomInput) {
    this.#input = input;
  }

  getKey(): string {
    return this.#input.path;
  }

  async getBytes(offset: number, length: number): Promise<RangeResponse> {
    const isInside = offset >= 0 && length > 0 && offset + length <= this.#input.sizeBytes;
    if (!isInside || length > RANGE_BYTES_MAX)
      throw new Error(`It names ${length} bytes at ${offset}, of ${this.#input.sizeBytes}`);
    return this.#reads.run(OWNER, () => this.#read(offset, length));
  }

  async #read(offset: number, length: number): Promise<RangeResponse> {
    const bytes = new Uint8Array(length);
    const filled = await this.#input.read(bytes, offset);
    if (filled < length)
      throw new Error(`It ends at ${offset + filled}, and had ${this.#input.sizeBytes} bytes`);
    return { data: bytes.buffer };
  }
}

/** Of one directory, which is read in one piece: some 20 ms on a busy machine. A planet's have about 90,000. */
const ENTRIES_MAX = 131_072;
/** Of all that are kept, some 105 bytes each. */
const KEPT_ENTRIES_MAX = 2 * ENTRIES_MAX;
const DIRECTORY_BYTES_MAX = 4 * 1024 * 1024;

/** A directory with its promise while it is read, so that requests that wait for it read it once. */
interface Kept {
  readonly entries: Promise<Entry[]>;
  count: number;
}

/** Keeps the header, which is known, and the directories that were used last. */
export class DirectoryCache implements Cache {
  readonly #header: Header;
  readonly #reader = new ResolvedValueCache(0, false, unpackDirectory); // It keeps nothing.
  readonly #kept = new Map<string, Kept>();
  #count = 0;

  constructor(header: Header) {
    this.#header = header;
  }

  getHeader(): Promise<Header> {
    return Promise.resolve(this.#header);
  }

  getDirectory(source: Source, offset: number, length: number, header: Header): Promise<Entry[]> {
    const key = `${offset} ${length}`;
    const kept = this.#kept.get(key) ?? this.#read(key, source, offset, length, header);
    this.#kept.delete(key); // To the end of the line.
    this.#kept.set(key, kept);
    return kept.entries;
  }

  /** For files that change, as this one doesn't while it is open. */
  async invalidate(): Promise<void> {}

  #read(key: string, source: Source, offset: number, length: number, header: Header): Kept {
    const entries = this.#reader.getDirectory(source, offset, length, header);
    const kept: Kept = { entries, count: 0 };
    entries.then(
      ({ length: count }) => {
        kept.count = count;
        this.#count += count;
        this.#drop();
      },
      () => this.#kept.delete(key), // The next one tries again.
    );
    return kept;
  }

  #drop(): void {
    for (const [key, { count }] of this.#kept) {
      if (this.#count <= KEPT_ENTRIES_MAX) return;
      if (count === 0) continue; // It is being read.
      this.#kept.delete(key);
      this.#count -= count;
    }
  }
}

/** What pmtiles would take for a list of billions is refused before it begins. */
async function unpackDirectory(buffer: ArrayBuffer, compression: number): Promise<ArrayBuffer> {
  const bytes = await unpack(new Uint8Array(buffer), compression, DIRECTORY_BYTES_MAX);
  const count = readVarint({ buf: bytes, pos: 0 });
  if (!(count <= ENTRIES_MAX)) throw new Error(`A directory says that it has ${count} entries`);
  return bytes.buffer;
}

/** Bytes of a file that is packed by gzip or not at all. */
export async function unpack(
  bytes: Uint8Array,
  compression: Compression,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return compression === Compression.None ? new Uint8Array(bytes) : await gunzip(bytes, bytesMax);
}
