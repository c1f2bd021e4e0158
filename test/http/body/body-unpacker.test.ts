import { expect, test } from "bun:test";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { BodyUnpacker, type Coding } from "../../../src/http/body/body-unpacker.ts";
import { nativeDeno } from "../../support/native-deno.ts";

const unpacker = new BodyUnpacker();
const MIB = 2 ** 20;

/** Lengths of the pieces that the text comes in. */
const piecesOf = (packed: Uint8Array, coding: Coding) =>
  unpacker.unpack(packed, coding, "app", async (text) => {
    const lengths: number[] = [];
    for await (const piece of text) lengths.push(piece.length);
    return lengths;
  });

test.each([
  ["Bun", process.execPath, []],
  ["Deno", nativeDeno(), ["run", "-A"]],
])("bodies of 999 zstd frames let timers fire between the frames: %s", (_, program, flags) => {
  const { stdout } = Bun.spawnSync([program, ...flags, join(import.meta.dir, "pieces-between-timers.ts")]);
  const most = Number(stdout.toString());
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(500); // Of 3996: those of a millisecond or two.
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
    await expect(piecesOf(packed.subarray(0, -9), "gzip")).rejects.toThrow();
  }
});
