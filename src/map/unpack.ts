import { Compression } from "pmtiles";
import { gunzip } from "../lib/bytes/gunzip.ts";

/** Bytes of a file that is packed by gzip or not at all. */
export async function unpack(
  bytes: Uint8Array,
  compression: Compression,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return compression === Compression.None ? new Uint8Array(bytes) : await gunzip(bytes, bytesMax);
}
