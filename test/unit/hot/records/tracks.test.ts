import { expect, test } from "bun:test";
import type { Device } from "../../../../src/hot/devices/device.ts";
import { DeviceTable } from "../../../../src/hot/devices/device-table.ts";
import {
  numberAt,
  profileAt,
  setNumber,
  setTuples,
  stateAt,
  timestampAt,
  writeRow,
} from "../../../../src/hot/records/chunk.ts";
import type { RowRef } from "../../../../src/hot/records/long-track.ts";
import { RowPages } from "../../../../src/hot/records/row-pages.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS, numberIndex } from "../../../../src/model/location-fields.ts";
import * as fc from "../../../support/fast-check.ts";

const LATITUDE = numberIndex("latitude");

/** Number columns of a batch with one row that carries nothing. */
const NOWHERE = NUMBER_FIELDS.map(() => new Float64Array(1));

function createDevice(): Device {
  return new DeviceTable().add("a" as DeviceId);
}

function put({ columns, number }: Device, timestampMs: number, mask = 0): void {
  const { chunk, row } = columns.tracks.insert(number, timestampMs, mask);
  writeRow(chunk, row, timestampMs, NOWHERE, 0);
  setTuples(chunk, row, timestampMs, timestampMs + 1);
}

/** The record of an instant, with cells for these fields. */
function widen(device: Device, timestampMs: number, mask: number): RowRef {
  return device.columns.tracks.widen(device.number, device.findRecord(timestampMs)!, mask);
}

function filled(timestamps: readonly number[]): Device {
  const device = createDevice();
  for (const timestampMs of timestamps) put(device, timestampMs);
  return device;
}

function timestampsOf(device: Device): number[] {
  const seen: number[] = [];
  device.runs(0, device.recordCount, (chunk, from, to) => {
    for (let row = from; row < to; row++) {
      expect(profileAt(chunk, row)).toBe(timestampAt(chunk, row));
      expect(stateAt(chunk, row)).toBe(timestampAt(chunk, row) + 1);
      seen.push(timestampAt(chunk, row));
    }
  });
  return seen;
}

function latitudesOf(device: Device): number[] {
  return Array.from({ length: device.recordCount }, (_, index) => {
    const { chunk, row } = device.recordAt(index);
    return numberAt(chunk, row, LATITUDE);
  });
}

const unorderedTimes = fc.uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 1500, size: "max" });

test("a track keeps time order however records arrive, over many chunks", () => {
  fc.assert(
    fc.property(unorderedTimes, (timestamps) => {
      const device = filled(timestamps);
      const sorted = timestamps.toSorted((a, b) => a - b);
      expect(timestampsOf(device)).toEqual(sorted);
      expect(device.recordCount).toBe(sorted.length);
      expect(device.columns.tracks.newestMs(device.number)).toBe(sorted.at(-1)!);
      for (const timestampMs of [-1, 0, 17, 2500, 4999, 5001, ...sorted.slice(0, 5)]) {
        expect(device.countBefore(timestampMs)).toBe(sorted.filter((each) => each < timestampMs).length);
        const found = device.findRecord(timestampMs);
        expect(found === null ? null : timestampAt(found.chunk, found.row)).toBe(
          sorted.includes(timestampMs) ? timestampMs : null,
        );
      }
      const middle = sorted.length >> 1;
      const at = device.recordAt(middle);
      expect(timestampAt(at.chunk, at.row)).toBe(sorted[middle]!);
    }),
    { numRuns: 40 },
  );
});

test("widen() keeps the record and its neighbours while a field gets its column", () => {
  const device = filled(Array.from({ length: 300 }, (_, i) => i * 10));
  const widened = widen(device, 1500, 0b100);
  expect(timestampAt(widened.chunk, widened.row)).toBe(1500);
  expect(widened.chunk.mask).toBe(0b100);
  expect(timestampsOf(device)).toHaveLength(300);
  expect(device.findRecord(1500)!.chunk).toBe(widened.chunk);
});

test("runs() visits nothing of an empty range", () => {
  const device = createDevice();
  device.runs(0, 0, () => {
    throw new Error("nothing to visit");
  });
  expect(device.countBefore(0)).toBe(0);
});

test("remove() leaves what lies outside the range or is kept, and takes records in as before", () => {
  const edges = fc.tuple(fc.nat(5000), fc.nat(5000)).map((pair) => pair.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(unorderedTimes, edges, fc.integer({ min: 1, max: 50 }), (timestamps, edge, keepEvery) => {
      const device = filled(timestamps);
      const [startMs, endMs] = edge as [number, number];
      const isKept = (timestampMs: number) => timestampMs % keepEvery === 0 && keepEvery > 1;
      const isLeft = (each: number) => each < startMs || each >= endMs || isKept(each);
      device.columns.tracks.remove(device.number, { startMs, endMs }, isKept);
      const left = timestamps.filter(isLeft).toSorted((a, b) => a - b);
      expect(timestampsOf(device)).toEqual(left);
      expect(device.columns.tracks.newestMs(device.number)).toBe(left.at(-1) ?? Number.NEGATIVE_INFINITY);
      expect(device.countBefore(2500)).toBe(left.filter((each) => each < 2500).length);

      for (const timestampMs of timestamps.filter((each) => !isLeft(each))) {
        put(device, timestampMs);
      }
      expect(timestampsOf(device)).toEqual(timestamps.toSorted((a, b) => a - b));
    }),
    { numRuns: 40 },
  );
});

test("devices that share pages keep their own records, few or many, packed or not, and leave no page behind", () => {
  const act = fc.record({
    device: fc.nat(5),
    from: fc.nat(500),
    count: fc.constantFrom(1, 2, 5, 60, 150, 400),
    mask: fc.nat(7),
    what: fc.constantFrom("put", "put", "put", "remove", "pack"),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const pages = new RowPages();
      const table = new DeviceTable(pages);
      const devices = Array.from({ length: 6 }, (_, device) => table.add(`${device}` as DeviceId));
      /** Latitudes by time: which act wrote the record last. */
      const plain = devices.map(() => new Map<number, number>());
      acts.forEach(({ device, from, count, mask, what }, at) => {
        const reporter = devices[device]!;
        const latitudes = plain[device]!;
        if (what === "pack") for (const _ of table.columns.tracks.pack(from));
        else if (what === "remove")
          table.columns.tracks.remove(reporter.number, { startMs: from, endMs: from + count }, () => false);
        for (let timestampMs = from; timestampMs < from + count && what !== "pack"; timestampMs++) {
          if (what === "remove") {
            latitudes.delete(timestampMs);
            continue;
          }
          if (!latitudes.has(timestampMs)) put(reporter, timestampMs, mask);
          const { chunk, row } = widen(reporter, timestampMs, mask);
          expect(chunk.mask & mask).toBe(mask);
          setNumber(chunk, row, LATITUDE, at);
          latitudes.set(timestampMs, at);
        }
        devices.forEach((each, index) => {
          const sorted = [...plain[index]!].sort(([a], [b]) => a - b);
          expect(timestampsOf(each)).toEqual(sorted.map(([timestampMs]) => timestampMs));
          expect(latitudesOf(each)).toEqual(sorted.map(([, latitude]) => latitude));
          expect(each.recordCount).toBe(sorted.length);
          expect(each.columns.tracks.newestMs(each.number)).toBe(
            sorted.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY,
          );
          expect(each.countBefore(from)).toBe(sorted.filter(([timestampMs]) => timestampMs < from).length);
        });
      });
      for (const { number } of devices)
        table.columns.tracks.remove(number, { startMs: 0, endMs: 1000 }, () => false);
      expect(pages.pageCount).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("a track of a device that is forgotten is empty, whoever has its number", () => {
  const table = new DeviceTable();
  const gone = table.add("a" as DeviceId);
  table.remove(gone);
  const other = table.add("b" as DeviceId);
  put(other, 5);
  expect(other.number).toBe(gone.number);
  expect([gone.isGone, gone.recordCount, gone.countBefore(10), gone.newestMs]).toEqual([
    true,
    0,
    0,
    Number.NEGATIVE_INFINITY,
  ]);
  expect(gone.findRecord(5)).toBeNull();
  gone.runs(0, 1, () => {
    throw new Error("nothing to visit");
  });
  expect(timestampsOf(other)).toEqual([5]);
});
