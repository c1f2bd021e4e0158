import { expect, test } from "bun:test";
import { NameOrder } from "../../../../src/web/devices/name-order.ts";
import { RowOrder } from "../../../../src/web/devices/row-order.ts";
import * as fc from "../../../support/fast-check.ts";

const keys = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(Number.POSITIVE_INFINITY, -0));

test("rows are in the order of their keys, however keys changed and rows were added", () => {
  fc.assert(
    fc.property(fc.array(fc.array(keys, { maxLength: 30 }), { maxLength: 8 }), (rounds) => {
      const order = new RowOrder();
      let all: number[] = [];
      for (const round of rounds) {
        all = [...round, ...all.slice(round.length)]; // Some are others, and there are never fewer.
        const rows = order.refresh(all.length, (row) => all[row]!);
        const sorted = all.map((_, row) => row).sort((a, b) => all[a]! - all[b]! || a - b);
        expect([...rows]).toEqual(sorted);
      }
    }),
  );
});

test("cleared, it begins anew with other rows", () => {
  const order = new RowOrder();
  order.refresh(3, (row) => -row);
  order.clear();
  expect([...order.refresh(2, (row) => row)]).toEqual([0, 1]);
});

test("names have the ranks of a collator that counts, also those that come later", () => {
  const collator = new Intl.Collator(undefined, { numeric: true });
  const names = fc.array(
    fc.oneof(
      fc.constantFrom("Ärger", "arg", "zoo", "", "bus 010"),
      fc.nat(12).map((n) => `bus ${n}`),
    ),
    {
      maxLength: 20,
    },
  );
  fc.assert(
    fc.property(names, names, (first, later) => {
      const order = new NameOrder();
      order.ranksOf(first);
      const all = [...first, ...later];
      const ranks = order.ranksOf(all);
      const rows = all.map((_, row) => row).sort((a, b) => collator.compare(all[a]!, all[b]!) || a - b);
      expect(rows.map((row) => ranks[row]!)).toEqual(rows.map((_, rank) => rank));
    }),
  );
});
