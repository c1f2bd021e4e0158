import { expect, test } from "bun:test";
import { DeviceList } from "../../../../src/web/devices/device-list.ts";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { ListView } from "../../../../src/web/devices/list-view.ts";

const changed = () => undefined;

test("the row that somebody was at is nobody's in the next session", () => {
  const table = new DeviceTable();
  const list = new DeviceList(table, changed, () => 5);
  const chosen: string[] = [];
  const view = new ListView({ table, list, changed, choose: (id) => chosen.push(id) });
  const report = () => table.update([{ device_id: "bus", timestamp: 1, latitude: 1, longitude: 2 }]);
  report();
  list.refresh();
  view.chooseAt(0);
  expect([chosen, view.activeIndex]).toEqual([["bus"], 0]);
  table.clear();
  report();
  list.refresh();
  expect(view.activeIndex).toBe(-1);
});
