import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import { BLOCK_TEXT_BYTES_MAX, declaredTextBytes, isSkippable, MAGIC_BYTES, ZstdWalk } from "./zstd-walk.ts";

// The runtimes' decompressor does not report a truncated file, and Deno's stops after the first frame; both would
// silently lose rows. So the frames are parsed here, and each gets a decompressor of its own.
//
// If Deno's decompressor fails after the first chunk of output of a write, it throws an uncaught error, which ends the
// process. It reads a block completely before any output, so each block is written separately.

/** How a body, an answer or a file is compressed. */
export type Compression = "gzip" | "zstd";

export interface UnzstdLimits {
  /** Each frame with text costs a decompressor, and each without text a turn of promises. */
  readonly framesMax: number;
  /** Blocks with text, in all frames. Each costs a step of a stream. */
  readonly blocksMax: number;
}

/** The size of output chunks. */
const CHUNK_BYTES = 64 * 1024;

/** The text of zstd data. Throws if it is truncated, is something else, or has too many frames or blocks. */
export async function* unzstd(
  pieces: AsyncIterable<Uint8Array>,
  limits: UnzstdLimits,
): AsyncGenerator<Uint8Array> {
  for await (const frame of framesOf(pieces, limits)) yield* streamed(frame);
}

function streamed(frame: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(frame), createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
}

/**
 * The frames with text of data in memory, if none has more than one block with text; else null. Throws like `unzstd()`.
 */
export function shortFrames(bytes: Uint8Array, { framesMax }: UnzstdLimits): Uint8Array[] | null {
  const walk = new ZstdWalk();
  const withText: Uint8Array[] = [];
  let frames = 0;
  for (let start = 0; start < bytes.length; ) {
    if (++frames > framesMax) throw new Error(TOO_MANY_FRAMES);
    const { blocks } = walk;
    let end = start;
    do end = walk.walk(bytes, end);
    while (!walk.isBetween && end < bytes.length);
    if (walk.blocks > blocks + 1) return null;
    if (!walk.isBetween) throw new Error(CUT_OFF);
    const frame = bytes.subarray(start, end);
    if (!isSkippable(frame)) withText.push(frame);
    start = end;
  }
  return withText;
}

const zstdDecompressAsync = promisify(zstdDecompress);

/**
 * The text of short frames, each decompressed by one call into one chunk. That takes half the time of a stream, and
 * leaves less garbage in Deno.
 */
export async function* unzstdShort(frames: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const frame of frames) {
    const textBytes = Math.min(declaredTextBytes(frame) ?? BLOCK_TEXT_BYTES_MAX, BLOCK_TEXT_BYTES_MAX);
    yield await zstdDecompressAsync(frame, { chunkSize: Math.max(textBytes + 1, CHUNK_BYTES_MIN) });
  }
}

/** The least chunk size that zlib's streams accept. */
const CHUNK_BYTES_MIN = 64;

const TOO_MANY_FRAMES = "the zstd data has too many frames";
const TOO_MANY_BLOCKS = "the zstd data has too many blocks";
const CUT_OFF = "the zstd data is cut off";

/** Yields the frames with text. The caller must read each to its end before the next. */
async function* framesOf(
  pieces: AsyncIterable<Uint8Array>,
  { framesMax, blocksMax }: UnzstdLimits,
): AsyncGenerator<AsyncGenerator<Uint8Array>> {
  const walk = new ZstdWalk();
  const source = pieces[Symbol.asyncIterator]();
  let piece: Uint8Array = new Uint8Array(0);

  /** Waits until `piece` has this many bytes; false if the data ends before. */
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
      if (walk.blocks > blocksMax) throw new Error(TOO_MANY_BLOCKS);
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
