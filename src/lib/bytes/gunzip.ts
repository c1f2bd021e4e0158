import { promisify } from "node:util";
import { gunzip as gunzipNode } from "node:zlib";

const gunzipAsync = promisify(gunzipNode);

/** Decompresses on another thread. Rejects beyond `bytesMax` bytes, since a few kilobytes may expand to gigabytes. */
export async function gunzip(packed: Uint8Array, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await gunzipAsync(packed, { maxOutputLength: bytesMax }));
}
