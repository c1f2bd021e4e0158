import { expect, test } from "bun:test";
import { BoxIndex } from "../../../src/geofences/box-index.ts";
import { deepestOverlap } from "../../../src/geofences/overlap.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { Box } from "../../../src/model/geo/box.ts";
import * as fc from "../../support/fast-check.ts";

/** On a small grid, so that many edges coincide. */
const boxes = fc.array(
  fc.record({ x: fc.nat(8), y: fc.nat(8), width: fc.nat(4), height: fc.nat(4) }).map(
    ({ x, y, width, height }): Box => ({
      minLatitude: y,
      maxLatitude: y + height,
      minLongitude: x,
      maxLongitude: x + width,
    }),
  ),
  { maxLength: 40 },
);

function countAt(all: readonly Box[], latitude: number, longitude: number): number {
  return all.filter(
    (box) =>
      latitude >= box.minLatitude &&
      latitude <= box.maxLatitude &&
      longitude >= box.minLongitude &&
      longitude <= box.maxLongitude,
  ).length;
}

test("deepestOverlap() agrees with counting at each corner of the grid", () => {
  fc.assert(
    fc.property(boxes, (all) => {
      let most = 0;
      for (let y = 0; y <= 12; y++) for (let x = 0; x <= 12; x++) most = Math.max(most, countAt(all, y, x));
      const { latitude, longitude, count } = inOneTurn(deepestOverlap(all));
      expect(count).toBe(most);
      if (count > 0) expect(countAt(all, latitude, longitude)).toBe(count);
    }),
    { numRuns: 500 },
  );
});

test("BoxIndex finds what a scan of all boxes finds, after additions and removals", () => {
  fc.assert(
    fc.property(boxes, fc.array(fc.nat(39)), fc.nat(12), fc.nat(12), (all, removed, y, x) => {
      const items = all.map((box) => ({ boxes: [box] }));
      const index = new BoxIndex<(typeof items)[number]>();
      for (const item of items) index.add(item);
      const gone = new Set(removed.flatMap((at) => items[at] ?? []));
      for (const item of gone) index.remove(item);
      const left = items.filter((item) => !gone.has(item));
      const visited = new Set<(typeof items)[number]>();
      index.visit(y, x, (item) => visited.add(item));
      expect(visited).toEqual(new Set(left.filter((item) => countAt(item.boxes, y, x) > 0)));
    }),
    { numRuns: 200 },
  );
});
