import { describe, expect, test } from "bun:test";
import { zstdCompressSync } from "node:zlib";
import { shortFrames, unzstd, unzstdShort } from "../../../../src/lib/bytes/unzstd.ts";
import { ZstdWalk } from "../../../../src/lib/bytes/zstd-walk.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome } from "../../../support/rejection.ts";

/*
 * Goal: rows of zstd frames of any kind come out whole, however they are cut into pieces, and what is cut off, wrong or
 * too many is refused. Method: frames of the platform's compressor and hand-made ones, read in pieces of every size.
 */

const LIMITS = { framesMax: 50, blocksMax: 1000 };
const HEADER = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
const skippable = (bytes: number) =>
  Buffer.concat([Buffer.from([0x5a, 0x2a, 0x4d, 0x18, bytes, 0, 0, 0]), Buffer.alloc(bytes, 9)]);
const emptyBlocks = (blocks: number) =>
  Buffer.concat([Buffer.from(HEADER), Buffer.alloc(blocks * 3), Buffer.from([1, 0, 0])]);

async function* cut(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString("latin1");
}

const readLong = (bytes: Uint8Array, pieceBytes: number) => textOf(unzstd(cut(bytes, pieceBytes), LIMITS));
async function readShort(bytes: Uint8Array): Promise<string> {
  const frames = shortFrames(bytes, LIMITS);
  if (frames === null) throw new Error("a frame is long");
  return textOf(unzstdShort(frames));
}

const frame = fc.oneof(
  fc
    .string({ maxLength: 300 })
    .map((text) => ({ text, bytes: zstdCompressSync(Buffer.from(text, "latin1")) })),
  fc.nat({ max: 255 }).map((bytes) => ({ text: "", bytes: skippable(bytes) })),
  fc.nat({ max: 20 }).map((blocks) => ({ text: "", bytes: emptyBlocks(blocks) })),
);

describe("zstd data", () => {
  test("comes out whole, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        async (frames, pieceBytes) => {
          const bytes = Buffer.concat(frames.map((each) => each.bytes));
          const text = Buffer.from(frames.map((each) => each.text).join(""), "latin1").toString("latin1");
          expect(await readLong(bytes, pieceBytes)).toBe(text);
          expect(await readShort(bytes)).toBe(text);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("is refused where it is cut off or has something else behind it", async () => {
    const whole = Buffer.concat([zstdCompressSync(Buffer.from("a text")), skippable(5), emptyBlocks(2)]);
    const inner = new Set([
      zstdCompressSync(Buffer.from("a text")).length,
      whole.length - emptyBlocks(2).length,
    ]);
    for (let length = 1; length < whole.length; length++) {
      const part = whole.subarray(0, length);
      if (inner.has(length)) continue; // A frame ends there.
      expect(await outcome(readLong(part, 3))).toThrow();
      expect(await outcome(readShort(part))).toThrow();
    }
    const behind = Buffer.concat([whole, Buffer.from("more")]);
    expect(await outcome(readLong(behind, 3))).toThrow("it is not zstd data");
    expect(await outcome(readShort(behind))).toThrow("it is not zstd data");
  });

  test("has no more frames than it may, with text or without", async () => {
    for (const each of [skippable(0), emptyBlocks(0)]) {
      const some = Buffer.concat(Array.from({ length: LIMITS.framesMax }, () => each));
      expect(await readLong(some, 100)).toBe("");
      expect(await readShort(some)).toBe("");
      const more = Buffer.concat([some, each]);
      expect(await outcome(readLong(more, 100))).toThrow("too many frames");
      expect(await outcome(readShort(more))).toThrow("too many frames");
    }
  });

  test("has no more blocks with text than it may", async () => {
    const blocks = (count: number) =>
      Buffer.concat([
        Buffer.from(HEADER),
        Buffer.alloc(count * 4, Buffer.from([0x0a, 0, 0, 0x61])),
        Buffer.from([1, 0, 0]),
      ]);
    const most = blocks(LIMITS.blocksMax);
    expect(await readLong(most, 100)).toBe("a".repeat(LIMITS.blocksMax));
    const more = blocks(LIMITS.blocksMax + 1);
    expect(await outcome(readLong(more, 100))).toThrow("too many blocks");
    expect(shortFrames(blocks(1), LIMITS)?.length).toBe(1);
    expect(shortFrames(blocks(2), LIMITS)).toBeNull();
  });

  test("of millions of empty blocks is walked in pieces, each in one call", () => {
    const walk = new ZstdWalk();
    const bytes = emptyBlocks(5_000_000);
    let calls = 0;
    for (let at = 0; at < bytes.length; calls++) {
      const end = Math.min(bytes.length, at + 65_536);
      at += walk.walk(bytes.subarray(at, end), 0);
    }
    expect(walk.isBetween).toBeTrue();
    expect(calls).toBe(Math.ceil(bytes.length / 65_536));
  });
});
