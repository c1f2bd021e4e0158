import { expect, test } from "bun:test";
import type { Device } from "../../../../src/hot/devices/device.ts";
import { DeviceList } from "../../../../src/hot/devices/device-list.ts";
import { DeviceTable } from "../../../../src/hot/devices/device-table.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import * as fc from "../../../support/fast-check.ts";

/** Thousands of ids that share long beginnings, in whatever order, so that blocks fill, split, join and empty. */
const table = new DeviceTable();
const DEVICES = Array.from({ length: 12_000 }, (_, number) => {
  const first = ["a", "\uFF21", "\u{1F68C}", "x".repeat(100)][number % 4]!;
  return table.add(`${first}${(number * 7919) % 12_000}` as DeviceId);
});

const byId = (a: Device, b: Device) => compareUtf8(a.id, b.id);
/** All of them, as those read who look at numbers. */
function numbersOf(list: DeviceList): number[] {
  while (!list.sortPending());
  const numbers: number[] = [];
  const next = list.reader();
  for (let block = next(); block !== null; block = next()) numbers.push(...block.numbers);
  return numbers;
}

const idsOf = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => id);

const change = fc.record({
  act: fc.constantFrom("add", "add", "delete", "read"),
  from: fc.nat(DEVICES.length - 1),
  count: fc.constantFrom(1, 3, 600, 1500, 5000),
});

test("a list has what was added and not taken out, in order", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const list = new DeviceList(table);
      const plain = new Set<Device>();
      for (const { act, from, count } of changes) {
        for (const device of DEVICES.slice(from, from + count)) {
          if (act === "add" && !plain.has(device)) {
            list.add(device);
            plain.add(device);
          } else if (act === "delete" && plain.delete(device)) list.delete(device);
        }
        expect(list.size).toBe(plain.size);
        if (act === "read") expect(idsOf(list)).toEqual(idsOf([...plain].sort(byId)));
      }
      const expected = [...plain].sort(byId);
      expect(numbersOf(list)).toEqual(expected.map(({ number }) => number));
      expect(idsOf(list)).toEqual(idsOf(expected));
    }),
    { numRuns: 60 },
  );
});

test("reader() gives those behind an id, whether or not the list has it", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(DEVICES.length - 1), { maxLength: 3000 }),
      fc.nat(DEVICES.length - 1),
      (numbers, after) => {
        const list = new DeviceList(table);
        for (const number of numbers) list.add(DEVICES[number]!);
        while (!list.sortPending());
        const { id } = DEVICES[after]!;
        const found: number[] = [];
        const next = list.reader(id);
        for (let block = next(); block !== null; block = next()) found.push(...block.numbers);
        const behind = numbers
          .map((number) => DEVICES[number]!)
          .filter((device) => compareUtf8(device.id, id) > 0);
        expect(found).toEqual(behind.sort(byId).map(({ number }) => number));
      },
    ),
    { numRuns: 60 },
  );
});

/** Within so few devices that many are taken out that are there. */
const closeChange = fc.record({
  act: fc.constantFrom("add", "delete"),
  from: fc.nat(1500),
  count: fc.constantFrom(1, 30, 700, 1500),
});

test("readerFrom() begins at the block of an offset, whatever was added and taken out before", () => {
  fc.assert(
    fc.property(
      fc.array(closeChange, { maxLength: 8 }),
      fc.array(fc.nat(3000), { maxLength: 3 }),
      (changes, offsets) => {
        const list = new DeviceList(table);
        const plain = new Set<Device>();
        const checkFrom = (offset: number) => {
          while (!list.sortPending());
          const { next, skipped } = list.readerFrom(offset);
          const found: number[] = [];
          for (let block = next(); block !== null; block = next()) found.push(...block.numbers);
          const sorted = [...plain].sort(byId).map(({ number }) => number);
          expect(found).toEqual(sorted.slice(skipped));
          expect(skipped).toBeLessThanOrEqual(Math.min(offset, sorted.length));
          if (offset >= skipped + 512) expect(found.length).toBeLessThanOrEqual(512);
        };
        for (const { act, from, count } of changes) {
          for (const device of DEVICES.slice(from, from + count)) {
            if (act === "add" && !plain.has(device)) {
              list.add(device);
              plain.add(device);
            } else if (act === "delete" && plain.delete(device)) list.delete(device);
          }
          for (const offset of offsets) checkFrom(offset);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("blocks() meets once whoever stays, in order, whatever comes and goes between two of them", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(DEVICES.length), (changes, start) => {
      const list = new DeviceList(table);
      const there = new Set(DEVICES.slice(0, start));
      for (const device of there) list.add(device);
      const stayed = new Set(there);
      const everThere = new Set(there);
      const met: Device[] = [];
      const rest = [...changes];
      for (const block of list.blocks()) {
        met.push(...block.map(({ number }) => DEVICES[number]!)); // As they were added, to be told apart.
        const { act, from, count } = rest.pop() ?? { act: "read", from: 0, count: 0 };
        for (const device of DEVICES.slice(from, from + count)) {
          if (act === "add" && !there.has(device)) {
            list.add(device);
            there.add(device);
            everThere.add(device);
          } else if (act === "delete" && there.delete(device)) {
            list.delete(device);
            stayed.delete(device);
          }
        }
      }
      expect(idsOf(met)).toEqual(idsOf([...new Set(met)].sort(byId)));
      const metOnes = new Set(met);
      expect([...stayed].filter((device) => !metOnes.has(device))).toEqual([]);
      expect(met.filter((device) => !everThere.has(device))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("while nobody reads, many wait; who reads first puts them in place in steps, whatever comes and goes", () => {
  const list = new DeviceList(table);
  const half = DEVICES.slice(0, 6000);
  for (const device of half) list.add(device);
  expect(list.isSorted).toBe(false);
  let steps = 0;
  while (!list.sortPending()) {
    list.delete(half[steps]!);
    list.add(DEVICES[6000 + steps]!);
    steps++;
  }
  expect(steps).toBeGreaterThan(50);
  expect(numbersOf(list)).toEqual(
    [...DEVICES.slice(steps, 6000 + steps)].sort(byId).map(({ number }) => number),
  );
  list.add(DEVICES[0]!);
  expect(list.isSorted).toBe(true);
});

test("of thousands of blocks that nearly empty, few are left", () => {
  const list = new DeviceList(table);
  for (const device of DEVICES) list.add(device);
  numbersOf(list);
  for (const device of DEVICES) if (device.number % 100 > 0) list.delete(device);
  let blocks = 0;
  for (const next = list.reader(); next() !== null; ) blocks++;
  expect(list.size).toBe(120);
  expect(blocks).toBeLessThan(4);
});
