import { expect, test } from "bun:test";
import { legAt } from "../../../../src/cli/demo/leg.ts";
import * as fc from "../../../support/fast-check.ts";
import { recordingOf } from "./recordings.ts";

const REST_MS = 600_000;

async function wayOf(timesMs: readonly number[]) {
  const rows = timesMs.map((timestampMs) => ({ deviceId: "a", timestampMs, latitude: 0, longitude: 0 }));
  return (await recordingOf(rows)).ways[0]!;
}

test("legAt() goes to the end, rests, goes back, rests, and goes again", async () => {
  const way = await wayOf([1000, 2000, 5000]);
  const indexes = (elapsedMs: readonly number[]) => elapsedMs.map((at) => legAt(way, at)?.index);
  expect(legAt(way, -1)).toBeNull();
  expect(indexes([0, 999, 1000, 3999, 4000, 4000 + REST_MS - 1])).toEqual([0, 0, 1, 1, 2, 2]);
  const back = 4000 + REST_MS;
  expect(indexes([back, back + 2999, back + 3000, back + 3999, back + 4000])).toEqual([2, 2, 1, 1, 0]);
  expect(legAt(way, back)).toEqual({ turn: 1, index: 2 });
  expect(legAt(way, 2 * back)).toEqual({ turn: 2, index: 0 });
});

test("legAt() passes every position of a way both ways, none twice on a leg", async () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.integer({ min: 0, max: 1e9 }), async (gapsMs, firstMs) => {
      const timesMs = [firstMs];
      for (const gapMs of gapsMs) timesMs.push(timesMs.at(-1)! + gapMs);
      const way = await wayOf(timesMs);
      const spanMs = timesMs.at(-1)! - firstMs;
      const there = timesMs.map((atMs) => legAt(way, atMs - firstMs)!);
      const back = timesMs.map((atMs) => legAt(way, spanMs + REST_MS + timesMs.at(-1)! - atMs)!);
      const expected = (turn: number) => timesMs.map((_, index) => ({ turn, index }));
      expect(there).toEqual(expected(0));
      expect(back).toEqual(expected(1));
    }),
  );
});
