import { expect, test } from "bun:test";
import { CellCounts } from "../../../src/map/cell-counts.ts";
import * as fc from "../../support/fast-check.ts";

const BITS = 12;

const place = fc.oneof(
  fc.tuple(fc.nat(2 ** BITS - 1), fc.nat(2 ** BITS - 1)),
  fc.tuple(fc.nat(20), fc.nat(20)), // Crowds.
);

/** The obvious way: the finest grid on which no more than so many cells are taken. */
function countPlainly(places: readonly (readonly [number, number])[], cellsMax: number) {
  for (let bits = BITS; ; bits--) {
    const counts = new Map<string, number>();
    for (const [column, row] of places) {
      const cell = `${column >>> (BITS - bits)},${row >>> (BITS - bits)}`;
      counts.set(cell, (counts.get(cell) ?? 0) + 1);
    }
    if (counts.size <= cellsMax) return { bits, counts };
  }
}

function fit(cells: CellCounts): void {
  while (cells.fit().next().done !== true);
}

test("CellCounts counts on the finest grid that places fit into, whatever their order", () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 300 }), fc.integer({ min: 1, max: 60 }), (places, cellsMax) => {
      const cells = new CellCounts(BITS, cellsMax);
      for (const [index, [column, row]] of places.entries()) {
        cells.add(column, row);
        if (index % 7 === 6) fit(cells);
      }
      fit(cells);
      const counts = new Map<string, number>();
      for (let cell = 0; cell < cells.size; cell++)
        counts.set(`${cells.columnOf(cell)},${cells.rowOf(cell)}`, cells.countOf(cell));
      expect({ bits: cells.bits, counts }).toEqual(countPlainly(places, cellsMax));
    }),
  );
});

test("fit() reports which cell became a part of which", () => {
  const cells = new CellCounts(BITS, 2);
  const numbers = [cells.add(0, 0), cells.add(1, 0), cells.add(2, 0), cells.add(0, 0)];
  expect(numbers).toEqual([0, 1, 2, 0]);
  const joined: [number, number][] = [];
  for (const _step of cells.fit((from, to) => joined.push([from, to])));
  expect(joined).toEqual([
    [0, 0],
    [1, 0],
    [2, 1],
  ]);
  expect([cells.countOf(0), cells.countOf(1)]).toEqual([3, 1]);
});
