import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import { Turns } from "../lib/turns.ts";
import { unzstdFrames } from "../lib/unzstd.ts";
import type { ServiceError } from "../model/errors.ts";
import type { BodyShare } from "./body-budget.ts";

/** 16 MiB, of the body as sent and of what it unpacks to. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Bodies up to this are read by one call, which takes 7 % less of an ingest than reading piece by piece. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

/**
 * What a body unpacks to is known afterwards, and then the share is asked: as many are unpacked at once as there are
 * threads for it. What is unpacked while the event loop is busy would pile up else.
 */
const unpacking = new Turns(4);

const gunzipAsync = promisify(gunzip);

/** A turn of the event loop each: in pieces of the usual 16 KiB a large body takes a third longer, a bomb twice as long. */
const PIECE_BYTES = 64 * 1024;
const LIMITS = { maxOutputLength: BODY_BYTES_MAX, chunkSize: PIECE_BYTES };

/** Frames of a zstd body: each costs a decompressor, and a client makes one, or one for each of its buffers. */
const ZSTD_FRAMES_MAX = 1000;
/** What every frame begins with, and what every skippable one has behind its first byte; RFC 8878 §3.1. */
const ZSTD_MAGICS = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), Uint8Array.of(0x2a, 0x4d, 0x18)];

/**
 * A request's body, unpacked; bounded while it is read and while it is unpacked, so that a bomb stays small.
 */
export async function readBody(
  request: Request,
  share: BodyShare,
): Promise<Result<Uint8Array, ServiceError>> {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "gzip" && coding !== "zstd") {
    return fail({
      kind: "media_type_unsupported",
      message: `content-encoding must be gzip or zstd, or left out; ${JSON.stringify(coding)} is not supported`,
    });
  }
  const sent = await readInTime(request, share);
  if (!sent.ok || coding === "identity") return sent;
  const unpack = coding === "gzip" ? unpackGzip : unpackZstd;
  try {
    return await unpacking.run(() => unpack(sent.value, share));
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return tooLarge();
    return fail({ kind: "body_unreadable", message: `the body is not valid ${coding}` });
  }
}

async function unpackGzip(packed: Uint8Array, share: BodyShare): Promise<Result<Uint8Array, ServiceError>> {
  const unpacked = await gunzipAsync(packed, LIMITS);
  return share.take(unpacked.length) ? ok(unpacked) : fail(TOO_MANY_REPORTS);
}

async function unpackZstd(packed: Uint8Array, share: BodyShare): Promise<Result<Uint8Array, ServiceError>> {
  if (packed.length === 0) throw new Error("zstd data has at least one frame");
  let frames = 0;
  for (const magic of ZSTD_MAGICS) frames += occurrences(packed, magic);
  if (frames > ZSTD_FRAMES_MAX) throw new Error("the zstd data has too many frames");
  return collect(unzstdFrames(inOnePiece(packed), LIMITS), share);
}

function occurrences(bytes: Uint8Array, pattern: Uint8Array): number {
  const { buffer, byteOffset, byteLength } = bytes;
  const searched = Buffer.from(buffer, byteOffset, byteLength);
  let count = 0;
  for (let at = searched.indexOf(pattern); at >= 0; at = searched.indexOf(pattern, at + 1)) count++;
  return count;
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** What is late is given up: its share is free again, and what still comes is dropped. */
async function readInTime(request: Request, share: BodyShare): Promise<Result<Uint8Array, ServiceError>> {
  const late = Promise.withResolvers<Result<never, ServiceError>>();
  const giveUp = new AbortController();
  const timer = setTimeout(() => {
    giveUp.abort();
    const message = `the body took longer than ${share.arrivalMsMax / 1000} s to arrive`;
    late.resolve(fail({ kind: "body_unreadable", message }));
  }, share.arrivalMsMax);
  try {
    return await Promise.race([late.promise, readSent(request, share, giveUp.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

async function readSent(
  request: Request,
  share: BodyShare,
  givenUp: AbortSignal,
): Promise<Result<Uint8Array, ServiceError>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > BODY_BYTES_MAX) return tooLarge();
  try {
    // Both runtimes keep to a declared length, but Deno sets that much memory aside before the first byte.
    if (declared !== null && Number(declared) <= AT_ONCE_BYTES_MAX) {
      if (!share.take(Number(declared))) return fail(TOO_MANY_REPORTS);
      return ok(new Uint8Array(await request.arrayBuffer()));
    }
    if (request.body === null) return ok(new Uint8Array());
    return await collect(piecesUntil(request.body, givenUp), share);
  } catch {
    return fail({ kind: "body_unreadable", message: "the body ended before it was complete" });
  }
}

/** The stream's pieces; whoever stops asking, or gives up while waiting, cancels the stream. */
async function* piecesUntil(
  stream: ReadableStream<Uint8Array>,
  givenUp: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const cancel = () => reader.cancel().catch(() => undefined); // The connection may be gone by now.
  givenUp.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    givenUp.removeEventListener("abort", cancel);
    await cancel();
  }
}

/** All parts in one, unless they are too much. */
async function collect(
  pieces: AsyncIterable<Uint8Array>,
  share: BodyShare,
): Promise<Result<Uint8Array, ServiceError>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of pieces) {
    size += part.length;
    if (size > BODY_BYTES_MAX) return tooLarge();
    if (!share.take(part.length)) return fail(TOO_MANY_REPORTS);
    parts.push(part);
  }
  return ok(parts.length === 1 ? parts[0]! : Buffer.concat(parts, size));
}

/** The budget for bodies is spent on those of other requests. */
export const TOO_MANY_REPORTS = {
  kind: "unavailable",
  message: "too many reports are coming in at once; send again shortly",
  retryAfterSeconds: 1, // Most bodies are read and answered within some milliseconds.
} as const satisfies ServiceError;

function tooLarge(): Result<never, ServiceError> {
  return fail({
    kind: "body_too_large",
    message: "the body must be at most 16 MiB, before and after decompression",
  });
}
