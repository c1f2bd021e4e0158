import { expect, test } from "bun:test";
import { dayHours } from "../../../../src/web/device/day-lists.ts";
import { type LocalDay, rangeOf } from "../../../../src/web/time/local-day.ts";
import { trackOf } from "../history/tracks.ts";

const BERLIN = "Europe/Berlin";

test("a day has the hours that clocks show, with what was reported in each", () => {
  const day = "2026-10-25" as LocalDay;
  const start = rangeOf(day, BERLIN).startMs / 1000;
  const track = trackOf([start, start + 3599, start + 3600, start + 24 * 3600 + 5], { gaps: [3] });
  const hours = dayHours(track, day, BERLIN);
  expect(hours).toHaveLength(25);
  expect(hours.map(({ positions }) => positions)).toEqual([2, 1, ...Array(22).fill(0), 1]);
  expect(hours[0]!.meters).toBeCloseTo(111.2, 1);
  expect(hours[1]!.meters).toBeCloseTo(111.2, 1);
  expect(hours[24]!.meters).toBe(0); // No line leads there.
});

test("a shorter day has fewer", () => {
  expect(dayHours(trackOf([]), "2026-03-29" as LocalDay, BERLIN)).toHaveLength(23);
});
