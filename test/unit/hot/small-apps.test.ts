import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { median } from "../../../bench/support/figures/report.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { batchOf } from "../../support/reports/batches.ts";

const APPS = 2000;
const BYTES_AN_APP_MAX = 16_000;
const NOW_MS = Date.UTC(2026, 2, 20, 12);

function usedBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}

test("many small apps cost little memory each", () => {
  const hot = createHotStore(new Scheduler());
  const batch = batchOf(
    [0, 1, 2].map((device) => ({
      device_id: `d${device}`,
      timestamp: NOW_MS,
      latitude: 42 + device,
      longitude: -71,
    })),
  );
  const addApps = (from: number, to: number) => {
    for (let app = from; app < to; app++) {
      hot.apply(`app-${app}` as AppId, batch, app + 1);
      const found = hot.findApp(`app-${app}` as AppId)!.positions.find({
        latitude: 42,
        longitude: -71,
        radiusMeters: 1000,
        oldestMs: 0,
        accuracyMetersMax: Number.POSITIVE_INFINITY,
        offset: 0,
        limit: 10,
      });
      expect(found.matches).toBe(1);
    }
  };
  addApps(0, 10);
  // Tests that ran before in this process may leave something to begin or to end in one of the rounds.
  const costs = [0, 1, 2].map((round) => {
    const beforeBytes = usedBytes();
    addApps(10 + round * APPS, 10 + (round + 1) * APPS);
    return (usedBytes() - beforeBytes) / APPS;
  });
  expect(median(costs)).toBeLessThan(BYTES_AN_APP_MAX);
});
