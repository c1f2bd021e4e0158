import { expect, test } from "bun:test";
import type { Part } from "../../../../src/archive/manifest.ts";
import {
  type ComparedPart,
  type FoldOutput,
  PARTS_PER_DAY_SMALL_MAX,
  planFold,
} from "../../../../src/archive/write/fold-plan.ts";
import * as fc from "../../../support/fast-check.ts";

const MAX = 100;

function partsOf(...parts: [rows: number, isChanged: boolean][]): ComparedPart[] {
  return parts.map(([rows, isChanged], index) => ({ part: partOf(index, rows), index, rows, isChanged }));
}

function partOf(index: number, rows: number): Part {
  return { file: `${index}.parquet`, rows, bytes: 0, crc: 0, apps: new Map(), columns: "" };
}

/** Numbers of the sources, and the range of new rows. */
function briefly(outputs: readonly FoldOutput[]) {
  return outputs.map(({ sources, newRows }) => [
    sources.map(({ index }) => index),
    newRows === null ? null : [newRows.start, newRows.end],
  ]);
}

test("planFold() writes nothing where nothing changes", () => {
  expect(planFold(partsOf([10, false], [10, false]), 0, MAX)).toEqual([]);
});

test("planFold() rewrites what changes and adds what is new", () => {
  expect(briefly(planFold(partsOf([100, true], [10, false], [10, true]), 7, MAX))).toEqual([
    [[0], null],
    [[2], null],
    [[], [0, 7]],
  ]);
});

test("planFold() splits new rows as evenly as can be", () => {
  expect(briefly(planFold([], 201, MAX))).toEqual([
    [[], [0, 67]],
    [[], [67, 134]],
    [[], [134, 201]],
  ]);
});

test("planFold() merges the smallest that fit once there are too many, changed and new ones with them", () => {
  const parts = partsOf([49, false], [30, true], [99, true], [48, false], [2, false]);
  expect(briefly(planFold(parts, 5, MAX))).toEqual([
    [[2], null],
    [
      [4, 1, 3],
      [0, 5],
    ],
  ]);
});

test("planFold() leaves few small parts, none too large, each record once", () => {
  const parts = fc.array(fc.tuple(fc.integer({ min: 1, max: MAX }), fc.boolean()), { maxLength: 15 });
  fc.assert(
    fc.property(parts, fc.nat(3 * MAX), (sizes, newRowCount) => {
      const before = partsOf(...sizes);
      const outputs = planFold(before, newRowCount, MAX);
      if (outputs.length === 0) return;
      const replaced = outputs.flatMap(({ sources }) => sources);
      expect(new Set(replaced).size).toBe(replaced.length);
      const written = outputs.map(({ sources, newRows }) =>
        sources.reduce(
          (sum, { part }) => sum + part.rows,
          newRows === null ? 0 : newRows.end - newRows.start,
        ),
      );
      const left = before.filter((source) => !replaced.includes(source));
      const after = [...left.map(({ part }) => part.rows), ...written];
      expect(left.some(({ isChanged }) => isChanged)).toBe(false);
      expect(Math.max(...after)).toBeLessThanOrEqual(MAX);
      expect(after.filter((rows) => rows < MAX / 2).length).toBeLessThanOrEqual(PARTS_PER_DAY_SMALL_MAX);
      const sum = (rows: readonly number[]) => rows.reduce((total, count) => total + count, 0);
      expect(sum(after)).toBe(sum(before.map(({ part }) => part.rows)) + newRowCount);
    }),
    { numRuns: 1000 },
  );
});
