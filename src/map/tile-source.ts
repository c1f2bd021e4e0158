import type { RangeResponse, Source } from "pmtiles";
import { Semaphore } from "../lib/schedule/semaphore.ts";
import type { RandomInput } from "../runtime/inputs.ts";

/** A tile or a directory of a planet is at most some hundred kilobytes; whoever says more is believed no word. */
const RANGE_BYTES_MAX = 4 * 1024 * 1024;

/** Whoever asks needs no key, and may ask for thousands of tiles at once: bytes are held for so many of them. */
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
