import { pipeline, Readable } from "node:stream";
import { createGzip, createZstdCompress } from "node:zlib";
import { joinBytes } from "../../lib/bytes/growing-bytes.ts";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { type MaybePromise, whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { GZIP_FASTEST, ZSTD_FASTEST } from "./compression.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Answers up to this are sent whole, with their length. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/**
 * What is made of a longer one before the client has taken what was sent. Each piece is a trip to another thread and
 * back where it is packed, and so is each chunk of what comes out.
 */
const PIECE_BYTES = 256 * 1024;
const PACKED_CHUNK_BYTES = 128 * 1024;

/** A body that is made piece by piece. */
export interface Piecewise {
  /** The body, where it is short; null where there is more of it than was made yet. */
  readonly whole: Bytes | null;
  /** All of it, no faster than it is taken. */
  pieces(): AsyncIterable<Bytes>;
  /** Nobody wants it any more, begun or not. */
  close(): void;
}

/** Makes the beginning of a body, in turns with other work of the owner and of others. */
export function beginPiecewise(
  scheduler: Scheduler,
  owner: string,
  signal: AbortSignal,
  body: Iterable<Bytes>,
): MaybePromise<Piecewise> {
  const pieces = body[Symbol.iterator]();

  function* make(bytesMin: number): Steps<Made> {
    const made: Bytes[] = [];
    for (let length = 0; length < bytesMin; yield) {
      const next = pieces.next();
      if (next.done === true) return { bytes: joinBytes(made), isLast: true };
      made.push(next.value);
      length += next.value.length;
    }
    return { bytes: joinBytes(made), isLast: false };
  }

  async function* all({ bytes, isLast }: Made): AsyncIterable<Bytes> {
    try {
      yield bytes;
      for (let isOver = isLast; !isOver; ) {
        const made = await scheduler.runAtOnce(owner, signal, make(PIECE_BYTES));
        yield made.bytes;
        isOver = made.isLast;
      }
    } finally {
      close();
    }
  }

  const close = () => void pieces.return?.();

  return whenThere(scheduler.runAtOnce(owner, signal, make(WHOLE_BYTES_MAX)), (begun) => ({
    whole: begun.isLast ? begun.bytes : null,
    pieces: () => all(begun),
    close,
  }));
}

/** Some of a body, one piece or several. */
interface Made {
  readonly bytes: Bytes;
  readonly isLast: boolean;
}

/** What there is to send, and what is to be done where nobody wants it any more, begun or not. */
export interface Sendable extends Pick<Piecewise, "pieces"> {
  close?(): void;
}

/** The body as a stream that makes no more than the client takes. */
export function streamOf(sent: Sendable, coding: Compression | null): ReadableStream<Uint8Array> {
  const pieces = sent.pieces();
  return readableFrom(coding === null ? pieces : packed(pieces, coding), () => sent.close?.());
}

/** Begins with the first piece that is asked for: from then on somebody hears of what fails. */
async function* packed(body: AsyncIterable<Bytes>, coding: Compression): AsyncGenerator<Uint8Array> {
  const packer =
    coding === "gzip"
      ? createGzip({ ...GZIP_FASTEST, chunkSize: PACKED_CHUNK_BYTES })
      : createZstdCompress({ ...ZSTD_FASTEST, chunkSize: PACKED_CHUNK_BYTES });
  yield* pipeline(Readable.from(body, { objectMode: false }), packer, () => undefined);
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
