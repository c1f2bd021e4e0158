import { expect, test } from "bun:test";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { beginVisit } from "../../../../src/web/page/visit.ts";

function setUp() {
  const table = new DeviceTable();
  const done: unknown[] = [];
  const stop = beginVisit("van", {
    table,
    chosen: { choose: (id) => done.push(["choose", id]) },
    map: {
      flyTo: ({ latitude, longitude }) => done.push(["fly", latitude, longitude]),
      follow: (isFollowing) => done.push(["follow", isFollowing]),
    },
    sheet: { lower: () => done.push("lower") },
  });
  const report = (device_id: string, latitude: number) =>
    table.update([{ device_id, timestamp: latitude, latitude, longitude: 2 }]);
  return { done, stop, report };
}

test("the device of a visit is chosen and followed once it has a position, and left alone from then on", () => {
  const { done, report } = setUp();
  report("bus", 1);
  expect(done).toEqual([]);
  report("van", 5);
  report("van", 6);
  expect(done).toEqual([["choose", "van"], ["fly", 5, 2], ["follow", true], "lower"]);
});

test("a visit that has ended chooses nothing", () => {
  const { done, stop, report } = setUp();
  stop();
  report("van", 5);
  expect(done).toEqual([]);
});
