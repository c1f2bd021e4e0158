import type { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";

/*
 * Compressed answers: which coding a client likes best, and bodies that are compressed once and kept.
 */

/** Records repeat their member names, so even the fastest levels shrink a page eightfold. */
export const GZIP_FASTEST = { level: constants.Z_BEST_SPEED };
export const ZSTD_FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

/** For what is packed once and sent often: code of a page gets a third smaller than by the fastest. */
const GZIP_SMALL = { level: constants.Z_BEST_COMPRESSION };
const ZSTD_SMALL = { params: { [constants.ZSTD_c_compressionLevel]: 9 } };

/** Packs an answer on another thread. */
export function compress(coding: Compression, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return bytesOf(coding === "gzip" ? gzipAsync(body, GZIP_FASTEST) : zstdAsync(body, ZSTD_FASTEST));
}

/** Packs a body that is kept, which takes several times as long and makes it smaller. */
function compressSmall(coding: Compression, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return bytesOf(coding === "gzip" ? gzipAsync(body, GZIP_SMALL) : zstdAsync(body, ZSTD_SMALL));
}

async function bytesOf(packing: Promise<Buffer>): Promise<Uint8Array<ArrayBuffer>> {
  const packed = await packing;
  return new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.byteLength);
}

/**
 * The coding that a client's `Accept-Encoding` likes best: zstd before gzip where it likes both equally, and null where
 * it allows none, or says that it likes better to have none (RFC 9110 §12.5.3). A client that doesn't speak of
 * `identity` takes it, but named a coding since it would rather have that.
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

/** Whether a client's `Accept-Encoding` allows a coding, and likes it no less than none; it may like another best. */
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

/** Bytes as they are sent, and the entity tag that tells them from others. */
export interface KeptBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** A body that is the same for everybody: read when it is first asked for, packed once for each coding, and kept. */
export class KeptBody {
  readonly #read: () => Promise<Uint8Array<ArrayBuffer>>;
  readonly #made = new Map<Compression | null, KeptBytes>();
  readonly #making = new Map<Compression | null, Promise<KeptBytes>>();

  constructor(read: () => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** The body in a coding, or plain; there at once but for the first time. */
  in(coding: Compression | null): MaybePromise<KeptBytes> {
    const made = this.#made.get(coding);
    if (made !== undefined) return made;
    let making = this.#making.get(coding);
    if (making === undefined) {
      making = this.#make(coding).finally(() => this.#making.delete(coding)); // What failed is tried again.
      this.#making.set(coding, making);
    }
    return making;
  }

  async #make(coding: Compression | null): Promise<KeptBytes> {
    const made = coding === null ? await this.#readPlain() : await this.#pack(coding);
    this.#made.set(coding, made);
    return made;
  }

  async #readPlain(): Promise<KeptBytes> {
    const bytes = await this.#read();
    return { bytes, tag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
  }

  async #pack(coding: Compression): Promise<KeptBytes> {
    const { bytes, tag } = await this.in(null);
    return { bytes: await compressSmall(coding, bytes), tag: `${tag.slice(0, -1)}-${coding}"` };
  }
}
