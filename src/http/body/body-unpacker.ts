import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { type Compression, shortFrames, unzstd, unzstdShort } from "../../lib/bytes/unzstd.ts";
import { ZstdWalk } from "../../lib/bytes/zstd-walk.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";

/** One turn of the event loop each. With the usual 16 KiB a large body takes a third longer, a bomb twice as long. */
const PIECE_BYTES = 64 * 1024;

/** For zstd: a client writes one frame, or one for each of its buffers, and may end a block after each report. */
const ZSTD_LIMITS = { framesMax: 1000, blocksMax: 2 * BATCH_REPORTS_MAX };

/**
 * Compressed bodies up to this size are decompressed by one call, which is faster. Longer ones are fed in pieces: Deno
 * decompresses on the event loop, and 64 KiB of empty blocks or members take a millisecond.
 */
const AT_ONCE_BYTES_MAX = 64 * 1024;

/** The limit of the output of one call, which Deno produces in one turn: 16 MiB took 30 ms. */
const AT_ONCE_TEXT_BYTES_MAX = 1024 * 1024;

/**
 * A body's decompressed size is known only afterwards, and only then is its share charged, so the number of bodies in
 * progress is limited to the number of threads. Otherwise output would pile up while the event loop is busy.
 */
const UNPACKING_MAX = 4;

/** Decompresses the bodies of a server's requests. */
export class BodyUnpacker {
  readonly #unpacking = new Semaphore(UNPACKING_MAX);

  /** Passes the decompressed body to `take`, piece by piece, in the owner's turn. Throws if the body is invalid. */
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

/** Null if the output is long. */
async function unpackShortGzip(packed: Uint8Array): Promise<Uint8Array | null> {
  try {
    return await gunzipAsync(packed, { maxOutputLength: AT_ONCE_TEXT_BYTES_MAX, chunkSize: PIECE_BYTES });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

function unpackZstd(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  if (packed.length === 0) throw new Error("empty zstd data: at least one frame is required");
  const frames = packed.length <= AT_ONCE_BYTES_MAX ? shortFrames(packed, ZSTD_LIMITS) : null;
  return frames === null ? unpackLongZstd(packed) : inTurns(unzstdShort(frames));
}

/** Counts frames before decompression: each costs a decompressor, and a million of them cost seconds. */
async function* unpackLongZstd(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const walk = new ZstdWalk();
  let frames = 0;
  for await (const piece of inTurns(piecesOf(packed))) {
    for (let at = 0; at < piece.length; ) {
      at = walk.walk(piece, at);
      if (walk.isBetween && ++frames > ZSTD_LIMITS.framesMax) throw new Error("too many zstd frames");
    }
  }
  yield* inTurns(unzstd(inTurns(piecesOf(packed)), ZSTD_LIMITS));
}

function* piecesOf(packed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += PIECE_BYTES) yield packed.subarray(at, at + PIECE_BYTES);
}

/** Yields to the event loop between pieces: Deno decompresses on the event loop without yielding. */
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

/** How long decompression may run before it yields. */
const TURN_MS = 5;
