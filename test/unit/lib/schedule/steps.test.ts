import { expect, test } from "bun:test";
import { sortInSteps } from "../../../../src/lib/schedule/steps.ts";
import * as fc from "../../../support/fast-check.ts";

test("sortInSteps() sorts as toSorted() does, some thousand at a time", () => {
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(50), (length, values) => {
      const items = Array.from({ length }, (_, index) => ({ value: (index * 7919) % (values + 1), index }));
      const compare = (a: { value: number }, b: { value: number }) => a.value - b.value;
      const work = sortInSteps(items, compare);
      for (let steps = 0; ; steps++) {
        const next = work.next();
        if (next.done !== true) continue;
        expect(next.value).toEqual(items.toSorted(compare));
        expect(steps).toBeGreaterThanOrEqual(Math.floor(length / 1024));
        return;
      }
    }),
    { numRuns: 60 },
  );
});
