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

/** A tile or a directory of a planet has at most some hundred kilobytes; a file that claims more is damaged. */
const RANGE_BYTES_MAX = 4 * 1024 * 1024;

/** Requests for tiles need no key and may come by the thousand: at most this many reads run concurrently. */
const READS_MAX = 16;
const OWNER = "";

/** Bytes of an open file for pmtiles. Offsets come from the file itself, which may be damaged or malicious. */
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
      throw new Error(`It refers to ${length} bytes at ${offset}, but has ${this.#input.sizeBytes}`);
    return this.#reads.run(OWNER, () => this.#read(offset, length));
  }

  async #read(offset: number, length: number): Promise<RangeResponse> {
    const bytes = new Uint8Array(length);
    const filled = await this.#input.read(bytes, offset);
    if (filled < length)
      throw new Error(`It now ends at ${offset + filled}; it had ${this.#input.sizeBytes} bytes`);
    return { data: bytes.buffer };
  }
}

/** A directory is parsed without yielding, in about 20 ms on a busy machine. A planet's have about 90,000 entries. */
const ENTRIES_MAX = 131_072;
/** The entries of all cached directories, about 105 bytes each. */
const CACHED_ENTRIES_MAX = 2 * ENTRIES_MAX;
const DIRECTORY_BYTES_MAX = 4 * 1024 * 1024;

/** A cached directory. Its promise lets concurrent requests share one read. */
interface CachedDirectory {
  readonly entries: Promise<Entry[]>;
  count: number;
}

/** Caches the header and the most recently used directories. */
export class DirectoryCache implements Cache {
  readonly #header: Header;
  readonly #reader = new ResolvedValueCache(0, false, unpackDirectory); // Its size is 0, so it caches nothing.
  readonly #directories = new Map<string, CachedDirectory>();
  #count = 0;

  constructor(header: Header) {
    this.#header = header;
  }

  getHeader(): Promise<Header> {
    return Promise.resolve(this.#header);
  }

  getDirectory(source: Source, offset: number, length: number, header: Header): Promise<Entry[]> {
    const key = `${offset} ${length}`;
    const directory = this.#directories.get(key) ?? this.#read(key, source, offset, length, header);
    this.#directories.delete(key); // A new insertion makes it the most recently used one.
    this.#directories.set(key, directory);
    return directory.entries;
  }

  /** Does nothing: an open file does not change. */
  async invalidate(): Promise<void> {}

  #read(key: string, source: Source, offset: number, length: number, header: Header): CachedDirectory {
    const entries = this.#reader.getDirectory(source, offset, length, header);
    const directory: CachedDirectory = { entries, count: 0 };
    entries.then(
      ({ length: count }) => {
        directory.count = count;
        this.#count += count;
        this.#drop();
      },
      () => this.#directories.delete(key), // The next request tries again.
    );
    return directory;
  }

  #drop(): void {
    for (const [key, { count }] of this.#directories) {
      if (this.#count <= CACHED_ENTRIES_MAX) return;
      if (count === 0) continue; // It is being read.
      this.#directories.delete(key);
      this.#count -= count;
    }
  }
}

/** Rejects a directory with too many entries before pmtiles allocates a list for them. */
async function unpackDirectory(buffer: ArrayBuffer, compression: number): Promise<ArrayBuffer> {
  const bytes = await unpack(new Uint8Array(buffer), compression, DIRECTORY_BYTES_MAX);
  const count = readVarint({ buf: bytes, pos: 0 });
  if (!(count <= ENTRIES_MAX)) throw new Error(`A directory claims to have ${count} entries`);
  return bytes.buffer;
}

/** Decompresses bytes that are gzip or not compressed. */
export async function unpack(
  bytes: Uint8Array,
  compression: Compression,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return compression === Compression.None ? new Uint8Array(bytes) : await gunzip(bytes, bytesMax);
}
