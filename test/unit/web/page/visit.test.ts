import { expect, test } from "bun:test";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { beginVisit } from "../../../../src/web/page/visit.ts";

function setUp(device_ids: readonly string[], precision_meters: number | null = null) {
  const table = new DeviceTable();
  const done: unknown[] = [];
  const stop = beginVisit(
    { device_ids, not_before: 0, precision_meters },
    {
      table,
      chosen: { choose: (id) => done.push(["choose", id]) },
      map: {
        flyTo: ({ latitude, longitude, zoom }) => done.push(["fly", latitude, longitude, zoom]),
        follow: (isFollowing) => done.push(["follow", isFollowing]),
      },
      sheet: { lower: () => done.push("lower") },
      trails: { use: (begin) => begin({ show: (ids) => done.push(["trails", ...ids]) }) },
    },
  );
  const report = (device_id: string, latitude: number) =>
    table.update([{ device_id, timestamp: latitude, latitude, longitude: 2 }]);
  return { done, stop, report };
}

test("the device of a visit is chosen and followed once it has a position, and left alone from then on", () => {
  const { done, report } = setUp(["van"]);
  report("bus", 1);
  expect(done).toEqual([]);
  report("van", 5);
  report("van", 6);
  expect(done).toEqual([["choose", "van"], ["fly", 5, 2, 14], ["follow", true], "lower"]);
});

test("of several devices none is chosen, and the sheet is lowered once there is something to see", () => {
  const { done, report } = setUp(["van", "bus"]);
  expect(done).toEqual([]);
  report("bus", 1);
  report("van", 2);
  expect(done).toEqual([["trails", "van", "bus"], "lower"]);
});

test("a coarse device is shown from further away, so that its cell has the size of a neighborhood", () => {
  const zooms = [10, 100, 500, 2000].map((meters) => {
    const { done, report } = setUp(["van"], meters);
    report("van", 5);
    return (done[1] as readonly unknown[])[3];
  });
  expect(zooms).toEqual([14, 14, 13, 11]);
});

test("a visit that has ended chooses nothing", () => {
  const { done, stop, report } = setUp(["van"]);
  stop();
  report("van", 5);
  expect(done).toEqual([]);
});
