import { FormatError } from "../../formats/read/format-error.ts";

/** Bounds what an import unpacks, so that a small file that unpacks to a disk full of zeros ends with an error. */
export interface UnpackBudget {
  /** What one packed file gives; its bytes count once, however often it is read. */
  open(): UnpackAccount;
}

export interface UnpackAccount {
  /** The pieces as they come; throws a `FormatError` where they are too many, of `packedBytes()` read so far. */
  bounded(unpacked: AsyncIterable<Uint8Array>, packedBytes: () => number): AsyncGenerator<Uint8Array>;
}

export const UNPACKED_BYTES_MAX = 64 * 1024 ** 3;

/** Text packs to a hundredth at best, deflate's longest run of one byte to 1/1,032. */
const RATIO_MAX = 1000;

/** A small file of few different lines may well be packed tighter. */
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
