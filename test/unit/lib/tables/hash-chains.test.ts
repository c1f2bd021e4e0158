import { expect, test } from "bun:test";
import { END, HashChains } from "../../../../src/lib/tables/hash-chains.ts";
import * as fc from "../../../support/fast-check.ts";

/** Items that are found by a hash. */
function itemsOf(chains: HashChains, hash: number): number[] {
  const items: number[] = [];
  let link = chains.find(chains.chainOf(hash), hash);
  while (link !== END) {
    items.push(link - 1);
    link = chains.find(chains.after(link), hash);
  }
  return items.sort((a, b) => a - b);
}

test("chains find by a hash what was added with it and not removed, however many came and went", () => {
  const act = fc.record({
    from: fc.constantFrom(0, 50, 4000, 100_000),
    count: fc.constantFrom(1, 7, 300),
    isAdded: fc.boolean(),
  });
  const hashOf = fc.constantFrom(
    (item: number) => Math.imul(item, 0x9e3779b1),
    (item: number) => item % 3,
    () => -1,
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 20 }), hashOf, (acts, hash) => {
      const chains = new HashChains();
      const plain = new Map<number, number>();
      for (const { from, count, isAdded } of acts) {
        for (let item = from; item < from + count; item++) {
          if (isAdded && !plain.has(item)) {
            chains.add(item, hash(item) | 0);
            plain.set(item, hash(item) | 0);
          } else if (!isAdded && plain.delete(item)) chains.remove(item);
        }
        expect(chains.size).toBe(plain.size);
      }
      const byHash = Map.groupBy(plain.keys(), (item) => plain.get(item)!);
      for (const [each, items] of byHash) expect(itemsOf(chains, each)).toEqual(items.sort((a, b) => a - b));
      expect(itemsOf(chains, 12_345)).toEqual([]);
      for (const [item, each] of plain) expect(chains.hashOf(item)).toBe(each);
    }),
  );
});

test("chains find all of many pages, also once most have gone and come back", () => {
  const chains = new HashChains();
  const hashOf = (item: number) => Math.imul(item, 0x9e3779b1);
  const count = 20_000;
  for (let item = 0; item < count; item++) chains.add(item, hashOf(item));
  for (let item = 100; item < count; item++) chains.remove(item);
  for (let item = 0; item < count; item++)
    expect(itemsOf(chains, hashOf(item))).toEqual(item < 100 ? [item] : []);
  for (let item = 100; item < count; item++) chains.add(item, hashOf(item));
  for (let item = 0; item < count; item++) expect(itemsOf(chains, hashOf(item))).toEqual([item]);
});
