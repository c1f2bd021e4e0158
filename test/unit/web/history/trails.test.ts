import { expect, test } from "bun:test";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { Trails } from "../../../../src/web/history/trails.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "../device/fake-server.ts";

const NOW = Math.floor(Date.now() / 1000);
const MINUTES = 60;

function create() {
  const server = new FakeServer();
  const devices = new DeviceTable();
  const drawn: (readonly (readonly (readonly [number, number])[])[])[] = [];
  const trails = new Trails({ api: server, devices, map: { setTrails: (lines) => drawn.push(lines) } });
  const report = (device_id: string, second: number, longitude: number) =>
    devices.update([{ device_id, timestamp: second * 1000, latitude: 0, longitude }]);
  return { server, devices, trails, drawn, report };
}

test("each device has the half hour before its last report", async () => {
  const { server, trails, drawn, report } = create();
  report("van", NOW, 0.002);
  report("bus", NOW - 600 * MINUTES, 0.002);
  trails.show(["van", "bus"]);
  const starts = server.asked.map(({ path, query }) => [path, Number(query.start) / 1000]);
  expect(starts).toEqual([
    ["/api/v1/devices/van/track", NOW - 30 * MINUTES],
    ["/api/v1/devices/bus/track", NOW - 630 * MINUTES],
  ]);
  await server.answerTrack([NOW - 602 * MINUTES, NOW - 601 * MINUTES, NOW - 600 * MINUTES]);
  expect(drawn.at(-1)!.map((line) => line.length)).toEqual([3]);
});

test("a trail grows with new reports, and loses what is older than half an hour before the last", async () => {
  const { server, trails, drawn, report } = create();
  report("van", NOW, 0.001);
  trails.show(["van"]);
  await server.answerTrack([NOW - 25 * MINUTES, NOW - 20 * MINUTES, NOW - 1 * MINUTES, NOW]);
  expect(drawn.at(-1)!.map((line) => line.length)).toEqual([4]);
  report("van", NOW + 1 * MINUTES, 0.004);
  expect(drawn.at(-1)!.map((line) => line.length)).toEqual([5]);
  report("van", NOW + 6 * MINUTES, 0.005);
  expect(drawn.at(-1)!.map((line) => line.length)).toEqual([5]); // The first one is too old now.
});

test("a device without a report, and a closed link, have no trail", async () => {
  const { server, trails, drawn, report } = create();
  report("van", NOW, 0.001);
  trails.show(["van", "unborn"]);
  await server.refuse("/track");
  expect(drawn.flat()).toEqual([]);
  trails.close();
  await turns();
  const before = drawn.length;
  report("van", NOW + 5, 0.002);
  expect([drawn.length, drawn.at(-1)]).toEqual([before, []]);
  expect(server.open("/track")).toEqual([]);
});

test("at most twelve are loaded", () => {
  const { server, trails } = create();
  trails.show(Array.from({ length: 40 }, (_, index) => `bus-${index}`));
  expect(server.open("/track")).toHaveLength(12);
});
