import { expect, test } from "bun:test";
import type { AppId } from "../../../../src/model/ids.ts";
import { RememberedDays } from "../../../../src/service/queries/days.ts";

const [BUSY, QUIET] = ["busy", "quiet"] as AppId[] as [AppId, AppId];
const DAY = { sources: "part-1", summary: null };

test("RememberedDays knows a day by the files that it was made from", () => {
  const days = new RememberedDays(30);
  days.add(BUSY, "monday", DAY);
  expect(days.find(BUSY, "monday", "part-1")).toBeNull();
  expect(days.find(BUSY, "monday", "part-2")).toBeUndefined();
  expect(days.find(QUIET, "monday", "part-1")).toBeUndefined();
});

test("RememberedDays forgets the oldest day of an app that has its share, and none of another app", () => {
  const days = new RememberedDays(30);
  days.add(QUIET, "monday", DAY);
  for (let day = 0; day < 100; day++) {
    days.add(BUSY, `day ${day}`, DAY);
    expect(days.find(BUSY, "day 0", "part-1")).toBeNull(); // It is used, so others are older.
  }
  expect(days.find(QUIET, "monday", "part-1")).toBeNull();
  const all = Array.from({ length: 100 }, (_, day) => days.find(BUSY, `day ${day}`, "part-1"));
  expect(all.filter((summary) => summary === null)).toHaveLength(10);
  expect([all[0], all[50], all[99]]).toEqual([null, undefined, null]);
});

test("RememberedDays takes a new summary of a day in place of the old one", () => {
  const days = new RememberedDays(3);
  for (let seal = 0; seal < 10; seal++) days.add(BUSY, "monday", { ...DAY, sources: `part-${seal}` });
  expect(days.find(BUSY, "monday", "part-9")).toBeNull();
});
