import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { DOWNLOAD_FORMATS, Downloads, safeName } from "../../../../src/web/device/downloads.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";

const DAY = "2026-11-21" as LocalDay;
const BUS = { deviceId: "bus", day: DAY, days: 1, zone: "UTC" };
const [GPX] = DOWNLOAD_FORMATS;

test("save() asks for a day of one device, or for several, in the zone that they are days of", async () => {
  const asked: string[] = [];
  const saved: [string, string][] = [];
  const api = {
    async fetch(path: string) {
      asked.push(path);
      return new Response("<gpx/>");
    },
  };
  const save = async (blob: Blob, name: string) => void saved.push([await blob.text(), name]);
  const downloads = new Downloads(api, () => {}, save);
  await downloads.save(GPX, { deviceId: "bus 1/2", day: DAY, days: 1, zone: "Asia/Tokyo" });
  await downloads.save(GPX, { deviceId: "bus 1/2", day: DAY, days: 30, zone: "Asia/Tokyo" });
  expect(asked).toEqual([
    "/api/v1/export?format=gpx&device_id=bus+1%2F2&start_date=2026-11-21&end_date=2026-11-21&timezone=Asia%2FTokyo",
    "/api/v1/export?format=gpx&device_id=bus+1%2F2&start_date=2026-10-23&end_date=2026-11-21&timezone=Asia%2FTokyo",
  ]);
  expect(saved).toEqual([
    ["<gpx/>", "bus_1_2-2026-11-21.gpx"],
    ["<gpx/>", "bus_1_2-2026-10-23-to-2026-11-21.gpx"],
  ]);
});

test("one at a time, and what went wrong is said", async () => {
  const asked: string[] = [];
  const api = {
    async fetch(path: string): Promise<Response> {
      asked.push(path);
      throw new ApiError(503, "Two exports are under way.");
    },
  };
  const downloads = new Downloads(
    api,
    () => {},
    () => {},
  );
  const first = downloads.save(GPX, BUS);
  expect(downloads.underWay).toBe(GPX);
  await downloads.save(GPX, BUS);
  await first;
  expect([asked.length, downloads.underWay]).toEqual([1, null]);
  expect(downloads.faultOf(BUS)).toBe("Two exports are under way.");
  const others = [{ deviceId: "tram" }, { day: "2026-11-22" as LocalDay }, { days: 7 }];
  expect(others.map((other) => downloads.faultOf({ ...BUS, ...other }))).toEqual([null, null, null]);
});

test("names of files are those that every system takes", () => {
  expect(["../../etc", "a/b:c*?", "Bus 4", "Zürich-1"].map(safeName)).toEqual([
    "_.._etc",
    "a_b_c_",
    "Bus_4",
    "Zürich-1",
  ]);
});
