import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { UserId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createUserDevices } from "../../../../src/service/queries/user-devices.ts";
import { recordsOf } from "../../../support/answers/page-records.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

const NOW_MS = Date.UTC(2026, 0, 14, 12);

test("a user's devices are those within the retention, all in order, though thousands were never listed before", () => {
  const hot = createHotStore(new Scheduler());
  const userDevices = createUserDevices({
    hot,
    clock: createManualClock(NOW_MS),
    retention: DEFAULT_RETENTION,
  });
  const ids = Array.from({ length: 3000 }, (_, device) => `d${(device * 7919) % 3000}`);
  const startMs = DEFAULT_RETENTION.startMs(NOW_MS);
  const timeOf = (device: number) => [NOW_MS, NOW_MS - MS_PER_DAY, startMs, startMs - 1][device % 4]!;
  const place = { user_id: "ann", latitude: 1, longitude: 2 };
  const reports = ids.map((device_id, device) => ({ ...place, device_id, timestamp: timeOf(device) }));
  hot.restoreNewest(APP, batchOf(reports));
  const listed = (ageMsMax: number | null) => {
    const pages = userDevices(APP, "ann" as UserId, { ageMsMax });
    return Array.from(pages, (page) => recordsOf(page).map(({ device_id }) => device_id)).flat();
  };
  expect(listed(null)).toEqual(ids.filter((_, device) => device % 4 < 3).sort());
  expect(listed(MS_PER_DAY)).toEqual(ids.filter((_, device) => device % 4 === 0).sort());
});
