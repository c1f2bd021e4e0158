import { expect, test } from "bun:test";
import type { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { latitudeOf, longitudeOf, worldX, worldY } from "../../../../src/web/geo/world.ts";
import { DotBuffer } from "../../../../src/web/gl/dot-buffer.ts";
import { GLIDE_MS } from "../../../../src/web/gl/glide-pace.ts";
import {
  SHARE_WHOLE,
  TAIL_DIM,
  TAIL_MS,
  TAIL_WORDS,
  TailBuffer,
} from "../../../../src/web/gl/tail-buffer.ts";
import * as fc from "../../../support/fast-check.ts";
import { dots as anyDots, type Dot, tableOf } from "./dot-fleet.ts";

const BEGIN_MS = 1_700_000_000_000;
const BUS: Dot = { latitude: 42, longitude: -71, timestamp: BEGIN_MS, speed: 10 };

interface Fleet {
  readonly table: DeviceTable;
  readonly dots: DotBuffer;
  readonly tails: TailBuffer;
}

function fleetOf(...buses: Partial<Dot>[]): Fleet {
  const table = tableOf(buses.map((bus) => ({ ...BUS, ...bus })));
  const fleet = { table, dots: new DotBuffer(), tails: new TailBuffer() };
  fleet.tails.update(table, { kind: "all" }, fleet.dots, { pageMs: 0, unixMs: BEGIN_MS });
  fleet.dots.update(table, { kind: "all" }, 0);
  return fleet;
}

/** Reports a bus this many seconds after the begin, and by default this many thousandths of a degree to the east. */
function report({ table, dots, tails }: Fleet, row: number, second: number, dot: Partial<Dot> = {}): void {
  const timestamp = BEGIN_MS + second * 1000;
  const longitude = BUS.longitude + second / 1000;
  table.update([{ device_id: String(row), ...BUS, timestamp, longitude, ...dot }]);
  const change = { kind: "rows", rows: [row] } as const;
  tails.update(table, change, dots, { pageMs: second * 1000, unixMs: timestamp });
  dots.update(table, change, second * 1000);
}

function segmentsOf({ tails }: Fleet): number[][] {
  return Array.from({ length: tails.size }, (_, slot) => [
    ...tails.words.subarray(slot * TAIL_WORDS, (slot + 1) * TAIL_WORDS),
  ]);
}

const xAt = (second: number) => worldX(BUS.longitude + second / 1000);
const LANE = worldY(BUS.latitude);
const wordOf = (second: number) => (BEGIN_MS + second * 1000) % 2 ** 32;

test("a straight way is one segment, as documented, which begins to grow where the dot is", () => {
  const fleet = fleetOf({});
  report(fleet, 0, 2);
  expect(segmentsOf(fleet)).toEqual([[xAt(0), LANE, xAt(2), LANE, wordOf(0), wordOf(2), 2000, 0]]);
  report(fleet, 0, 4);
  const [segment] = segmentsOf(fleet);
  expect(segmentsOf(fleet)).toHaveLength(1);
  expect(segment!.slice(0, 7)).toEqual([xAt(0), LANE, xAt(4), LANE, wordOf(0), wordOf(4), 4000]);
  expect(segment![7]! / SHARE_WHOLE).toBeCloseTo(0.5, 3);
});

test("after 8 seconds, and where the device turns, another segment begins at the end of the last", () => {
  const fleet = fleetOf({});
  for (const second of [4, 8, 12]) report(fleet, 0, second);
  report(fleet, 0, 14, { latitude: 42.003, longitude: BUS.longitude + 0.012 });
  const segments = segmentsOf(fleet);
  expect(segments).toHaveLength(3);
  for (const [index, segment] of segments.slice(1).entries())
    expect(segment.slice(0, 2)).toEqual(segments[index]!.slice(2, 4));
});

test("a segment that ends while the dot still glides ends where the dot is", () => {
  const fleet = fleetOf({});
  report(fleet, 0, 1);
  report(fleet, 0, 1 + GLIDE_MS / 2000, { latitude: 42.002, longitude: BUS.longitude + 0.001 });
  const [first, second] = segmentsOf(fleet);
  expect(first![2]).toBeGreaterThan(xAt(0));
  expect(first![2]).toBeLessThan(xAt(1));
  expect(first![7]).toBe(SHARE_WHOLE);
  expect(second!.slice(0, 2)).toEqual(first!.slice(2, 4));
});

test("standing devices, leaps, long silences and unknown devices leave no tail", () => {
  const fleet = fleetOf({ speed: 0 }, {}, {}, {});
  report(fleet, 0, 2, { speed: 0 });
  report(fleet, 1, 2, { longitude: -60 });
  report(fleet, 2, 200);
  report(fleet, 3, 2, { longitude: BUS.longitude });
  report(fleet, 4, 2);
  expect(segmentsOf(fleet)).toEqual([]);
});

test("a segment from before a jump does not lead across it", () => {
  const fleet = fleetOf({});
  report(fleet, 0, 2);
  report(fleet, 0, 4, { latitude: 10, longitude: 0 });
  report(fleet, 0, 6, { latitude: 10.001, longitude: 0 });
  expect(segmentsOf(fleet).map((segment) => segment.slice(0, 4))).toEqual([
    [xAt(0), LANE, xAt(2), LANE],
    [worldX(0), worldY(10), worldX(0), worldY(10.001)],
  ]);
});

test("a tail of a device whose clock is ahead fades like the others", () => {
  const fleet = fleetOf({});
  const unixMs = BEGIN_MS + 1000;
  fleet.table.update([{ device_id: "0", ...BUS, longitude: -70.999, timestamp: BEGIN_MS + 90_000 }]);
  fleet.tails.update(fleet.table, { kind: "rows", rows: [0] }, fleet.dots, { pageMs: 1000, unixMs });
  fleet.tails.fade(unixMs + TAIL_MS + 1);
  expect(fleet.tails.isEmpty).toBe(true);
});

test("tails fade after two minutes, and then take no memory", () => {
  const fleet = fleetOf({});
  report(fleet, 0, 2);
  fleet.tails.fade(BEGIN_MS + 2000 + TAIL_MS);
  expect(fleet.tails.size).toBe(1);
  fleet.tails.fade(BEGIN_MS + 2001 + TAIL_MS);
  expect(fleet.tails.size).toBe(0);
  expect(fleet.tails.words.every((word) => word === 0)).toBe(true);
});

test("tails of dots that a search dims are dim", () => {
  const fleet = fleetOf({}, {});
  report(fleet, 0, 2);
  report(fleet, 1, 2);
  const { table, tails, dots } = fleet;
  tails.takeStale();
  table.showOnly(Uint32Array.of(1));
  tails.update(table, { kind: "shown" }, dots, { pageMs: 2000, unixMs: BEGIN_MS + 2000 });
  expect(segmentsOf(fleet).map((segment) => segment[7]! & TAIL_DIM)).toEqual([TAIL_DIM, 0]);
  expect(tails.takeStale()).toEqual([{ start: 0, end: 2 }]);
});

test("no position stays in memory when the table is replaced", () => {
  const fleet = fleetOf({});
  report(fleet, 0, 2);
  fleet.table.clear();
  fleet.tails.update(fleet.table, { kind: "all" }, fleet.dots, { pageMs: 0, unixMs: 0 });
  expect(fleet.tails.isEmpty).toBe(true);
  expect(fleet.tails.words.every((word) => word === 0)).toBe(true);
});

test("if too many devices move, the newest 131,072 segments stay", () => {
  const count = 140_000;
  const fleet = fleetOf(...Array.from({ length: count }, () => ({})));
  for (let row = 0; row < count; row++) report(fleet, row, 1 + row / count);
  expect(fleet.tails.size).toBe(131_072);
  expect(fleet.tails.words.byteLength).toBe(131_072 * 32);
  const seconds = segmentsOf(fleet).map((segment) => segment[6]!);
  expect(Math.min(...seconds)).toBe(Math.floor(1000 + (1000 * (count - 131_072)) / count));
});

const moves = fc.array(
  fc.record({ row: fc.nat(40), dot: anyDots, ms: fc.nat(9000), isTaken: fc.boolean(), isNear: fc.boolean() }),
  { maxLength: 80 },
);

test("stale segments, uploaded step by step, make a copy that equals the buffer", () => {
  fc.assert(
    fc.property(moves, (steps) => {
      const fleet = fleetOf(...Array.from({ length: 40 }, (_, row) => ({ longitude: row })));
      const { tails, table } = fleet;
      let copy: Uint32Array = tails.words.slice();
      let source = tails.words;
      const take = () => {
        const spans = tails.takeStale();
        if (source !== tails.words) copy = tails.words.slice();
        source = tails.words;
        for (const { start, end } of spans)
          copy.set(tails.words.subarray(start * TAIL_WORDS, end * TAIL_WORDS), start * TAIL_WORDS);
      };
      let second = 0;
      for (const { row, dot, ms, isTaken, isNear } of steps) {
        second += ms / 1000;
        const before = { latitude: table.latitude[row] ?? 0, longitude: table.longitude[row] ?? 0 };
        const near = { latitude: before.latitude + 0.001, longitude: before.longitude + 0.001 };
        report(fleet, row, second, isNear ? near : { latitude: dot.latitude, longitude: dot.longitude });
        if (isTaken) take();
        tails.fade(BEGIN_MS + second * 1000);
      }
      take();
      expect(copy.subarray(0, tails.size * TAIL_WORDS)).toEqual(
        tails.words.subarray(0, tails.size * TAIL_WORDS),
      );
      for (const [fromX, fromY, toX, toY] of segmentsOf(fleet)) {
        expect(Math.abs(latitudeOf(toY!) - latitudeOf(fromY!))).toBeLessThan(1);
        expect(Math.abs((toX! - fromX!) | 0)).toBeLessThan(worldX(longitudeOf(0) + 1));
      }
    }),
  );
});
