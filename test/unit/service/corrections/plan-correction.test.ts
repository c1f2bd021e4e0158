import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { parseNewCorrection } from "../../../../src/service/corrections/new-correction.ts";
import type { NewestDependencies } from "../../../../src/service/corrections/newest-record.ts";
import { planCorrection } from "../../../../src/service/corrections/plan-correction.ts";
import type { PositionReading } from "../../../../src/service/queries/positions.ts";

const NOW_MS = Date.UTC(2026, 0, 28, 12);

test("planCorrection() refuses records that are gone when they are read in full, since nothing is left to correct", async () => {
  const scheduler = new Scheduler();
  const one = Float64Array.of(1);
  const dependencies = {
    ...{ hot: createHotStore(scheduler), clock: createManualClock(NOW_MS), retention: DEFAULT_RETENTION },
    async readPositions(
      _app: AppId,
      _query: unknown,
      _caller: unknown,
      begin: () => PositionReading<unknown>,
    ) {
      const block = { count: 1, timestampMs: Float64Array.of(NOW_MS), latitude: one, longitude: one };
      begin().add({ ...block, numbers: [one] } as never);
      return ok({ value: null, isIncomplete: false });
    },
    history: { ofDevice: async () => ok({ pages: [], hasMore: false }) },
  } as unknown as NewestDependencies;
  const wanted = parseNewCorrection({
    ...{ action: "move", device_id: "bus", timestamps: [NOW_MS], latitude: 1, longitude: 2 },
  });
  if (!wanted.ok) throw new Error(wanted.error);
  const { signal } = new AbortController();
  const planned = await planCorrection(dependencies, "app" as AppId, wanted.value, { signal });
  expect(planned).toEqual({
    ok: false,
    error: { kind: "invalid_parameter", message: "no record matches the selection" },
  });
});
