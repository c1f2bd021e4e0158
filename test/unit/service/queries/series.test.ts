import { expect, test } from "bun:test";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import { type Series, SeriesReading } from "../../../../src/service/queries/series.ts";
import * as fc from "../../../support/fast-check.ts";

interface Row {
  readonly timestampMs: number;
  readonly numbers: readonly (number | null)[];
}

/** What is made of rows that come in blocks of these sizes, and then in one. */
function seriesOf(rows: readonly Row[], range: TimeRange, buckets: number, sizes: readonly number[] = []) {
  const fieldCount = rows[0]?.numbers.length ?? 1;
  const reading = new SeriesReading(range, buckets, fieldCount);
  let from = 0;
  for (const size of [...sizes, rows.length]) {
    const block = rows.slice(from, from + size);
    from += size;
    reading.add({
      count: block.length,
      timestampMs: Float64Array.from(block, ({ timestampMs }) => timestampMs),
      latitude: new Float64Array(block.length),
      longitude: new Float64Array(block.length),
      numbers: Array.from({ length: fieldCount }, (_, field) =>
        Float64Array.from(block, ({ numbers }) => numbers[field] ?? Number.NaN),
      ),
    });
  }
  return shown(reading.end().next().value as Series);
}

/** As lists of the rows that are left, null for none. */
function shown({ timestampMs, fields }: Series) {
  const list = (column: Float64Array) => Array.from(column, (value) => (Number.isNaN(value) ? null : value));
  return {
    timestampMs: [...timestampMs],
    fields: fields.map(({ min, max, last }) => ({ min: list(min), max: list(max), last: list(last) })),
  };
}

/** Bucket by bucket: all rows of it, and of those what there is of each field. */
function obviousSeries(rows: readonly Row[], { startMs, endMs }: TimeRange, buckets: number) {
  const parts = Array.from({ length: buckets }, (_, bucket) => {
    const fromMs = startMs + (bucket * (endMs - startMs)) / buckets;
    const toMs = startMs + ((bucket + 1) * (endMs - startMs)) / buckets;
    return rows.filter(({ timestampMs }) => timestampMs >= fromMs && timestampMs < toMs);
  }).filter((part) => part.length > 0);
  const valuesOf = (part: readonly Row[], field: number) =>
    part.map(({ numbers }) => numbers[field]).filter((value) => value != null);
  const fieldCount = rows[0]?.numbers.length ?? 1;
  return {
    timestampMs: parts.map((part) => part.at(-1)!.timestampMs),
    fields: Array.from({ length: fieldCount }, (_, field) => {
      const values = parts.map((part) => valuesOf(part, field));
      const none = (value: number) => (Number.isFinite(value) ? value : null);
      return {
        min: values.map((all) => none(Math.min(...all))),
        max: values.map((all) => none(Math.max(...all))),
        last: values.map((all) => all.at(-1) ?? null),
      };
    }),
  };
}

test("SeriesReading makes what a look at each bucket by itself makes, however rows come in blocks", () => {
  const value = fc.option(fc.double({ min: -1000, max: 1000, noNaN: true }).map((number) => number + 0));
  const rowsOf = (stepMs: number) =>
    fc
      .array(fc.record({ step: fc.integer({ min: 1, max: stepMs }), numbers: fc.tuple(value, value) }))
      .map((steps) => {
        let timestampMs = 999;
        return steps.map(({ step, numbers }) => {
          timestampMs += step;
          return { timestampMs, numbers };
        });
      });
  const rows = fc.constantFrom(1, 7, 1000).chain(rowsOf);
  fc.assert(
    fc.property(
      rows,
      fc.integer({ min: 1, max: 64 }),
      fc.array(fc.nat({ max: 9 })),
      fc.nat({ max: 99 }),
      (all, buckets, sizes, after) => {
        const range = { startMs: 1000, endMs: (all.at(-1)?.timestampMs ?? 1000) + 1 + after };
        expect(seriesOf(all, range, buckets, sizes)).toEqual(obviousSeries(all, range, buckets));
      },
    ),
    { numRuns: 500 },
  );
});

test("SeriesReading keeps the one peak of many records", () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => ({
    timestampMs: 10 * i,
    numbers: [i === 54_321 ? 99 : 1],
  }));
  const { fields } = seriesOf(rows, { startMs: 0, endMs: 1_000_000 }, 1200);
  expect(Math.max(...fields[0]!.max.map(Number))).toBe(99);
  expect(fields[0]!.max.filter((max) => max === 99)).toHaveLength(1);
});

test("SeriesReading gives every record where there are as many buckets as milliseconds", () => {
  const rows = [
    { timestampMs: 5, numbers: [3] },
    { timestampMs: 6, numbers: [null] },
    { timestampMs: 9, numbers: [0] },
  ];
  expect(seriesOf(rows, { startMs: 5, endMs: 10 }, 4000)).toEqual({
    timestampMs: [5, 6, 9],
    fields: [{ min: [3, null, 0], max: [3, null, 0], last: [3, null, 0] }],
  });
});
