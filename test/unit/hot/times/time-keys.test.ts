import { expect, test } from "bun:test";
import { DeviceSet } from "../../../../src/hot/times/device-set.ts";
import {
  deviceOf,
  LEAF_KEYS,
  mergeRuns,
  msOf,
  TimeKeys,
  timeKey,
} from "../../../../src/hot/times/time-keys.ts";
import * as fc from "../../../support/fast-check.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/* The parts of a day index, against what plain arrays and sets say. */

const MS_PER_DAY = 86_400_000;
const random = seededRandom(14);

/** Ways in which keys come in: most of them in order, all in reverse, anywhere, few that are far apart. */
const ARRIVALS: Readonly<Record<string, (step: number) => number>> = {
  "mostly in order": (step) => timeKey(step * 10 + Math.floor(random() * 100), Math.floor(random() * 1000)),
  reverse: (step) => timeKey(MS_PER_DAY - step * 10, 7),
  anywhere: () => timeKey(Math.floor(random() * MS_PER_DAY), Math.floor(random() * 2 ** 26)),
  "one instant": () => timeKey(43_200_000, Math.floor(random() * 10_000)),
};

for (const [name, arrival] of Object.entries(ARRIVALS)) {
  test(`TimeKeys holds each key once and in order, whichever way they come: ${name}`, () => {
    fc.assert(
      fc.property(fc.nat(5 * LEAF_KEYS), fc.nat(3 * LEAF_KEYS), (appended, added) => {
        const first = Float64Array.from(new Set(Array.from({ length: appended }, () => arrival(0)))).sort();
        const keys = new TimeKeys();
        for (let start = 0; start < first.length; start += LEAF_KEYS)
          keys.append(first.slice(start, start + LEAF_KEYS));
        const known = new Set(first);
        for (let step = 0; step < added; step++) {
          const key = arrival(step);
          expect(keys.add(key)).toBe(!known.has(key));
          known.add(key);
          if (step % 97 > 0) continue;
          const looked = arrival(step);
          expect(keys.countBefore(looked)).toBe([...known].filter((other) => other < looked).length);
        }
        const all = Float64Array.from(known).sort();
        expect(keys.count).toBe(all.length);
        const [from, to] = [Math.floor(random() * all.length), Math.ceil(random() * all.length)];
        expect(keys.slice(from, to)).toEqual(all.slice(from, Math.max(from, to)));
        expect(keys.slice(0, all.length)).toEqual(all);
        for (const index of [0, Math.floor(all.length / 2), all.length - 1])
          if (index in all) expect(keys.countBefore(all[index]!)).toBe(index);
      }),
      { numRuns: 20 },
    );
  });
}

test("a key tells its time and device, at the ends of both", () => {
  for (const ms of [0, 1, MS_PER_DAY - 1, MS_PER_DAY])
    for (const device of [0, 1, 2 ** 26 - 1])
      expect([msOf(timeKey(ms, device)), deviceOf(timeKey(ms, device))]).toEqual([ms, device]);
  expect(() => timeKey(0, 2 ** 26)).toThrow("a device's number fits into a key");
});

test("mergeRuns() gives all keys in order, and rests in between", () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(50), { maxLength: 20 }), { maxLength: 9 }), (runs) => {
      const merging = mergeRuns(runs.map((run) => Float64Array.from(run).sort()));
      let step = merging.next();
      while (step.done !== true) step = merging.next();
      expect(step.value).toEqual(Float64Array.from(runs.flat()).sort());
    }),
  );
  const long = mergeRuns([new Float64Array(50_000), new Float64Array(50_000).fill(1)]);
  expect([...long].length).toBeGreaterThan(10);
});

test("DeviceSet is a set of numbers", () => {
  const numbers = fc.array(fc.oneof(fc.nat(200), fc.nat(2 ** 26 - 1)), { maxLength: 200 });
  fc.assert(
    fc.property(numbers, numbers, (ours, theirs) => {
      const [set, others] = [new DeviceSet(), new DeviceSet()];
      for (const number of ours) set.add(number);
      for (const number of theirs) others.add(number);
      expect(set.size).toBe(new Set(ours).size);
      for (const number of [...ours, ...theirs]) expect(set.has(number)).toBe(ours.includes(number));
      set.addAll(others);
      const all = new Set([...ours, ...theirs]);
      expect(set.size).toBe(all.size);
      for (const number of all) expect(set.has(number)).toBe(true);
      expect(others.size).toBe(new Set(theirs).size);
    }),
  );
});
