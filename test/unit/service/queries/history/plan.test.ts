import { describe, expect, test } from "bun:test";
import { parseUtcDayName, type UtcDay, utcDayStartMs } from "../../../../../src/model/time/utc-day.ts";
import { daysWithin, planHistory } from "../../../../../src/service/queries/history/plan.ts";

const [MON, TUE, WED, THU] = ["2026-01-12", "2026-01-13", "2026-01-14", "2026-01-15"].map(
  (name) => parseUtcDayName(name)!,
) as [UtcDay, UtcDay, UtcDay, UtcDay];
const HOUR_MS = 3_600_000;

function facts(sealed: readonly UtcDay[], late: readonly UtcDay[] = []) {
  return { isSealed: (day: UtcDay) => sealed.includes(day), holdsLate: (day: UtcDay) => late.includes(day) };
}

function kinds(stretches: ReturnType<typeof planHistory>) {
  return stretches.map(({ kind, days }) => [kind, ...days]);
}

describe("planHistory()", () => {
  const range = { startMs: utcDayStartMs(MON), endMs: utcDayStartMs(THU) + 24 * HOUR_MS };

  test("asks each store for its days, and both where memory lies over a sealed day", () => {
    const plan = planHistory(range, [MON, TUE, WED, THU], facts([MON, TUE, WED], [TUE]));
    expect(kinds(plan)).toEqual([
      ["archive", MON],
      ["both", TUE],
      ["archive", WED],
      ["memory", THU],
    ]);
  });

  test("joins neighbours of one kind, also across days without records", () => {
    const [stretch, ...others] = planHistory(range, [MON, THU], facts([MON, THU]));
    expect(others).toEqual([]);
    expect(stretch).toEqual({ kind: "archive", days: [MON, THU], range });
  });

  test("cuts the first and the last day to the range", () => {
    const within = { startMs: utcDayStartMs(MON) + 18 * HOUR_MS, endMs: utcDayStartMs(TUE) + 18 * HOUR_MS };
    expect(planHistory(within, [MON, TUE], facts([MON]))).toEqual([
      { kind: "archive", days: [MON], range: { startMs: within.startMs, endMs: utcDayStartMs(TUE) } },
      { kind: "memory", days: [TUE], range: { startMs: utcDayStartMs(TUE), endMs: within.endMs } },
    ]);
  });

  test("asks nobody about days without records, and nothing about an empty range", () => {
    expect(planHistory(range, [], facts([MON]))).toEqual([]);
    const empty = { startMs: utcDayStartMs(TUE), endMs: utcDayStartMs(TUE) };
    expect(planHistory(empty, [MON, TUE], facts([MON]))).toEqual([]);
  });
});

test("daysWithin() gives the days that a range touches once each, in order", () => {
  const range = { startMs: utcDayStartMs(TUE), endMs: utcDayStartMs(THU) };
  expect(daysWithin(range, [THU, WED, MON, TUE, WED])).toEqual([TUE, WED]);
  expect(daysWithin({ startMs: range.startMs, endMs: range.startMs + 1 }, [MON, TUE])).toEqual([TUE]);
});
