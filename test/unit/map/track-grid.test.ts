import { expect, test } from "bun:test";
import { Tile } from "../../../src/map/tile.ts";
import { TrackCounts } from "../../../src/map/track-counts.ts";
import { TrackGrid } from "../../../src/map/track-grid.ts";
import * as fc from "../../support/fast-check.ts";

function finish<Value>(steps: Generator<void, Value, void>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function gridOf(bits: number, cells: readonly (readonly [column: number, row: number])[]) {
  const counts = new TrackCounts(bits, 100_000);
  for (const [column, row] of cells) counts.add(column, row);
  return finish(TrackGrid.of(counts));
}

const BITS = 6;
const along = fc.integer({ min: 0, max: 2 ** BITS - 1 });

test("countsIn() counts what a plain loop over all cells counts", () => {
  const tile = fc
    .record({ z: fc.integer({ min: 0, max: BITS }), x: along, y: along })
    .map(({ z, x, y }) => new Tile(z, x >> (BITS - z), y >> (BITS - z)));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(along, along)),
      tile,
      fc.integer({ min: 0, max: 8 }),
      (cells, tile, bitsMax) => {
        const { bits, counts } = finish(gridOf(BITS, cells).countsIn(tile, bitsMax))!;
        expect(bits).toBe(Math.min(bitsMax, BITS - tile.z));
        const plain = new Uint32Array(4 ** bits);
        for (const [column, row] of cells) {
          const shift = BITS - tile.z - bits;
          const [x, y] = [(column >> shift) - tile.x * 2 ** bits, (row >> shift) - tile.y * 2 ** bits];
          if (x >= 0 && y >= 0 && x < 2 ** bits && y < 2 ** bits) plain[y * 2 ** bits + x]!++;
        }
        expect(counts).toEqual(plain);
      },
    ),
  );
});

test("TrackCounts halves the grid until its cells are few enough, and loses no count", () => {
  const cell = fc.tuple(along, along);
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), fc.integer({ min: 1, max: 20 }), (cells, cellsMax) => {
      const counted = new TrackCounts(BITS, cellsMax);
      const plain: (readonly [number, number])[] = [];
      for (const [index, [column, row]] of cells.entries()) {
        counted.add(column, row);
        plain.push([column, row]);
        if (index % 7 === 6) finish(counted.fit());
      }
      finish(counted.fit());
      const shift = BITS - counted.bits;
      const distinct = (by: number) => new Set(plain.map(([x, y]) => `${x >> by} ${y >> by}`)).size;
      expect([counted.size, counted.size <= cellsMax]).toEqual([distinct(shift), true]);
      if (shift > 0) expect(distinct(shift - 1)).toBeGreaterThan(cellsMax);
      const { counts } = finish(finish(TrackGrid.of(counted)).countsIn(new Tile(0, 0, 0), BITS))!;
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(cells.length);
    }),
  );
});

test("the far corner of the world is in the last tile", () => {
  const last = 2 ** 21 - 1;
  const grid = gridOf(21, [[last, last]]);
  const counted = finish(grid.countsIn(new Tile(13, 2 ** 13 - 1, 2 ** 13 - 1), 8))!;
  expect([counted.counts.at(-1), counted.counts.reduce((sum, count) => sum + count)]).toEqual([1, 1]);
  expect(
    finish(grid.countsIn(new Tile(13, 0, 2 ** 13 - 1), 8))!.counts.every((count) => count === 0),
  ).toBeTrue();
});

test("a grid that is coarser than tiles has none for them", () => {
  expect(finish(gridOf(5, [[0, 0]]).countsIn(new Tile(6, 0, 0), 8))).toBeNull();
});

test("TrackCounts has another order in each table, so that no client can choose cells that want the same place", () => {
  const keysOf = () => {
    const counts = new TrackCounts(21, 1000);
    for (let cell = 0; cell < 1000; cell++) counts.add(cell * 7, cell * 13);
    return [...finish(counts.cells()).keys];
  };
  const [first, second] = [keysOf(), keysOf()];
  expect(first).not.toEqual(second);
  expect(first.sort()).toEqual(second.sort());
});
