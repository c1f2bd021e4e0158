import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { TileUnpacker } from "../../../src/map/tile-unpacker.ts";
import { outcome } from "../../support/rejection.ts";
import { turns } from "../../support/turns.ts";

test("however many tiles are asked for, four are unpacked at once, and all in the end", async () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const unpacker = new TileUnpacker(async (packed) => {
    begun++;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return new Uint8Array(packed);
  });
  const tiles = Array.from({ length: 100 }, (_, index) => unpacker.unpack(Uint8Array.of(index)));
  expect(begun).toBe(4);
  const unpacked = Promise.all(tiles);
  while (begun < 100 || waiting.length > 0) {
    expect(waiting.length).toBeLessThanOrEqual(4);
    waiting.shift()?.();
    await turns(1);
  }
  expect((await unpacked).map(([byte]) => byte)).toEqual(tiles.map((_, index) => index));
});

test("a tile that says it is longer than tiles are is refused", async () => {
  const unpacker = new TileUnpacker();
  expect(await unpacker.unpack(gzipSync(new Uint8Array(8 * 1024 * 1024)))).toHaveLength(8 * 1024 * 1024);
  expect(await outcome(unpacker.unpack(gzipSync(new Uint8Array(8 * 1024 * 1024 + 1))))).toThrow();
  expect(await outcome(unpacker.unpack(Uint8Array.of(1, 2, 3)))).toThrow();
});
