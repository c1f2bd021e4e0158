import { pipeline, Readable } from "node:stream";
import { createGzip, createZstdCompress } from "node:zlib";
import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { type MaybePromise, mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { GZIP_FASTEST, ZSTD_FASTEST } from "./compression.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Answers up to this size are sent whole, with their length. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/**
 * How much of a longer answer is created before the client has received the rest. Compression sends each piece to
 * another thread and back, and each chunk of its output too.
 */
const PIECE_BYTES = 256 * 1024;
const COMPRESSED_CHUNK_BYTES = 128 * 1024;

export interface Piecewise {
  /** The body if it is short; null if there is more. */
  readonly whole: Bytes | null;
  /** The whole body, created no faster than it is consumed. */
  pieces(): AsyncIterable<Bytes>;
  /** Releases the body. Required, whether reading has begun or not. */
  close(): void;
}

/** Creates the beginning of a body, in turns with other work of the owner and of other owners. */
export function beginPiecewise(
  scheduler: Scheduler,
  owner: string,
  signal: AbortSignal,
  body: Iterable<Bytes>,
): MaybePromise<Piecewise> {
  const pieces = body[Symbol.iterator]();

  function* create(bytesMin: number): Steps<Part> {
    const parts: Bytes[] = [];
    for (let length = 0; length < bytesMin; yield) {
      const next = pieces.next();
      if (next.done === true) return { bytes: joinBytes(parts), isLast: true };
      parts.push(next.value);
      length += next.value.length;
    }
    return { bytes: joinBytes(parts), isLast: false };
  }

  async function* all({ bytes, isLast }: Part): AsyncIterable<Bytes> {
    try {
      yield bytes;
      for (let isOver = isLast; !isOver; ) {
        const part = await scheduler.runAtOnce(owner, signal, create(PIECE_BYTES));
        yield part.bytes;
        isOver = part.isLast;
      }
    } finally {
      close();
    }
  }

  const close = () => void pieces.return?.();

  const created = scheduler.runAtOnce(owner, signal, create(WHOLE_BYTES_MAX));
  if (created instanceof Promise) created.catch(close);
  return mapMaybe(created, (beginning) => ({
    whole: beginning.isLast ? beginning.bytes : null,
    pieces: () => all(beginning),
    close,
  }));
}

interface Part {
  readonly bytes: Bytes;
  readonly isLast: boolean;
}

/** A body to send. `close` releases it, whether reading has begun or not. */
export interface Sendable extends Pick<Piecewise, "pieces"> {
  close?(): void;
}

/** For a HEAD. */
export const NO_FILE: Sendable = { pieces: async function* () {} };

/** The body as a stream that creates no more than the client reads. */
export function streamOf(body: Sendable, coding: Compression | null): ReadableStream<Uint8Array> {
  const pieces = body.pieces();
  return readableFrom(coding === null ? pieces : compressed(pieces, coding), () => body.close?.());
}

/** Starts when the first piece is requested: only then does a caller receive errors. */
async function* compressed(body: AsyncIterable<Bytes>, coding: Compression): AsyncGenerator<Uint8Array> {
  const compressor =
    coding === "gzip"
      ? createGzip({ ...GZIP_FASTEST, chunkSize: COMPRESSED_CHUNK_BYTES })
      : createZstdCompress({ ...ZSTD_FASTEST, chunkSize: COMPRESSED_CHUNK_BYTES });
  yield* pipeline(Readable.from(body, { objectMode: false }), compressor, () => undefined);
}

function readableFrom(body: AsyncIterable<Uint8Array>, onCancel: () => void): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await pieces.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        onCancel();
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
