import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import { BLOCK_TEXT_BYTES_MAX, declaredTextBytes, isSkippable, MAGIC_BYTES, ZstdWalk } from "./zstd-walk.ts";

/*
 * The runtimes' decompressor says nothing where a file is cut off, and Deno's stops after the first frame; both
 * would lose rows in silence. So the frames are walked here, and each has a decompressor of its own.
 *
 * Deno's throws an error past everybody, which ends the process, where it comes up after the first chunk of text that
 * a write gives. A block is read whole before any of its text is given, so each is written by itself.
 */

/** How a body, an answer or a file is compressed. */
export type Compression = "gzip" | "zstd";

export interface UnzstdLimits {
  /** Each with text costs a decompressor, and each without a turn of promises. */
  readonly framesMax: number;
  /** Blocks with text, of all frames: each costs a step of a stream. */
  readonly blocksMax: number;
}

/** Of the pieces that come out. */
const CHUNK_BYTES = 64 * 1024;

/** The text of zstd data. Throws where it is cut off, is something else, or has too many frames or blocks. */
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
 * The frames of data that lies in memory, those without text left out, where none has more than a block of text; else
 * null. Throws as `unzstd` does.
 */
export function shortFrames(bytes: Uint8Array, { framesMax }: UnzstdLimits): Uint8Array[] | null {
  const walk = new ZstdWalk();
  const found: Uint8Array[] = [];
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
    if (!isSkippable(frame)) found.push(frame);
    start = end;
  }
  return found;
}

const zstdDecompressAsync = promisify(zstdDecompress);

/**
 * The text of short frames, each by one call into one chunk that holds all of it: that takes half the time of a stream
 * and leaves less for Deno's collector.
 */
export async function* unzstdShort(frames: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const frame of frames) {
    const textBytes = Math.min(declaredTextBytes(frame) ?? BLOCK_TEXT_BYTES_MAX, BLOCK_TEXT_BYTES_MAX);
    yield await zstdDecompressAsync(frame, { chunkSize: Math.max(textBytes + 1, CHUNK_BYTES_MIN) });
  }
}

/** The least that zlib's streams take. */
const CHUNK_BYTES_MIN = 64;

const TOO_MANY_FRAMES = "the zstd data has too many frames";
const TOO_MANY_BLOCKS = "the zstd data has too many blocks";
const CUT_OFF = "the zstd data is cut off";

/** Frames with text, one after the other: each is to be read to its end before the next. */
async function* framesOf(
  pieces: AsyncIterable<Uint8Array>,
  { framesMax, blocksMax }: UnzstdLimits,
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
