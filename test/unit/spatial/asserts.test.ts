import { expect, test } from "bun:test";
import { AssertionError } from "../../../src/lib/assert.ts";
import { CELL_BITS_MAX, geohashCell } from "../../../src/model/geo/geohash.ts";
import { PositionCells } from "../../../src/spatial/cells.ts";
import { PositionNode } from "../../../src/spatial/node.ts";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import { RowAddresses, RowPool } from "../../../src/spatial/row-pool.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import { numberOrder } from "../../support/number-order.ts";

/** Where the index relies on something, a break of it stops us before it becomes an answer. */

const COARSE_BITS = 12;

/** A node with two leaves of two rows each. */
function plantTree() {
  const cells = new PositionCells<PositionNode>();
  const pool = new RowPool();
  const addresses = new RowAddresses();
  const cellOf = (latitude: number) => geohashCell(latitude, 20, CELL_BITS_MAX);
  const root = new PositionNode(
    null,
    geohashCell(10, 20, COARSE_BITS),
    COARSE_BITS,
    cells.takeSiblings(),
    pool.take(0),
  );
  cells.put(root.number, root);
  const add = (latitude: number, device: number, timeMs: number) => {
    const leaf = root.childFor(cellOf(latitude), device, cells, pool);
    for (let node: PositionNode | null = leaf; node !== null; node = node.parent) node.noteAdded(timeMs, 0);
    leaf.insertRow(timeMs, 0, 0, 0, 0, device, addresses, pool);
    return leaf;
  };
  add(8.5, 0, 100);
  add(8.5, 1, 200);
  add(10.9, 2, 100);
  const leaf = add(10.9, 3, 200);
  return { root, leaf, addresses, pool };
}

test("a node that counts other positions than its children is caught when it is counted", () => {
  const { root, leaf } = plantTree();
  expect([root.countFresh(150, Number.MAX_VALUE), root.isConsistent()]).toEqual([2, true]);
  leaf.count++; // As if a row had been noted in a leaf alone.
  expect(root.isConsistent()).toBe(false);
  expect(() => root.countFresh(50, Number.MAX_VALUE)).toThrow(AssertionError);
});

test("rows out of their order of time are no leaf's", () => {
  const { root, leaf } = plantTree();
  leaf.times[leaf.start] = 300;
  expect(root.isConsistent()).toBe(false);
});

test("a device that is not in the leaf it is said to be in is caught, rather than looked for for ever", () => {
  const { leaf, addresses } = plantTree();
  expect(leaf.rowOf(3, addresses.of(3))).toBe(1);
  expect(() => leaf.rowOf(0, addresses.of(0))).toThrow(AssertionError);
  expect(() => leaf.rowOf(2, addresses.of(3))).toThrow(AssertionError); // It is before.
});

test("rows that are given back twice are caught: two leaves would share them", () => {
  const { leaf, pool } = plantTree();
  leaf.release(pool);
  expect(() => leaf.release(pool)).toThrow(AssertionError);
});

test("a device that was never added, or is taken out twice, is caught", () => {
  const index = new PositionIndex(new PositionSearch(), numberOrder(2));
  expect(() => index.remove(0)).toThrow(AssertionError);
  index.set(0, 1, 2, 3, Number.NaN);
  index.remove(0);
  expect(() => index.remove(0)).toThrow(AssertionError);
});
