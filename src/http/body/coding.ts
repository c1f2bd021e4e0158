import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";

export type Coding = "gzip" | "zstd";

/** Records repeat their member names, so even the fastest levels shrink a page eightfold. */
export const GZIP_FASTEST = { level: constants.Z_BEST_SPEED };
export const ZSTD_FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

/** Packs a body on another thread. */
export async function compress(coding: Coding, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const packed =
    coding === "gzip" ? await gzipAsync(body, GZIP_FASTEST) : await zstdAsync(body, ZSTD_FASTEST);
  return new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.byteLength);
}

/** The coding a client's `Accept-Encoding` allows: zstd before gzip where it likes both equally; null for none. */
export function preferredCoding(accepted: string | null): Coding | null {
  if (accepted === null) return null;
  let best: Coding | null = null;
  let bestWeight = 0;
  const weights = new Map<string, number>();
  for (const item of accepted.split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    weights.set(name, Number.isFinite(weight) ? weight : 0);
  }
  for (const coding of ["zstd", "gzip"] as const) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}
