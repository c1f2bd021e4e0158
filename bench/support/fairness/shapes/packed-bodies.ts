import { gzipSync, zstdCompressSync } from "node:zlib";
import { reports } from "../attack/requests.ts";
import { sendAtPace } from "../attack/sending.ts";
import type { Shape, Target } from "../shape.ts";

const ZSTD_HEAD = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]; // RFC 8878 §3.1.1: the magic, and a window of 2 MiB.
const ZSTD_BLOCK_HEAD = 3;
const GZIP_HEAD = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const GZIP_STORED_EMPTY = [0, 0, 0, 0xff, 0xff]; // RFC 1951 §3.2.4.

/** Compressed bodies that are expensive to decompress. */
export const PACKED_BODIES: readonly Shape[] = [
  packed("zstd-empty-blocks", "a zstd frame of empty blocks, 16 MiB", "zstd", (bytes) => [
    Uint8Array.from(ZSTD_HEAD),
    repeated([0, 0, 0], (bytes - ZSTD_HEAD.length - ZSTD_BLOCK_HEAD) / ZSTD_BLOCK_HEAD),
    Uint8Array.of(1, 0, 0),
  ]),
  packed("zstd-many-frames", "a thousand zstd frames, 16 MiB unpacked", "zstd", (bytes) => [
    repeated(zstdCompressSync(Buffer.alloc(Math.floor(bytes / 999), " ")), 999),
  ]),
  packed("zstd-skippable-frames", "skippable zstd frames alone, 16 MiB", "zstd", (bytes) => [
    repeated([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0], bytes / 8),
  ]),
  packed("gzip-brackets", "73 KB of gzip that unpack to 16 MiB of brackets", "gzip", (bytes) => [
    gzipSync(Buffer.concat([Buffer.alloc(bytes / 2, "["), Buffer.alloc(bytes / 2, "]")])),
  ]),
  packed("gzip-empty-members", "gzip members that hold nothing, 16 MiB", "gzip", (bytes) => {
    const member = gzipSync(new Uint8Array());
    return [repeated(member, bytes / member.length)];
  }),
  packed("gzip-empty-blocks", "a gzip member of stored blocks that hold nothing, 16 MiB", "gzip", (bytes) => [
    Uint8Array.from(GZIP_HEAD),
    repeated(GZIP_STORED_EMPTY, (bytes - 23) / GZIP_STORED_EMPTY.length),
    Uint8Array.from([1, ...GZIP_STORED_EMPTY.slice(1)]),
    new Uint8Array(8), // CRC-32 and length of an empty body.
  ]),
];

function packed(
  name: string,
  title: string,
  coding: string,
  make: (bytes: number) => readonly Uint8Array[],
): Shape {
  return {
    name,
    title,
    directory: "plain",
    arm(target: Target) {
      const request = reports(target, Buffer.concat(make(target.bodyBytes)), { "content-encoding": coding });
      return () => sendAtPace(target, () => request);
    },
  };
}

function repeated(piece: Uint8Array | readonly number[], times: number): Uint8Array {
  return Buffer.alloc(Math.floor(times) * piece.length, Uint8Array.from(piece));
}
