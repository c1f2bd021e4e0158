import { expect, test } from "bun:test";
import { NO_READ_OPTIONS } from "../../../../src/formats/read/format.ts";
import { IMPORT_START } from "../../../../src/import/reading/import-batch.ts";
import { readSources } from "../../../../src/import/reading/read-sources.ts";
import type { Source } from "../../../../src/import/sources/source.ts";
import { ALL_RULES } from "../support/inputs.ts";

test("an end that is asked for is not put off to the next batch: a large file may have none", async () => {
  const controller = new AbortController();
  let pieces = 0;
  const source: Source = {
    name: "a.csv",
    folders: [],
    key: "a.csv",
    label: "a.csv",
    isNamed: true,
    packedBytes: null,
    identity: async () => null,
    openRandom: () => Promise.reject(new Error("not asked for")),
    async *pieces() {
      yield Buffer.from("device_id,timestamp,latitude,longitude\n");
      for (; pieces < 1000; pieces++) {
        if (pieces === 5) controller.abort();
        yield Buffer.alloc(64 * 1024, "\n");
      }
    },
  };
  const batches = readSources({
    async *walk() {
      for (const index of [0, 1]) yield { source, format: "csv", group: 0, index, bytesBefore: 0 };
    },
    rules: ALL_RULES,
    readOptions: NO_READ_OPTIONS,
    acceptedTimes: () => ({ oldestMs: 0, newestMs: Number.MAX_SAFE_INTEGER }),
    shiftMsOf: () => 0,
    start: IMPORT_START,
    signal: controller.signal,
    onRead() {},
    onIgnoredColumns() {},
  });
  for await (const _ of batches) throw new Error("there is nothing in it");
  expect(pieces).toBe(5);
});
