import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import { isSkippable, MAGIC_BYTES, ZstdWalk } from "./zstd-walk.ts";

/*
 * The runtimes' decompressor says nothing where a file is cut off, and Deno's stops after the first frame; both
 * would lose rows in silence. So the frames are walked here, and each has a decompressor of its own.
 */

export interface UnzstdLimits {
  /** Of the pieces that come out. */
  readonly chunkBytes: number;
  /** Each with text costs a decompressor, and each without a turn of promises. */
  readonly framesMax: number;
}

/** The text of zstd data. Throws where it is cut off, is something else, or has too many frames. */
export async function* unzstd(
  pieces: AsyncIterable<Uint8Array>,
  { chunkBytes, framesMax }: UnzstdLimits,
): AsyncGenerator<Uint8Array> {
  for await (const frame of framesOf(pieces, framesMax)) {
    const decompress = createZstdDecompress({ chunkSize: chunkBytes });
    yield* pipeline(Readable.from(frame), decompress, () => undefined);
  }
}

const zstdDecompressAsync = promisify(zstdDecompress);

/**
 * The same for data that lies in memory and is short, frame by frame; throws as `unzstd` does, and with the code
 * `ERR_BUFFER_TOO_LARGE` where a frame has more text than `maxOutputLength`. It takes half the time of a stream, and
 * leaves less for Deno's collector: 15 KB rather than 70.
 */
export async function* unzstdShort(
  bytes: Uint8Array,
  limits: { readonly maxOutputLength: number; readonly chunkSize: number; readonly framesMax: number },
): AsyncGenerator<Uint8Array> {
  const walk = new ZstdWalk();
  let frames = 0;
  for (let start = 0; start < bytes.length; ) {
    if (++frames > limits.framesMax) throw new Error(TOO_MANY_FRAMES);
    const end = walk.walk(bytes, start);
    if (!walk.isBetween) throw new Error(CUT_OFF);
    const frame = bytes.subarray(start, end);
    if (!isSkippable(frame)) yield await zstdDecompressAsync(frame, limits);
    start = end;
  }
}

const TOO_MANY_FRAMES = "the zstd data has too many frames";
const CUT_OFF = "the zstd data is cut off";

/** Frames with text, one after the other: each is to be read to its end before the next. */
async function* framesOf(
  pieces: AsyncIterable<Uint8Array>,
  framesMax: number,
): AsyncGenerator<AsyncGenerator<Uint8Array>> {
  const walk = new ZstdWalk();
  const source = pieces[Symbol.asyncIterator]();
  let piece: Uint8Array = new Uint8Array(0);

  /** Whether there are as many bytes in one piece; false where the data ends before. */
  async function has(bytes: number): Promise<boolean> {
    while (piece.length < bytes) {
      const { done, value } = await source.next();
      if (done === true) return false;
      piece = piece.length === 0 ? value : Buffer.concat([piece, value]);
    }
    return true;
  }

  async function* frame(): AsyncGenerator<Uint8Array> {
    do {
      if (!(await has(1))) throw new Error(CUT_OFF);
      const end = walk.walk(piece, 0);
      const part = piece.subarray(0, end);
      piece = piece.subarray(end);
      yield part;
    } while (!walk.isBetween);
  }

  try {
    for (let frames = 1; await has(1); frames++) {
      if (frames > framesMax) throw new Error(TOO_MANY_FRAMES);
      if (!(await has(MAGIC_BYTES))) throw new Error(CUT_OFF);
      if (!isSkippable(piece)) yield frame();
      else for await (const _ of frame());
    }
  } finally {
    await source.return?.();
  }
}
