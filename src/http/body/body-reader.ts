import { GrowingBytes } from "../../lib/bytes/growing-bytes.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { BodyShare } from "./body-budget.ts";
import { BodyUnpacker } from "./body-unpacker.ts";

/** 16 MiB, for the body as sent and for its decompressed form. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Bodies up to this size are read by one call, which saves 7 % of an ingest. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

/**
 * A body that grows beyond this is moved, up to 8 MiB in some 5 ms. Only one is moved per turn of the event loop, since
 * bodies that begin together grow together.
 */
const LARGE_BYTES = 1024 * 1024;

export class BodyReader {
  readonly #growing = new Semaphore(1);
  readonly #unpacker = new BodyUnpacker();

  /** Reads and decompresses a request's body, within limits throughout, so that a decompression bomb stays small. */
  async read(request: Request, share: BodyShare): Promise<Result<Uint8Array, ServiceError>> {
    const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
    if (coding !== "identity" && coding !== "gzip" && coding !== "zstd") {
      return fail({
        kind: "media_type_unsupported",
        message: `content-encoding must be gzip or zstd, or absent; ${JSON.stringify(coding)} is not supported`,
      });
    }
    const body = await this.#readInTime(request, share);
    if (!body.ok || coding === "identity") return body;
    const { appId } = share.owner;
    try {
      return await this.#unpacker.unpack(body.value, coding, appId, (text) => this.#collect(text, share));
    } catch {
      return fail({ kind: "body_unreadable", message: `the body is not valid ${coding}` });
    }
  }

  /** Gives up a late body: releases its share and drops what still arrives. */
  async #readInTime(request: Request, share: BodyShare): Promise<Result<Uint8Array, ServiceError>> {
    const late = Promise.withResolvers<Result<never, ServiceError>>();
    const giveUp = new AbortController();
    const stopTimer = share.whenLate(() => {
      giveUp.abort();
      const message = `the body took longer than ${share.arrivalMsMax / 1000} s to arrive`;
      late.resolve(fail({ kind: "body_incomplete", message }));
    });
    try {
      return await Promise.race([late.promise, this.#readSent(request, share, giveUp.signal)]);
    } finally {
      stopTimer();
    }
  }

  async #readSent(
    request: Request,
    share: BodyShare,
    givenUp: AbortSignal,
  ): Promise<Result<Uint8Array, ServiceError>> {
    const declared = request.headers.get("content-length");
    if (declared !== null && Number(declared) > BODY_BYTES_MAX) return tooLarge();
    try {
      if (declared !== null && Number(declared) <= AT_ONCE_BYTES_MAX) {
        // Both runtimes enforce a declared length, but Deno allocates that much memory before the first byte.
        const whole = share.whole(Number(declared), async () => new Uint8Array(await request.arrayBuffer()));
        if (whole !== null) return counted(await whole, share);
      }
      if (request.body === null) return ok(new Uint8Array());
      return await this.#collect(piecesUntil(request.body, givenUp), share);
    } catch {
      return fail({ kind: "body_incomplete", message: "the body ended before it was complete" });
    }
  }

  async #collect(
    pieces: AsyncIterable<Uint8Array>,
    share: BodyShare,
  ): Promise<Result<Uint8Array, ServiceError>> {
    const body = new GrowingBytes(BODY_BYTES_MAX);
    let isWhole = false;
    try {
      for await (const piece of pieces) {
        if (body.size + piece.length > BODY_BYTES_MAX) return tooLarge();
        if (!share.take(piece.length)) return fail(TOO_MANY_REPORTS);
        if (body.size < LARGE_BYTES || body.hasRoomFor(piece.length)) body.add(piece);
        else await this.#growing.run(share.owner.appId, () => addInTurn(body, piece));
      }
      isWhole = true;
      return ok(body.bytes());
    } finally {
      if (!isWhole) body.drop();
    }
  }
}

/** Moves the bytes to a larger buffer and leaves the rest of the turn to others. */
async function addInTurn(body: GrowingBytes, piece: Uint8Array): Promise<void> {
  body.add(piece);
  await nextTurn();
}

function counted(body: Uint8Array, share: BodyShare): Result<Uint8Array, ServiceError> {
  return share.take(body.length) ? ok(body) : fail(TOO_MANY_REPORTS);
}

/** The budget for bodies is taken by other requests. */
export const TOO_MANY_REPORTS = {
  kind: "unavailable",
  message: "too many reports are arriving; send them again shortly",
  retryAfterSeconds: 1, // Most bodies are read and answered within milliseconds.
} as const satisfies ServiceError;

function tooLarge(): Result<never, ServiceError> {
  return fail({
    kind: "body_too_large",
    message: "the body must be at most 16 MiB, before and after decompression",
  });
}

/**
 * After a smaller piece the next is requested in another turn of the event loop. A waiting reader gets each chunk of a
 * chunked body separately, for 2 µs on Bun and 50 on Deno whatever its size, and nothing else gets a turn; without a
 * waiting reader Bun joins chunks and Deno leaves them with the client. Many bodies arrive like this at once.
 */
const SMALL_PIECE_BYTES = 4096;

/** The stream's pieces. Cancels the stream if the consumer stops or aborts. */
export async function* piecesUntil(
  stream: ReadableStream<Uint8Array>,
  givenUp: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const cancel = () => reader.cancel().catch(() => undefined); // The connection may be closed.
  givenUp.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      if (value.length < SMALL_PIECE_BYTES) await nextTurn();
    }
  } finally {
    givenUp.removeEventListener("abort", cancel);
    await cancel();
  }
}
