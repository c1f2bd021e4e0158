import { expect, test } from "bun:test";
import { DayLedger, isMasked } from "../../../../src/hot/late/day-ledger.ts";
import type { PendingErasure } from "../../../../src/model/erasure.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import { utcDayStartMs } from "../../../../src/model/time/utc-day.ts";

const DAY = 20_467 as UtcDay;
const NEXT = 20_468 as UtcDay;
const UNSEALED = 20_469 as UtcDay;

function erasure(sequence: number, range: Partial<TimeRange> = {}): PendingErasure {
  const open = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  return {
    ...{ sequence, appId: "app" as AppId, deviceIds: ["a" as DeviceId], userId: null },
    range: { ...open, ...range },
  };
}

test("isMasked() is whether an erasure of the day's time came after its files were written anew", () => {
  const ledger = new DayLedger();
  ledger.setSealed(
    new Map([
      [DAY, 9],
      [NEXT, 9],
    ]),
    new Map([[DAY, 5]]),
  );
  const masked = (...erasures: PendingErasure[]) =>
    [DAY, NEXT, UNSEALED].map((day) => isMasked(ledger.of(day), erasures));
  expect(masked()).toEqual([false, false, false]);
  expect(masked(erasure(5))).toEqual([false, true, false]);
  expect(masked(erasure(6))).toEqual([true, true, false]);
  expect(masked(erasure(4), erasure(7, { endMs: utcDayStartMs(NEXT) }))).toEqual([true, true, false]);
  expect(masked(erasure(7, { endMs: utcDayStartMs(NEXT) }))).toEqual([true, false, false]);
  expect(masked(erasure(7, { startMs: utcDayStartMs(NEXT) }))).toEqual([false, true, false]);
  ledger.setSealed(
    new Map([
      [DAY, 9],
      [NEXT, 9],
    ]),
    new Map([
      [DAY, 6],
      [NEXT, 6],
    ]),
  );
  expect(masked(erasure(6))).toEqual([false, false, false]);
});
