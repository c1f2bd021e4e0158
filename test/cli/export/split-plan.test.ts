import { expect, test } from "bun:test";
import fc from "fast-check";
import { planFiles } from "../../../src/cli/commands/export/split-plan.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { dayCount, type LocalDate } from "../../../src/time/range.ts";

const date = (dayNumber: number) => new Date(dayNumber * 86_400_000).toISOString().slice(0, 10) as LocalDate;
const range = fc
  .tuple(fc.integer({ min: 18_000, max: 21_000 }), fc.integer({ min: 0, max: 800 }))
  .map(([first, days]) => ({ from: date(first), to: date(first + days) }));

test("by day and by month, every day is in one file, in order, and named by it", () => {
  fc.assert(
    fc.property(range, fc.constantFrom("day", "month"), ({ from, to }, split) => {
      const files = planFiles(split, { from, to }, []);
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
  const files = planFiles("device", days, ["../a", "B", "b"] as DeviceId[]);
  expect(files).toEqual([
    { name: "%2E.%2Fa", ...days, deviceIds: ["../a" as DeviceId] },
    { name: "B", ...days, deviceIds: ["B" as DeviceId] },
    { name: "b~2", ...days, deviceIds: ["b" as DeviceId] },
  ]);
});

test("the last day that can be named ends a plan", () => {
  const days = { from: "9999-12-30" as LocalDate, to: "9999-12-31" as LocalDate };
  expect(planFiles("day", days, []).map(({ name }) => name)).toEqual(["9999-12-30", "9999-12-31"]);
});
