import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip, createZstdCompress } from "node:zlib";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { type Files, moveDurably } from "../../runtime/files.ts";

/** Writes a file under a temporary name in its folder and renames it at the end, so that it is complete or missing. */
export class FileOutput {
  readonly #files: Files;
  readonly #path: string;
  readonly #draft: string;

  constructor(files: Files, path: string, pid: number) {
    this.#files = files;
    this.#path = path;
    // Containers reuse process ids: two that write to one directory must not share a draft.
    const hash = createHash("sha256").update(basename(path)).digest("hex").slice(0, 8);
    this.#draft = join(dirname(path), `.wherehouse-export-${pid}-${hash}.partial`);
  }

  /** Writes the file. Removes the draft if that fails, or if the file is not wanted at the end. */
  async write(pieces: AsyncIterable<Uint8Array>, isWanted: () => boolean): Promise<void> {
    await this.#files.removeAll(this.#draft); // A killed process with the same id may have left one.
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

export const COMPRESSED_EXTENSIONS: Readonly<Record<Compression, string>> = { gzip: ".gz", zstd: ".zst" };

export function compressed(
  pieces: AsyncIterable<Uint8Array>,
  compression: Compression | null,
): AsyncIterable<Uint8Array> {
  if (compression === null) return pieces;
  const compressor = compression === "gzip" ? createGzip() : createZstdCompress();
  // The reader of the result gets the error of a failure.
  return pipeline(Readable.from(pieces, { objectMode: false }), compressor, () => undefined);
}

/** Pieces on their way to a file, until the process must stop. */
export async function* watched(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onPiece: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    onPiece(piece.length);
    yield piece;
  }
}
