import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FormatError } from "../../formats/read/format.ts";
import { type Compression, unzstd } from "../../lib/bytes/unzstd.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { RandomInput } from "../../runtime/inputs.ts";
import { PIECE_BYTES, type StoredFile } from "./source.ts";

/** The file is the operator's own, so it may have any number of frames and blocks. */
export const ANY_NUMBER = { framesMax: Number.POSITIVE_INFINITY, blocksMax: Number.POSITIVE_INFINITY };

/** The content of a compressed file. `spool` writes it to disk for random access. */
export function createUnpackedFile(
  packed: StoredFile,
  compression: Compression,
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
      const unpacked = compression === "zstd" ? unzstd(pieces, ANY_NUMBER) : gunzip(pieces);
      yield* account.bounded(unpacked, () => packedBytesRead);
    } catch (cause) {
      if (cause instanceof FormatError) throw cause;
      throw new FormatError(`its ${compression} data is damaged or cut off (${messageOf(cause)})`, { cause });
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

/** Limits what an import decompresses, so that a small file of many zeros ends with an error instead of a full disk. */
export interface UnpackBudget {
  /** An account for one compressed file; its bytes count once, however often it is read. */
  open(): UnpackAccount;
}

interface UnpackAccount {
  /** Passes the pieces on; throws a `FormatError` if they are too many for the `packedBytes()` read so far. */
  bounded(unpacked: AsyncIterable<Uint8Array>, packedBytes: () => number): AsyncGenerator<Uint8Array>;
}

export const UNPACKED_BYTES_MAX = 64 * 1024 ** 3;

/** Text compresses to 1/100 at best, deflate's longest run of one byte to 1/1,032. */
const RATIO_MAX = 1000;

/** A small file of few different lines may well have a higher ratio. */
const RATIO_FREE_BYTES = 1024 * 1024;

export function createUnpackBudget(bytesMax: number): UnpackBudget {
  let spentBytes = 0;
  return {
    open() {
      let chargedBytes = 0;
      return {
        async *bounded(unpacked, packedBytes) {
          let bytes = 0;
          for await (const piece of unpacked) {
            bytes += piece.length;
            if (bytes > RATIO_FREE_BYTES && bytes > RATIO_MAX * packedBytes())
              throw new FormatError("it unpacks to more than 1,000 times its size, as no history does");
            const moreBytes = Math.max(0, bytes - chargedBytes);
            if (spentBytes + moreBytes > bytesMax)
              throw new FormatError(
                `more than ${gibText(bytesMax)} would be unpacked: --max-bytes allows more`,
              );
            spentBytes += moreBytes;
            chargedBytes += moreBytes;
            yield piece;
          }
        },
      };
    },
  };
}

function gibText(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${Math.floor(bytes / 1024 ** 3)} GiB` : `${bytes} bytes`;
}
