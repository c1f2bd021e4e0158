import { expect, test } from "bun:test";
import type { Header, Source } from "pmtiles";
import { DirectoryCache } from "../../../src/map/tile-source.ts";
import { outcome } from "../../support/rejection.ts";

/* Directories of a PMTiles archive, as bytes: a count, then the numbers, run lengths, lengths and places of entries. */

const UNPACKED = { internalCompression: 1 } as Header;

/** A source whose directory at an offset has so many entries; those that `faults` names fail once. */
function createSource(faults = new Set<number>()) {
  const asked: number[] = [];
  const source: Source = {
    getKey: () => "a",
    async getBytes(offset, count) {
      asked.push(offset);
      if (faults.delete(offset)) throw new Error("the disk is gone");
      return { data: directoryOf(count).buffer };
    },
  };
  return { source, asked };
}

function directoryOf(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(3 + 4 * count).fill(1);
  bytes.set([(count & 0x7f) | 0x80, ((count >> 7) & 0x7f) | 0x80, count >> 14]);
  return bytes;
}

test("a directory is read once for all who wait, and kept", async () => {
  const cache = new DirectoryCache(UNPACKED);
  const { source, asked } = createSource();
  const [one, other] = await Promise.all([
    cache.getDirectory(source, 7, 1000, UNPACKED),
    cache.getDirectory(source, 7, 1000, UNPACKED),
  ]);
  expect(one).toHaveLength(1000);
  expect(other).toBe(one);
  expect(await cache.getDirectory(source, 7, 1000, UNPACKED)).toBe(one);
  expect(asked).toEqual([7]);
});

test("one that can't be read is tried again", async () => {
  const cache = new DirectoryCache(UNPACKED);
  const { source, asked } = createSource(new Set([7]));
  expect(await outcome(cache.getDirectory(source, 7, 10, UNPACKED))).toThrow("the disk is gone");
  expect(await cache.getDirectory(source, 7, 10, UNPACKED)).toHaveLength(10);
  expect(asked).toEqual([7, 7]);
});

test("where all together have more than 262,144 entries, those used longest ago go", async () => {
  const cache = new DirectoryCache(UNPACKED);
  const { source, asked } = createSource();
  const ask = (offset: number) => cache.getDirectory(source, offset, 100_000, UNPACKED);
  await ask(1);
  await ask(2);
  await ask(1);
  await ask(3); // The second goes.
  await ask(1);
  await ask(3);
  expect(asked).toEqual([1, 2, 3]);
  await ask(2);
  expect(asked).toEqual([1, 2, 3, 2]);
});

test("131,072 entries are taken, and one more is refused", async () => {
  const cache = new DirectoryCache(UNPACKED);
  const { source } = createSource();
  expect(await cache.getDirectory(source, 1, 131_072, UNPACKED)).toHaveLength(131_072);
  expect(await outcome(cache.getDirectory(source, 2, 131_073, UNPACKED))).toThrow(
    "A directory claims to have 131073 entries",
  );
});
