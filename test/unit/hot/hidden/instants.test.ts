import { expect, test } from "bun:test";
import { Instants } from "../../../../src/hot/hidden/instants.ts";
import * as fc from "../../../support/fast-check.ts";

/** An instant and its owner. */
type Entry = readonly [number, number];

/** Few instants and owners, so that many are equal, and blocks of few rows, so that equal ones lie in several. */
const BLOCK_ROWS = 4;
const times = fc.array(fc.nat(12), { maxLength: 20 }).map((list) => Float64Array.from(list).sort());
const changes = fc.array(fc.record({ adds: fc.boolean(), owner: fc.integer({ min: 1, max: 5 }), times }), {
  maxLength: 20,
});

function compare([timeA, ownerA]: Entry, [timeB, ownerB]: Entry): number {
  return timeA - timeB || ownerA - ownerB;
}

/** Between instants: with the longer one, three of them fit no block. */
const STEPS_MS = [1, 2 ** 31];

test.each(STEPS_MS)(
  "Instants answers what a plain list does after any changes: in steps of %d ms",
  (stepMs) => {
    const scaled = (list: Float64Array) => list.map((each) => each * stepMs);
    fc.assert(
      fc.property(changes, times.map(scaled), fc.nat(13), fc.nat(13), (story, wanted, some, other) => {
        const [someMs, otherMs] = [some * stepMs, other * stepMs];
        const instants = new Instants(BLOCK_ROWS);
        let plain: Entry[] = [];
        for (const { adds, owner, times: unscaled } of story) {
          const times = scaled(unscaled);
          if (adds) {
            instants.add(times, owner);
            plain.push(...[...times].map((timeMs): Entry => [timeMs, owner]));
            plain.sort(compare);
            continue;
          }
          instants.remove(times, owner);
          for (const timeMs of times) {
            const at = plain.findIndex(([each, its]) => each === timeMs && its === owner);
            plain = plain.filter((_, index) => index !== at);
          }
        }
        const all = plain.map(([timeMs]) => timeMs);
        expect([instants.count, [...instants.times]]).toEqual([all.length, all]);
        const [startMs, endMs] = [Math.min(someMs, otherMs), Math.max(someMs, otherMs)];
        expect([...instants.within(startMs, endMs)]).toEqual(
          all.filter((timeMs) => timeMs >= startMs && timeMs < endMs),
        );
        for (const byMs of [0, 2 * stepMs])
          expect([...instants.ownersAt(wanted, byMs)].sort()).toEqual(
            [
              ...new Set(
                plain.filter(([timeMs]) => wanted.includes(timeMs - byMs)).map(([, owner]) => owner),
              ),
            ].sort(),
          );
        for (let timeMs = 0; timeMs <= 13 * stepMs; timeMs += stepMs) {
          const owners = plain.filter(([each]) => each === timeMs).map(([, owner]) => owner);
          expect(instants.has(timeMs)).toBe(owners.length > 0);
          for (let owner = 0; owner <= 6; owner++) {
            expect(instants.ownerAfter(timeMs, owner)).toBe(owners.find((each) => each > owner) ?? 0);
            const isAlone = owners.length > 0 && owners.every((each) => each === owner);
            expect(instants.isOnlyOf(timeMs, owner)).toBe(isAlone);
          }
        }
        for (let owner = 0; owner <= 6; owner++)
          expect([...instants.timesAfter(owner)]).toEqual([
            ...new Set(plain.filter(([, each]) => each > owner).map(([timeMs]) => timeMs)),
          ]);
      }),
    );
  },
);

test("instants that one owner has more often than a block has rows are all removed", () => {
  const instants = new Instants(BLOCK_ROWS);
  const many = new Float64Array(3 * BLOCK_ROWS).fill(5);
  instants.add(Float64Array.of(0, 6), 1);
  instants.add(many, 3);
  instants.remove(many, 3);
  expect([...instants.times]).toEqual([0, 6]);
});

test("a range that was read stays as it was, whatever is added and removed", () => {
  const instants = new Instants();
  instants.add(Float64Array.of(1, 2, 3), 1);
  const [all, some] = [instants.times, instants.within(2, 4)];
  instants.add(Float64Array.of(2, 5), 2);
  instants.remove(Float64Array.of(3), 1);
  expect([[...all], [...some]]).toEqual([
    [1, 2, 3],
    [2, 3],
  ]);
  expect([...instants.times]).toEqual([1, 2, 2, 5]);
});

test("versionOf() differs whenever the instants of the range do, and not for changes far from it", () => {
  fc.assert(
    fc.property(changes, fc.nat(13), fc.nat(13), (story, someMs, otherMs) => {
      const instants = new Instants(BLOCK_ROWS);
      const [startMs, endMs] = [Math.min(someMs, otherMs), 2 * Math.max(someMs, otherMs)];
      const known = new Map<string, string>();
      for (const { adds, owner, times } of story) {
        if (adds) instants.add(times, owner);
        else instants.remove(times, owner);
        const version = instants.versionOf(startMs, endMs);
        const within = instants.within(startMs, endMs).join();
        expect(known.get(version) ?? within).toBe(within);
        known.set(version, within);
      }
    }),
  );
  const instants = new Instants(BLOCK_ROWS);
  for (let timeMs = 0; timeMs < 40; timeMs++) instants.add(Float64Array.of(timeMs));
  for (const endMs of [5, 20]) {
    const version = instants.versionOf(0, endMs);
    instants.add(Float64Array.of(endMs + 5));
    expect(instants.versionOf(0, endMs)).toBe(version);
    instants.remove(Float64Array.of(3));
    expect(instants.versionOf(0, endMs)).not.toBe(version);
  }
});
