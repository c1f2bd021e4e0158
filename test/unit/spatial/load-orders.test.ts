import { expect, test } from "bun:test";
import { CellOrder, TimeOrder } from "../../../src/spatial/load-orders.ts";
import * as fc from "../../support/fast-check.ts";

test("a run of devices is put in order of time, those of one time as they were", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 80 }), fc.nat(80), fc.nat(80), (times, a, b) => {
      const [start, end] = [a, b].map((at) => Math.min(at, times.length)).sort((low, high) => low - high);
      const devices = Uint32Array.from(times, (_, at) => times.length - 1 - at);
      const timesMs = Float64Array.from(times, (time) => time / 2);
      const expected = [...devices.subarray(start, end)].sort((low, high) => timesMs[low]! - timesMs[high]!);
      const order = new TimeOrder(timesMs, 16);
      expect([...order.of(devices, start!, end!).subarray(0, expected.length)]).toEqual(expected);
    }),
  );
});

test("devices are put in order of their cells, those of one cell as they were added", () => {
  const cell = fc.oneof(
    fc.nat(3),
    fc.maxSafeInteger().map((any) => Math.abs(any) % 2 ** 52),
  );
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 100 }), (cells) => {
      const order = new CellOrder(cells.length);
      cells.forEach((cell, device) => {
        order.add(device, cell);
      });
      for (const _ of order.sort());
      const expected = cells.map((cell, device) => ({ cell, device })).sort((a, b) => a.cell - b.cell);
      const sorted = expected.map((_, at) => ({ cell: order.cellAt(at), device: order.devices[at]! }));
      expect(sorted).toEqual(expected);
    }),
  );
});
