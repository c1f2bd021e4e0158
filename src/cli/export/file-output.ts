import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip, createZstdCompress } from "node:zlib";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { type Files, moveDurably } from "../../runtime/files.ts";

/** A file that is there whole or not at all: it is written under another name beside, and renamed at its end. */
export class FileOutput {
  readonly #files: Files;
  readonly #path: string;
  readonly #draft: string;

  constructor(files: Files, path: string, pid: number) {
    this.#files = files;
    this.#path = path;
    // Containers give their processes the same number: two that write to one directory must not share a draft.
    const hash = createHash("sha256").update(basename(path)).digest("hex").slice(0, 8);
    this.#draft = join(dirname(path), `.wherehouse-export-${pid}-${hash}.partial`);
  }

  /** Writes the pieces. Nothing is left of them if that fails, or if the file is not wanted at the end. */
  async write(pieces: AsyncIterable<Uint8Array>, isWanted: () => boolean): Promise<void> {
    await this.#files.removeAll(this.#draft); // The draft of a killed process with the same number.
    let isWhole = false;
    try {
      await this.#append(pieces);
      if (!isWanted()) return;
      await moveDurably(this.#files, this.#draft, this.#path);
      isWhole = true;
    } finally {
      if (!isWhole) await this.#files.removeAll(this.#draft);
    }
  }

  async #append(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await this.#files.openAppend(this.#draft);
    try {
      for await (const piece of pieces) await file.append([piece]);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** What names of packed files end in. */
export const PACKED_EXTENSIONS: Readonly<Record<Compression, string>> = { gzip: ".gz", zstd: ".zst" };

/** The pieces, packed as they come. */
export function packed(
  pieces: AsyncIterable<Uint8Array>,
  packing: Compression | null,
): AsyncIterable<Uint8Array> {
  if (packing === null) return pieces;
  const packer = packing === "gzip" ? createGzip() : createZstdCompress();
  // A failure is thrown to the reader of the packer.
  return pipeline(Readable.from(pieces, { objectMode: false }), packer, () => undefined);
}
