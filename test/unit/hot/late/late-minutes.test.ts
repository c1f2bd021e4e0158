import { expect, test } from "bun:test";
import type { DeviceList } from "../../../../src/hot/devices/device-list.ts";
import { LateMinutes } from "../../../../src/hot/late/late-minutes.ts";
import { parseUtcDayName } from "../../../../src/model/time/utc-day.ts";

const DAY = parseUtcDayName("2026-01-14")!;

test("a look through a day that fails is the failure of those who wait for it, and of nobody after", async () => {
  let looks = 0;
  const devices: Pick<DeviceList, "devices"> = {
    *devices() {
      if (++looks === 1) throw new Error("no memory");
      yield null; // As a list does that is long.
    },
  };
  const minutes = new LateMinutes(devices);
  const asked = await Promise.allSettled([minutes.indexOf(DAY), minutes.indexOf(DAY)]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const index = await minutes.indexOf(DAY);
  expect(await minutes.indexOf(DAY)).toBe(index);
  expect(looks).toBe(2);
});
