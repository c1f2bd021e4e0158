import type { Stream } from "./stream/stream.ts";

/** Removes from a stream what nobody needs any more. */
export class Purging {
  readonly #stream: Stream;
  readonly #leftBytes: number;
  #purgedBefore = 0;

  /** A stream of so many bytes is left as it is, or of a quarter of what it may have. */
  constructor(stream: Stream, leftBytes: number) {
    this.#stream = stream;
    this.#leftBytes = leftBytes;
  }

  /** All of them need what begins with this message. Rejects with a `StreamError`. */
  async purge(floor: number): Promise<void> {
    if (floor <= this.#purgedBefore) return;
    if (this.#leftBytes > 0) {
      const { bytes, bytesMax } = await this.#stream.state();
      if (bytes <= Math.min(this.#leftBytes, bytesMax / 4)) return;
    }
    await this.#stream.purgeBefore(floor);
    this.#purgedBefore = floor;
  }
}
