import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FormatError } from "../../formats/read/format-error.ts";
import { unzstd } from "../../lib/bytes/unzstd.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { RandomInput } from "../../runtime/inputs/inputs.ts";
import { PIECE_BYTES, type StoredFile } from "./stored-file.ts";
import type { UnpackBudget } from "./unpack-budget.ts";

/** How a single file is packed. */
export type Packing = "gzip" | "zstd";

/** A file is the operator's: it may have any number of them. */
export const ANY_NUMBER = { framesMax: Number.POSITIVE_INFINITY, blocksMax: Number.POSITIVE_INFINITY };

/** What a packed file holds. `spool` puts bytes aside on the disk. */
export function createUnpackedFile(
  packed: StoredFile,
  packing: Packing,
  budget: UnpackBudget,
  spool: (pieces: AsyncIterable<Uint8Array>) => Promise<RandomInput>,
): StoredFile {
  const account = budget.open();

  async function* read(onRead: (packedBytesRead: number) => void): AsyncGenerator<Uint8Array> {
    let packedBytesRead = 0;
    const pieces = packed.pieces((bytesRead) => {
      packedBytesRead = bytesRead;
      onRead(bytesRead);
    });
    try {
      const unpacked = packing === "zstd" ? unzstd(pieces, ANY_NUMBER) : gunzip(pieces);
      yield* account.bounded(unpacked, () => packedBytesRead);
    } catch (cause) {
      if (cause instanceof FormatError) throw cause;
      throw new FormatError(`its ${packing} data is damaged or cut off (${messageOf(cause)})`, { cause });
    }
  }

  return {
    ...packed,
    name: packed.name.replace(/\.(gz|zst)$/i, ""),
    pieces: (onRead = () => {}) => read(onRead),
    openRandom: () => spool(read(() => {})),
  };
}

function gunzip(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(pieces), createGunzip({ chunkSize: PIECE_BYTES }), () => undefined);
}
