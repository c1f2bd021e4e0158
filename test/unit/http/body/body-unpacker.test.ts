import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { BodyUnpacker } from "../../../../src/http/body/body-unpacker.ts";
import type { Compression } from "../../../../src/lib/bytes/unzstd.ts";
import { outcome } from "../../../support/rejection.ts";
import { BODIES, FRAMES, unpackInTurns } from "./pieces-in-turns.ts";

const unpacker = new BodyUnpacker();
const MIB = 2 ** 20;

/** Lengths of the pieces that the text comes in. */
const piecesOf = (packed: Uint8Array, coding: Compression) =>
  unpacker.unpack(packed, coding, "app", async (text) => {
    const lengths: number[] = [];
    for await (const piece of text) lengths.push(piece.length);
    return lengths;
  });

/** On Deno in `test/system/http/on-deno.test.ts`. */
test("bodies of 999 zstd frames leave the event loop a turn, and its timers, behind each frame", async () => {
  const { most, ...seen } = await unpackInTurns();
  expect(seen).toEqual({ pieces: BODIES * FRAMES, hasTimerFired: true });
  expect(most).toBeLessThanOrEqual(BODIES);
});

test("a short gzip body comes in one piece where its text is short too, and else in many", async () => {
  const packed = (bytes: number) => gzipSync(Buffer.alloc(bytes, " "));
  expect(await piecesOf(packed(MIB), "gzip")).toEqual([MIB]);
  expect(packed(16 * MIB).length).toBeLessThan(65_536);
  const lengths = await piecesOf(packed(16 * MIB), "gzip");
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(16 * MIB);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(65_536);
});

test("a gzip body that is cut off is none, short or long", async () => {
  for (const bytes of [1000, 16 * MIB]) {
    const packed = gzipSync(Buffer.alloc(bytes, " "));
    expect(await outcome(piecesOf(packed.subarray(0, -9), "gzip"))).toThrow();
  }
});
