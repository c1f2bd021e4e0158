import { expect, test } from "bun:test";
import { BoxIndex } from "../../../src/geofences/box-index.ts";
import { deepestOverlap } from "../../../src/geofences/overlap.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { Box } from "../../../src/model/geo/box.ts";
import * as fc from "../../support/fast-check.ts";

/** On a small grid, so that many edges coincide. */
const boxes = fc.array(
  fc.record({ x: fc.nat(8), y: fc.nat(8), width: fc.nat(4), height: fc.nat(4) }).map(boxOf),
  { maxLength: 40 },
);

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function boxOf({ x, y, width, height }: Rectangle): Box {
  return { minLatitude: y, maxLatitude: y + height, minLongitude: x, maxLongitude: x + width };
}

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

/** More than a few nodes have room for, some of them at the same place. */
const crowds = fc.array(
  fc.array(fc.record({ x: fc.nat(60), y: fc.nat(60), width: fc.nat(9), height: fc.nat(9) }).map(boxOf), {
    minLength: 1,
    maxLength: 2,
  }),
  { minLength: 100, maxLength: 900, size: "max" },
);

test("BoxIndex finds what a scan of all boxes finds, while items come and go", () => {
  fc.assert(
    fc.property(crowds, fc.integer({ min: 1, max: 5 }), fc.nat(60), fc.nat(60), (all, keep, y, x) => {
      const items = all.map((boxes) => ({ boxes: withoutContained(boxes) }));
      const index = new BoxIndex<(typeof items)[number]>();
      const present = new Set<(typeof items)[number]>();
      const agrees = () => {
        const visited = new Map<(typeof items)[number], number>();
        index.visit(y, x, (item) => visited.set(item, (visited.get(item) ?? 0) + 1));
        const here = [...present].map((item) => [item, countAt(item.boxes, y, x)] as const);
        expect(visited).toEqual(new Map(here.filter(([, count]) => count > 0)));
        const box = boxOf({ x, y, width: 20, height: 3 });
        const meeting = [...present].filter(({ boxes }) => boxes.some((each) => meets(each, box)));
        expect(new Set(index.meeting(box))).toEqual(new Set(meeting));
      };
      for (const [turn, item] of items.entries()) {
        index.add(item);
        present.add(item);
        if (turn % (keep + 1) !== 0) continue;
        const gone = items[Math.floor(turn / 2)]!;
        if (!present.delete(gone)) continue;
        index.remove(gone);
      }
      agrees();
      for (const item of present) {
        if (present.size === 20) agrees();
        index.remove(item);
        present.delete(item);
      }
      agrees();
      for (const item of items) {
        index.add(item);
        present.add(item);
      }
      agrees();
    }),
    { numRuns: 50 },
  );
});

/** As the boxes of an item are: none contains another. */
function withoutContained(boxes: readonly Box[]): readonly Box[] {
  const [first, second] = boxes;
  return second === undefined || contains(first!, second) || contains(second, first!) ? [first!] : boxes;
}

function contains(outer: Box, inner: Box): boolean {
  return (
    inner.minLatitude >= outer.minLatitude &&
    inner.maxLatitude <= outer.maxLatitude &&
    inner.minLongitude >= outer.minLongitude &&
    inner.maxLongitude <= outer.maxLongitude
  );
}

function meets(one: Box, other: Box): boolean {
  return (
    one.minLatitude <= other.maxLatitude &&
    one.maxLatitude >= other.minLatitude &&
    one.minLongitude <= other.maxLongitude &&
    one.maxLongitude >= other.minLongitude
  );
}
