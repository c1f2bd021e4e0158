import { gunzip } from "../lib/bytes/gunzip.ts";
import { Semaphore } from "../lib/schedule/semaphore.ts";

/** A tile of a planet has a megabyte or two. Deno unpacks it in one turn: 16 MiB took 30 ms. */
const UNPACKED_BYTES_MAX = 8 * 1024 * 1024;

/** As many as there are threads for it. Whoever asks needs no key: what waits is held as it lies in the file. */
const UNPACKING_MAX = 4;
const OWNER = "";

/** Unpacks tiles for whoever doesn't take them gzipped: hardly anybody, since browsers do. */
export class TileUnpacker {
  readonly #unpacking = new Semaphore(UNPACKING_MAX);
  readonly #gunzip: typeof gunzip;

  constructor(unpack = gunzip) {
    this.#gunzip = unpack;
  }

  /** Rejects where the tile is no gzip, or unpacks to more than a tile has. */
  unpack(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    return this.#unpacking.run(OWNER, () => this.#gunzip(packed, UNPACKED_BYTES_MAX));
  }
}
