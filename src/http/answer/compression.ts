import type { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";

/* Compressed answers: the client's preferred coding, and bodies that are compressed once and cached. */

/** Records repeat their member names, so even the fastest levels compress a page to an eighth. */
export const GZIP_FASTEST = { level: constants.Z_BEST_SPEED };
export const ZSTD_FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

/** For bodies that are compressed once and sent often: page code gets a third smaller than by the fastest level. */
const GZIP_SMALL = { level: constants.Z_BEST_COMPRESSION };
const ZSTD_SMALL = { params: { [constants.ZSTD_c_compressionLevel]: 9 } };

export function compress(coding: Compression, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return bytesOf(coding === "gzip" ? gzipAsync(body, GZIP_FASTEST) : zstdAsync(body, ZSTD_FASTEST));
}

/** Compresses a cached body: smaller than `compress`, and several times slower. */
function compressSmall(coding: Compression, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return bytesOf(coding === "gzip" ? gzipAsync(body, GZIP_SMALL) : zstdAsync(body, ZSTD_SMALL));
}

async function bytesOf(buffer: Promise<Buffer>): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = await buffer;
  return new Uint8Array(compressed.buffer as ArrayBuffer, compressed.byteOffset, compressed.byteLength);
}

/**
 * The coding with the highest weight in `Accept-Encoding`: zstd if it ties with gzip, null if the client allows none or
 * prefers `identity` (RFC 9110 §12.5.3). A client that names a coding but not `identity` prefers the coding.
 */
export function preferredCoding(accepted: string | null): Compression | null {
  if (accepted === null) return null;
  const weights = weightsOf(accepted);
  let best: Compression | null = null;
  let bestWeight = weights.get("identity") ?? weights.get("*") ?? 0;
  for (const coding of ["zstd", "gzip"] as const) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > bestWeight || (best === null && weight > 0 && weight === bestWeight)) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

/** Whether `Accept-Encoding` allows a coding and does not prefer `identity` to it. */
export function allowsCoding(accepted: string | null, coding: Compression): boolean {
  if (accepted === null) return false;
  const weights = weightsOf(accepted);
  const weight = weights.get(coding) ?? weights.get("*") ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? weights.get("*") ?? 0);
}

function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const item of accepted.split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    weights.set(name, Number.isFinite(weight) ? weight : 0);
  }
  return weights;
}

export interface EncodedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** A body that is the same for all clients: read on first use, compressed once per coding, and cached. */
export class CachedBody {
  readonly #read: () => Promise<Uint8Array<ArrayBuffer>>;
  readonly #ready = new Map<Compression | null, EncodedBody>();
  readonly #pending = new Map<Compression | null, Promise<EncodedBody>>();

  constructor(read: () => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** The body in a coding, or uncompressed. A promise only the first time. */
  in(coding: Compression | null): MaybePromise<EncodedBody> {
    const ready = this.#ready.get(coding);
    if (ready !== undefined) return ready;
    let pending = this.#pending.get(coding);
    if (pending === undefined) {
      pending = this.#create(coding).finally(() => this.#pending.delete(coding)); // A failure is not cached.
      this.#pending.set(coding, pending);
    }
    return pending;
  }

  async #create(coding: Compression | null): Promise<EncodedBody> {
    const body = coding === null ? await this.#readPlain() : await this.#compress(coding);
    this.#ready.set(coding, body);
    return body;
  }

  async #readPlain(): Promise<EncodedBody> {
    const bytes = await this.#read();
    return { bytes, tag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
  }

  async #compress(coding: Compression): Promise<EncodedBody> {
    const { bytes, tag } = await this.in(null);
    return { bytes: await compressSmall(coding, bytes), tag: `${tag.slice(0, -1)}-${coding}"` };
  }
}
