import { pipeline, Readable } from "node:stream";
import { createGzip, createZstdCompress } from "node:zlib";
import type { Packing } from "./command.ts";

/** What names of packed files end in. */
export const PACKED_EXTENSIONS: Readonly<Record<Packing, string>> = { gzip: ".gz", zstd: ".zst" };

/** The pieces, packed as they come. */
export function packed(
  pieces: AsyncIterable<Uint8Array>,
  packing: Packing | null,
): AsyncIterable<Uint8Array> {
  if (packing === null) return pieces;
  const packer = packing === "gzip" ? createGzip() : createZstdCompress();
  // What fails is thrown to whoever reads the packer.
  return pipeline(Readable.from(pieces, { objectMode: false }), packer, () => undefined);
}
