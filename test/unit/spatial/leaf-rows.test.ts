import { expect, test } from "bun:test";
import { LeafRows, NO_DEVICE } from "../../../src/spatial/leaf-rows.ts";
import { POINT, RowAddresses, RowPool } from "../../../src/spatial/row-pool.ts";
import * as fc from "../../support/fast-check.ts";
import { randomRuns } from "../../support/random-runs.ts";

/*
 * Goal: rows of a leaf are those of a list that is sorted by time, whatever comes, goes and reports again in between.
 * Method: devices report mostly the newest time, and at times an older one or the same; after each step all rows are
 * compared with a map's, and so is what is counted from any row on.
 */

const DEVICES = 120;
const CELL = 7;

const steps = fc.array(
  fc.record({
    device: fc.nat(DEVICES - 1),
    kind: fc.oneof(
      { weight: 12, arbitrary: fc.constant("newest" as const) },
      { weight: 2, arbitrary: fc.constant("late" as const) },
      { weight: 2, arbitrary: fc.constant("again" as const) },
      { weight: 2, arbitrary: fc.constant("leave" as const) },
    ),
    late: fc.nat(40),
  }),
  { minLength: 1, maxLength: 900, size: "max" },
);

interface Row {
  readonly timeMs: number;
  readonly accuracy: number;
  readonly x: number;
}

/** All rows that are no holes, by device, each where it is looked for. */
function readRows(leaf: LeafRows, addresses: RowAddresses): Map<number, Row> {
  const rows = new Map<number, Row>();
  for (let row = 0; row < leaf.rowCount; row++) {
    const at = (leaf.start + row) * POINT.width;
    const device = leaf.points[at + POINT.device]!;
    if (device === NO_DEVICE) continue;
    expect(leaf.rowOf(device, addresses.of(device))).toBe(row);
    rows.set(device, {
      timeMs: leaf.timeAt(row),
      accuracy: leaf.accuracyAt(row),
      x: leaf.points[at + POINT.x]!,
    });
  }
  return rows;
}

function lastRowOf(leaf: LeafRows): number {
  let last = -1;
  for (let row = 0; row < leaf.rowCount; row++) if (leaf.deviceAt(row) !== NO_DEVICE) last = row;
  return last;
}

test("rows are in order of time and where they are looked for, whatever came and went", () => {
  let holes = 0;
  let late = 0;
  fc.assert(
    fc.property(steps, (sequence) => {
      const pool = new RowPool();
      const addresses = new RowAddresses();
      const leaf = new LeafRows(CELL, pool.take(0));
      const expected = new Map<number, Row>();
      let nowMs = 0;
      sequence.forEach(({ device, kind, late: byMs }, step) => {
        const known = expected.get(device);
        if (kind === "leave") {
          if (known === undefined) return;
          leaf.removeRow(leaf.rowOf(device, addresses.of(device)), addresses);
          expected.delete(device);
        } else {
          const timeMs =
            kind === "newest" ? ++nowMs : kind === "late" ? nowMs - byMs : (known?.timeMs ?? nowMs);
          const row = { timeMs, accuracy: step, x: step / 1000 };
          if (known === undefined) leaf.insertRow(timeMs, step, row.x, 0, 0, device, addresses, pool);
          else {
            const at = leaf.rowOf(device, addresses.of(device));
            leaf.replaceRow(at, timeMs, step, row.x, 0, 0, device, addresses, pool);
          }
          expected.set(device, row);
          if (timeMs < nowMs) late++;
        }
        expect(leaf.hasInOrder(expected.size)).toBe(true);
        expect(readRows(leaf, addresses)).toEqual(expected);
        if (expected.size > 0) expect(leaf.newestRow).toBe(lastRowOf(leaf));
        holes += leaf.rowCount - expected.size;
        const oldestMs = nowMs - byMs;
        const fresh = [...expected.values()].filter(({ timeMs }) => timeMs >= oldestMs).length;
        expect(leaf.countFrom(leaf.firstSince(oldestMs))).toBe(fresh);
      });
    }),
    { numRuns: 60 },
  );
  // Else each move closes its hole at once, and nothing is counted around one.
  expect(holes).toBeGreaterThan(randomRuns(10_000));
  expect(late).toBeGreaterThan(randomRuns(1000));
});

test("a hole is nobody: no bound of accuracy lets it pass, and it is far from the sphere", () => {
  const pool = new RowPool();
  const addresses = new RowAddresses();
  const leaf = new LeafRows(CELL, pool.take(0));
  for (let device = 0; device < 40; device++) leaf.insertRow(device, 5, 1, 0, 0, device, addresses, pool);
  leaf.removeRow(3, addresses);
  expect(leaf.rowCount).toBe(40);
  expect(leaf.accuracyAt(3)).toBeGreaterThan(Number.MAX_VALUE);
  expect(leaf.points[(leaf.start + 3) * POINT.width + POINT.x]).toBeGreaterThan(3);
  expect(leaf.timeAt(3)).toBe(3);
});

test("holes are never more than an eighth of the rows behind the first", () => {
  const pool = new RowPool();
  const addresses = new RowAddresses();
  const leaf = new LeafRows(CELL, pool.take(0));
  for (let device = 0; device < 400; device++) leaf.insertRow(device, 5, 1, 0, 0, device, addresses, pool);
  for (let move = 0; move < 2000; move++) {
    const device = (move * 7919) % 400;
    const row = leaf.rowOf(device, addresses.of(device));
    leaf.replaceRow(row, 400 + move, 5, 1, 0, 0, device, addresses, pool);
    expect(leaf.rowCount - 400).toBeLessThanOrEqual(leaf.rowCount / 8);
  }
});
