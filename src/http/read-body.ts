import { promisify } from "node:util";
import { gunzip, zstdDecompress } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";

/** 16 MiB, of the body as sent and of what it unpacks to. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

const gunzipAsync = promisify(gunzip);
const unzstdAsync = promisify(zstdDecompress);

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
    const unpack = coding === "gzip" ? gunzipAsync : unzstdAsync;
    return ok(await unpack(sent.value, { maxOutputLength: BODY_BYTES_MAX }));
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return tooLarge();
    return fail({ kind: "body_unreadable", message: `the body is not valid ${coding}` });
  }
}

async function readSent(request: Request): Promise<Result<Uint8Array, ServiceError>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > BODY_BYTES_MAX) return tooLarge();
  try {
    // A declared length is kept to by both runtimes; only a body of unknown length has to be watched.
    if (declared !== null) return ok(new Uint8Array(await request.arrayBuffer()));
    return await readWatched(request);
  } catch {
    return fail({ kind: "body_unreadable", message: "the body ended before it was complete" });
  }
}

async function readWatched(request: Request): Promise<Result<Uint8Array, ServiceError>> {
  if (request.body === null) return ok(new Uint8Array());
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body) {
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
