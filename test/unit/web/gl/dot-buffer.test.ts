import { expect, test } from "bun:test";
import type { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { DOT_LEVELS, DOT_WORDS, DotBuffer, type DotView } from "../../../../src/web/gl/dot-buffer.ts";
import { GLIDE_MS } from "../../../../src/web/gl/glide-pace.ts";
import * as fc from "../../../support/fast-check.ts";
import { type Dot, dots, tableOf } from "./dot-fleet.ts";

const BUS: Dot = { latitude: 42.36, longitude: -71.06, timestamp: 1_700_000_000_999, bearing: 90, speed: 10 };

/** Parts of the world's width in a degree of longitude. */
const DEGREE = 2 ** 32 / 360;

function filled(...buses: Partial<Dot>[]): { buffer: DotBuffer; table: DeviceTable } {
  const table = tableOf(buses.map((bus) => ({ ...BUS, ...bus })));
  const buffer = new DotBuffer();
  buffer.update(table, { kind: "all" }, 0);
  return { buffer, table };
}

/** Takes the newest record of a row, which may be the one behind the last. */
function report(buffer: DotBuffer, table: DeviceTable, row: number, dot: Dot, nowMs: number): void {
  table.update([{ device_id: String(row), ...dot }]);
  buffer.update(table, { kind: "rows", rows: [row] }, nowMs);
}

function wordsOf(buffer: DotBuffer, row: number): number[] {
  return [...buffer.words.subarray(row * DOT_WORDS, (row + 1) * DOT_WORDS)];
}

test("DotBuffer has place, second, bearing and level of each row, as documented", () => {
  const { buffer, table } = filled({}, { latitude: 0 });
  table.showOnly(Uint32Array.of(0));
  buffer.update(table, { kind: "shown" }, 0);
  const [x, y] = [worldX(-71.06), worldY(42.36)];
  expect(wordsOf(buffer, 0)).toEqual([x, y, x, y, 0, 1_700_000_000, 90 | (DOT_LEVELS.plain << 16)]);
  expect(wordsOf(buffer, 1)[6]).toBe(90 | (DOT_LEVELS.dim << 16));
});

test("a dot points where it goes only if that is known and it isn't known to stand", () => {
  const { latitude, longitude, timestamp } = BUS;
  const table = tableOf([
    { ...BUS, bearing: 359.7 },
    { latitude, longitude, timestamp, bearing: 12.4 },
    { ...BUS, speed: 0.1 },
    { latitude, longitude, timestamp, speed: 10 },
  ]);
  const buffer = new DotBuffer();
  buffer.update(table, { kind: "all" }, 0);
  expect([0, 1, 2, 3].map((row) => wordsOf(buffer, row)[6]! & 511)).toEqual([0, 12, 511, 511]);
});

test("a dot glides from where it stands to where its device is, and across ±180° the short way", () => {
  const { buffer, table } = filled({ longitude: 179.99 });
  report(buffer, table, 0, { ...BUS, longitude: -179.99 }, 1000);
  expect(buffer.positionAt(0, 1000).x).toBe(worldX(179.99));
  expect(buffer.positionAt(0, 1000 + GLIDE_MS).x).toBe(worldX(-179.99));
  const half = buffer.positionAt(0, 1000 + GLIDE_MS / 2).x;
  expect(Math.abs((half - worldX(180)) | 0)).toBeLessThanOrEqual(1);

  report(buffer, table, 0, { ...BUS, longitude: -179.98 }, 1000 + GLIDE_MS / 2);
  expect(Math.abs((buffer.positionAt(0, 1000 + GLIDE_MS / 2).x - half) | 0)).toBeLessThanOrEqual(1);
});

test("a dot is where its device is at once after a leap, and for those who want no motion", () => {
  const { buffer, table } = filled({ longitude: 10 }, { longitude: 10 });
  report(buffer, table, 0, { ...BUS, longitude: 11 }, 1000);
  expect(buffer.positionAt(0, 1000).x).toBe(worldX(11));

  buffer.glideMs = 0;
  report(buffer, table, 1, { ...BUS, longitude: 10.001 }, 1000);
  expect(buffer.positionAt(1, 1000).x).toBe(worldX(10.001));
  expect(buffer.isGlideSeen(viewOf(10, 1), 1000)).toBe(false);
});

/** A map of so many degrees around a place on the bus's parallel, where a hundredth of a degree takes a pixel. */
function viewOf(longitude: number, degrees: number): DotView {
  const center = [worldX(longitude), worldY(BUS.latitude)] as const;
  return { center, reach: [degrees * DEGREE, degrees * DEGREE], pixel: DEGREE / 100 };
}

test("a glide is seen until it ends, where the map shows some of it, and more than half a pixel", () => {
  const { buffer, table } = filled({ longitude: 179.9 }, { longitude: 5 });
  expect(buffer.isGlideSeen(viewOf(180, 1), 1000)).toBe(false);
  report(buffer, table, 0, { ...BUS, longitude: -179.9 }, 1000);
  report(buffer, table, 1, { ...BUS, longitude: 5.004 }, 1000);
  const isSeen = (longitude: number, degrees: number, nowMs = 1001) =>
    buffer.isGlideSeen(viewOf(longitude, degrees), nowMs);
  expect([isSeen(180, 0.01), isSeen(-179.5, 0.5), isSeen(179.5, 0.5)]).toEqual([true, true, true]);
  expect([isSeen(-179.5, 0.3), isSeen(179.5, 0.3), isSeen(5, 1)]).toEqual([false, false, false]);
  expect(buffer.isGlideSeen({ ...viewOf(5, 1), pixel: DEGREE / 200 }, 1001)).toBe(true);
  expect(isSeen(180, 1, 1000 + GLIDE_MS)).toBe(false);
});

test("a dot looks older two minutes and an hour after its report", () => {
  const { buffer } = filled({ timestamp: 1_700_000_000_000 }, { timestamp: 1_700_000_060_000 });
  const aged = (from: number, to: number) => buffer.hasAged(1_700_000_000_000 + from, 1_700_000_000_000 + to);
  expect([aged(0, 119_999), aged(119_999, 120_000), aged(120_000, 179_999)]).toEqual([false, true, false]);
  expect([aged(179_999, 180_000), aged(180_000, 3_599_999), aged(0, 9e9)]).toEqual([true, false, true]);
});

test("marked rows stand out until others are marked", () => {
  const { buffer, table } = filled({}, {}, {});
  table.showOnly(Uint32Array.of(0, 2));
  buffer.update(table, { kind: "shown" }, 0);
  const levels = () => [0, 1, 2].map((row) => wordsOf(buffer, row)[6]! >> 16);
  buffer.mark(new Set([0, 1]), table);
  expect(levels()).toEqual([DOT_LEVELS.marked, DOT_LEVELS.marked, DOT_LEVELS.plain]);
  buffer.mark(new Set([2]), table);
  expect(levels()).toEqual([DOT_LEVELS.plain, DOT_LEVELS.dim, DOT_LEVELS.marked]);
});

test("no place stays in the buffer of nobody", () => {
  const { buffer, table } = filled({}, {});
  table.clear();
  buffer.update(table, { kind: "all" }, 0);
  expect(buffer.size).toBe(0);
  expect(buffer.words.every((word) => word === 0)).toBe(true);
});

const reports = fc.array(
  fc.record({ row: fc.nat(299), dot: dots, isTaken: fc.boolean(), ms: fc.nat(2000) }),
  {
    maxLength: 60,
  },
);

test("what is stale, taken step by step, makes a copy that equals the buffer", () => {
  fc.assert(
    fc.property(fc.array(dots, { maxLength: 300 }), reports, (before, steps) => {
      const table = tableOf(before);
      const buffer = new DotBuffer();
      buffer.update(table, { kind: "all" }, 0);
      let copy: Uint32Array = new Uint32Array(0);
      let nowMs = 1000;
      const take = () => {
        const spans = buffer.takeStale();
        if (copy.length !== buffer.words.length) copy = buffer.words.slice();
        for (const { start, end } of spans)
          copy.set(buffer.words.subarray(start * DOT_WORDS, end * DOT_WORDS), start * DOT_WORDS);
      };
      take();
      for (const { row, dot, isTaken, ms } of steps) {
        nowMs += ms;
        report(buffer, table, Math.min(row, table.size), dot, nowMs);
        if (isTaken) take();
      }
      take();
      const size = table.size * DOT_WORDS;
      expect(copy.subarray(0, size)).toEqual(buffer.words.subarray(0, size));
      expect(buffer.takeStale()).toEqual([]);
    }),
  );
});

test("nearest() agrees with measuring every dot that is not dimmed", () => {
  const clicks = fc.record({
    at: dots,
    reach: fc.constantFrom(0, DEGREE / 1e5, DEGREE / 1000, DEGREE, 2 ** 31),
    isHidden: fc.infiniteStream(fc.boolean()),
  });
  fc.assert(
    fc.property(
      fc.array(dots, { maxLength: 100 }),
      clicks,
      reports,
      (before, { at, reach, isHidden }, steps) => {
        const table = tableOf(before);
        const shownRows = before.flatMap((_, row) => (isHidden.next().value === true ? [] : [row]));
        table.showOnly(Uint32Array.from(shownRows));
        const buffer = new DotBuffer();
        buffer.update(table, { kind: "all" }, 0);
        for (const { row, dot } of steps) report(buffer, table, Math.min(row, table.size), dot, 1000);
        const [x, y] = [worldX(at.longitude), worldY(at.latitude)];
        const distanceTo = (row: number) => {
          const place = buffer.positionAt(row, 1300);
          const dx = Math.abs(place.x - x);
          return Math.hypot(Math.min(dx, 2 ** 32 - dx), place.y - y);
        };
        const shown = Array.from({ length: table.size }, (_, row) => row).filter((row) => table.isShown(row));
        const least = Math.min(...shown.map(distanceTo));
        const found = buffer.nearest(x, y, reach, 1300);
        if (found === null) expect(least).toBeGreaterThan(reach - 1);
        else {
          expect(table.isShown(found)).toBe(true);
          expect(Math.abs(distanceTo(found) - least)).toBeLessThanOrEqual(1);
        }
      },
    ),
  );
});
