import { expect, test } from "bun:test";
import { CountedTuples } from "../../../../src/hot/records/counted-tuples.ts";
import * as fc from "../../../support/fast-check.ts";

const ignore = () => {};

test("tuples are what a map of their texts would hold, while its table grows and shrinks", () => {
  const steps = fc.array(
    fc.record({ from: fc.nat(3000), count: fc.nat(600), isAdded: fc.boolean(), isCollected: fc.boolean() }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(steps, (story) => {
      const tuples = new CountedTuples(2);
      const plain = new Map<string, number>();
      for (const { from, count, isAdded, isCollected } of story) {
        const released = new Set<string>();
        for (let value = from; value < from + count; value++) {
          const members = Uint32Array.of(value % 50, value);
          const known = plain.get(members.join());
          if (isAdded) {
            const tuple = tuples.add(members, ignore);
            if (known === undefined) tuples.retain(tuple);
            else expect(tuple).toBe(known);
            plain.set(members.join(), tuple);
          } else if (known !== undefined) {
            tuples.release(known);
            plain.delete(members.join());
            released.add(members.join());
          }
        }
        const gone: string[] = [];
        tuples.collect((members) => gone.push(members.join()));
        expect(gone.sort()).toEqual([...released].filter((text) => !plain.has(text)).sort());
        expect(tuples.size).toBe(plain.size);
        if (isCollected) tuples.reuse();
        for (const [text, tuple] of plain)
          expect([tuples.at(tuple, 0), tuples.at(tuple, 1)].join()).toBe(text);
        expect(new Set(plain.values()).size).toBe(plain.size);
      }
    }),
  );
});

test("a tuple that went is another one when it comes again, also the very next", () => {
  const tuples = new CountedTuples(1);
  const first = tuples.add(Uint32Array.of(1), ignore);
  tuples.collect(ignore);
  const again = tuples.add(Uint32Array.of(1), ignore);
  tuples.retain(again);
  tuples.collect(ignore);
  expect([again === first, tuples.at(again, 0), tuples.size]).toEqual([false, 1, 1]);
});

test("collect() removes tuples that were never retained, and those whose last reference was released", () => {
  const tuples = new CountedTuples(1);
  const kept = tuples.add(Uint32Array.of(1), ignore);
  const left = tuples.add(Uint32Array.of(2), ignore);
  tuples.add(Uint32Array.of(3), ignore);
  tuples.retain(kept);
  tuples.retain(left);
  tuples.release(left);
  const gone: number[] = [];
  tuples.collect((members) => gone.push(members[0]!));
  expect([gone, tuples.size]).toEqual([[2, 3], 1]);
  expect(() => tuples.retain(left)).toThrow("retained before it is removed");
  tuples.release(kept);
  expect(() => tuples.release(kept)).toThrow("as often as it was retained");
});
