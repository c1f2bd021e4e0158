import { expect, test } from "bun:test";
import { dayAfter, planDevices, planPeriod } from "../../../../src/cli/export/split-plan.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { dayCount, type LocalDate } from "../../../../src/model/time/range.ts";
import * as fc from "../../../support/fast-check.ts";

const date = (dayNumber: number) => new Date(dayNumber * 86_400_000).toISOString().slice(0, 10) as LocalDate;
const range = fc
  .tuple(fc.integer({ min: 18_000, max: 21_000 }), fc.integer({ min: 0, max: 800 }))
  .map(([first, days]) => ({ from: date(first), to: date(first + days) }));

test("by day and by month, every day is in one file, in order, and named by it", () => {
  fc.assert(
    fc.property(range, fc.constantFrom("day" as const, "month" as const), ({ from, to }, split) => {
      const files = [];
      for (let date = from; date <= to; date = dayAfter(files.at(-1)!.to))
        files.push(planPeriod(split, date, { from, to }, []));
      expect(files[0]!.from).toBe(from);
      expect(files.at(-1)!.to).toBe(to);
      for (const [index, file] of files.entries()) {
        const next = files[index + 1];
        if (next !== undefined) expect(dayCount(file.to, next.from)).toBe(2);
        if (split === "day")
          expect([file.from, file.to]).toEqual([file.name as LocalDate, file.name as LocalDate]);
        else expect([file.from.slice(0, 7), file.to.slice(0, 7)]).toEqual([file.name, file.name]);
      }
      expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
    }),
  );
});

test("by device, each has a file of all days", () => {
  const days = { from: "2025-01-01" as LocalDate, to: "2025-12-31" as LocalDate };
  const files = planDevices(days, ["../a", "B", "b"] as DeviceId[]);
  expect(files).toEqual([
    { name: "%2E.%2Fa", ...days, deviceIds: ["../a" as DeviceId] },
    { name: "B", ...days, deviceIds: ["B" as DeviceId] },
    { name: "%62", ...days, deviceIds: ["b" as DeviceId] },
  ]);
});

test("a month that is entered in its middle has all of its days in the range", () => {
  const range = { from: "2025-01-05" as LocalDate, to: "2025-03-03" as LocalDate };
  const daysOf = (date: string) => {
    const { from, to } = planPeriod("month", date as LocalDate, range, []);
    return [from, to] as string[];
  };
  expect(daysOf("2025-01-20")).toEqual(["2025-01-05", "2025-01-31"]);
  expect(daysOf("2025-02-20")).toEqual(["2025-02-01", "2025-02-28"]);
  expect(daysOf("2025-03-02")).toEqual(["2025-03-01", "2025-03-03"]);
});

test("dayAfter() the last day that can be named comes after all days", () => {
  expect(dayAfter("9999-12-30" as LocalDate)).toBe("9999-12-31" as LocalDate);
  expect(dayAfter("9999-12-31" as LocalDate) > "9999-12-31").toBe(true);
});
