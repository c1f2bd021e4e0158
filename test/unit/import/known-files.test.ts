import { expect, test } from "bun:test";
import { KnownFiles } from "../../../src/import/known-files.ts";
import type { Source, SourceItem, Sources } from "../../../src/import/sources/source.ts";
import * as fc from "../../support/fast-check.ts";
import { contentOf } from "../../support/formats/read-file.ts";

/*
 * Goal: of the files that an import looked at none is taken for another later, and none goes missing without a word,
 * whatever happens to folders meanwhile. Method: walks that differ from the first in every way.
 */

function sourceOf(key: string): Source {
  return {
    ...contentOf(key, { name: key }),
    key,
    label: "the same for all",
    isNamed: false,
    packedBytes: 10,
    identity: async () => key,
  };
}

const found = (key: string): SourceItem => ({ kind: "file", source: sourceOf(key) });
const failed = (key: string): SourceItem => ({
  kind: "failed",
  where: sourceOf(key),
  reason: "it is damaged",
});
const leftAlone = (key: string): SourceItem => ({
  kind: "left_alone",
  where: sourceOf(key),
  what: { kind: "jpg", answer: "is a picture" },
});

function sourcesOf(walk: readonly SourceItem[]): Sources {
  return {
    async *walk() {
      yield* walk;
    },
    close: async () => {},
  };
}

/** What the files of a walk hold, or why they can't be read. */
async function read(files: KnownFiles, walk: readonly SourceItem[]): Promise<string[]> {
  const all: string[] = [];
  for await (const { source, index, group, bytesBefore } of files.walk(sourcesOf(walk))) {
    expect([group, bytesBefore]).toEqual([index * 2, index * 10]);
    let content = "";
    try {
      for await (const piece of source.pieces()) content += Buffer.from(piece).toString();
    } catch (error) {
      content = error instanceof Error ? error.message : "";
    }
    all.push(`${index} ${content}`);
  }
  return all;
}

function known(...keys: string[]): KnownFiles {
  const files = new KnownFiles();
  for (const [index, key] of keys.entries()) files.add(sourceOf(key), "csv", index * 2);
  return files;
}

const GONE = "it was there when the import began, but it is gone";

test("files that are gone or damaged since are told, and those that came since are left", async () => {
  const files = known("a", "b", "c", "d");
  const whole = ["0 a", "1 b", "2 c", "3 d"];
  expect(await read(files, ["a", "b", "c", "d"].map(found))).toEqual(whole);
  expect(await read(files, ["0", "a", "aa", "b", "c", "d", "e"].map(found))).toEqual(whole);
  expect(await read(files, [found("b"), failed("c"), leftAlone("d")])).toEqual([
    `0 ${GONE}`,
    "1 b",
    "2 it is damaged",
    `3 ${GONE}`,
  ]);
  expect(await read(files, [leftAlone("0"), failed("00")])).toEqual(
    [0, 1, 2, 3].map((index) => `${index} ${GONE}`),
  );
  expect(files.packedBytes).toBe(40);
});

test("a file given twice is read twice", async () => {
  expect(await read(known("a", "b", "a"), ["a", "b", "a"].map(found))).toEqual(["0 a", "1 b", "2 a"]);
});

test("each known file comes once and in order, as itself or as gone", async () => {
  const keys = fc.uniqueArray(fc.constantFrom(..."abcdefgh"));
  await fc.assert(
    fc.asyncProperty(keys, keys, async (before, after) => {
      const all = await read(known(...before), after.map(found));
      expect(all.length).toBe(before.length);
      for (const [index, key] of before.entries())
        expect([`${index} ${key}`, `${index} ${GONE}`]).toContain(all[index]!);
      const kept = before.filter((key) => after.includes(key));
      const isInOrder = kept.every(
        (key, at) => at === 0 || after.indexOf(kept[at - 1]!) < after.indexOf(key),
      );
      if (isInOrder) expect(all.filter((text) => !text.endsWith(GONE)).length).toBe(kept.length);
    }),
  );
});
