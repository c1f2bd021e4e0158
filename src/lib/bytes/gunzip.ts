import { promisify } from "node:util";
import { gunzip as gunzipNode } from "node:zlib";

const gunzipAsync = promisify(gunzipNode);

/** Unpacks on another thread, up to so many bytes: a few kilobytes may say that they are gigabytes. */
export async function gunzip(packed: Uint8Array, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await gunzipAsync(packed, { maxOutputLength: bytesMax }));
}
