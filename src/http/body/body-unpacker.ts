import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { type Compression, shortFrames, unzstd, unzstdShort } from "../../lib/bytes/unzstd.ts";
import { ZstdWalk } from "../../lib/bytes/zstd-walk.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";

/**
 * A turn of the event loop each: in pieces of the usual 16 KiB a large body takes a third longer, a bomb twice as long.
 */
const PIECE_BYTES = 64 * 1024;

/** Of a zstd body: a client makes one frame, or one for each of its buffers, and may end a block after each report. */
const ZSTD_LIMITS = { framesMax: 1000, blocksMax: 2 * BATCH_REPORTS_MAX };

/**
 * Packed bodies up to this are unpacked by one call, which is faster. Longer ones are fed to it in pieces: Deno works
 * on a piece on the event loop, and 64 KiB of empty blocks or members take a millisecond.
 */
const AT_ONCE_BYTES_MAX = 64 * 1024;

/** What a gzip body unpacked by one call may unpack to, which Deno does in one turn: 16 MiB took 30 ms. */
const AT_ONCE_TEXT_BYTES_MAX = 1024 * 1024;

/**
 * What a body unpacks to is known afterwards, and then the share is asked: as many are unpacked at once as there are
 * threads for it. What is unpacked while the event loop is busy would pile up else.
 */
const UNPACKING_MAX = 4;

/** Unpacks the bodies of a server's requests. */
export class BodyUnpacker {
  readonly #unpacking = new Semaphore(UNPACKING_MAX);

  /**
   * Lets `take` have the text of a packed body, piece by piece, when the owner's turn has come. Throws where the body
   * is not what its coding says.
   */
  unpack<Value>(
    packed: Uint8Array,
    coding: Compression,
    owner: string,
    take: (text: AsyncIterable<Uint8Array>) => Promise<Value>,
  ): Promise<Value> {
    const unpack = coding === "gzip" ? unpackGzip : unpackZstd;
    return this.#unpacking.run(owner, () => take(unpack(packed)));
  }
}

const gunzipAsync = promisify(gunzip);

async function* unpackGzip(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const text = packed.length <= AT_ONCE_BYTES_MAX ? await unpackShortGzip(packed) : null;
  if (text !== null) {
    yield text;
    return;
  }
  const decompress = createGunzip({ chunkSize: PIECE_BYTES });
  yield* inTurns(pipeline(Readable.from(inTurns(piecesOf(packed))), decompress, () => undefined));
}

/** Null where the text is long. */
async function unpackShortGzip(packed: Uint8Array): Promise<Uint8Array | null> {
  try {
    return await gunzipAsync(packed, { maxOutputLength: AT_ONCE_TEXT_BYTES_MAX, chunkSize: PIECE_BYTES });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

function unpackZstd(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  if (packed.length === 0) throw new Error("zstd data has at least one frame");
  const frames = packed.length <= AT_ONCE_BYTES_MAX ? shortFrames(packed, ZSTD_LIMITS) : null;
  return frames === null ? unpackLongZstd(packed) : inTurns(unzstdShort(frames));
}

/** Frames are counted before anything is unpacked: each costs a decompressor of its own, a million of them seconds. */
async function* unpackLongZstd(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const walk = new ZstdWalk();
  let frames = 0;
  for await (const piece of inTurns(piecesOf(packed))) {
    for (let at = 0; at < piece.length; ) {
      at = walk.walk(piece, at);
      if (walk.isBetween && ++frames > ZSTD_LIMITS.framesMax) throw new Error("there are too many frames");
    }
  }
  yield* inTurns(unzstd(inTurns(piecesOf(packed)), ZSTD_LIMITS));
}

function* piecesOf(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += PIECE_BYTES) yield packed.subarray(at, at + PIECE_BYTES);
}

/** A turn of the event loop between any two pieces: Deno unpacks on the event loop, and begins none by itself. */
async function* inTurns(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (!isFirst) await nextTurn(TURN_MS);
    isFirst = false;
    yield piece;
  }
}

/** What may be unpacked in turns that follow each other at once. */
const TURN_MS = 5;
