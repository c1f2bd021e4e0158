import { expect, test } from "bun:test";
import { ArchivedRows } from "../../../../src/hot/devices/archived-rows.ts";
import { DeviceTable } from "../../../../src/hot/devices/device-table.ts";
import { copyNumbers, timestampAt } from "../../../../src/hot/records/chunk.ts";
import { NO_TUPLE } from "../../../../src/hot/records/counted-tuples.ts";
import { Dictionary } from "../../../../src/hot/records/dictionary.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import * as fc from "../../../support/fast-check.ts";

const BASE_MS = 1_769_442_912_000;

/** Rows of a store's own dictionary, and what writes one with this value. */
function open() {
  const dictionary = new Dictionary();
  const rows = new ArchivedRows(new DeviceTable(), dictionary);
  function set(device: number, value: number): void {
    const builder = createReportBatchBuilder(1);
    builder.begin();
    builder.numbers.fill(value);
    builder.add(builder.text("d"), BASE_MS + value);
    const batch = builder.build();
    const { profiles, states } = dictionary.translate(batch);
    rows.write(device, batch, 0, profiles.numberOf(0, NO_TUPLE), states.numberOf(0, NO_TUPLE));
  }
  return { rows, set };
}

/** The first number of a device's row, and when it was. */
function readValue(rows: ArchivedRows, device: number): [number, number] {
  const { chunk, row } = rows.at(device);
  const numbers = new Float64Array(NUMBER_FIELDS.length);
  copyNumbers(chunk, row, numbers, 0);
  return [numbers[0]!, timestampAt(chunk, row) - BASE_MS];
}

test("each device has the row that was set last, whatever its number", () => {
  // Crowded where a chunk ends and another begins.
  const numbers = fc.oneof(
    fc.nat(20),
    fc.integer({ min: 4090, max: 4100 }),
    fc.integer({ min: 8190, max: 300_000 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(numbers, fc.nat(90)), { maxLength: 60 }), (sets) => {
      const { rows, set } = open();
      const plain = new Map<number, number>();
      for (const [device, value] of sets) {
        set(device, value);
        plain.set(device, value);
      }
      for (const [device, value] of plain) expect(readValue(rows, device)).toEqual([value, value]);
    }),
    { numRuns: 50 },
  );
});

test("a device more copies none of the rows of many others", () => {
  const { rows, set } = open();
  set(5000, 1);
  set(100_000, 2);
  const before = [5000, 100_000].map((device) => rows.at(device).chunk);
  set(1_000_000, 3);
  expect([5000, 100_000].map((device) => rows.at(device).chunk)).toEqual(before);
  expect(rows.at(5000).chunk).toBe(before[0]!);
  expect(rows.at(1_000_000).chunk.capacity).toBeLessThan(10_000);
});
