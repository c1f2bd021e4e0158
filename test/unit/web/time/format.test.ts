import { describe, expect, test } from "bun:test";
import {
  agoText,
  clockText,
  dateText,
  dayText,
  durationText,
  instantText,
  localeOf,
  localeOfTimes,
  minuteRangeText,
  minuteText,
  positionTime,
  setHourCycle,
} from "../../../../src/web/time/format.ts";
import { DAY, type LocalDay, parseDay, SPANS } from "../../../../src/web/time/local-day.ts";

const MS = Date.UTC(2026, 10, 21, 22, 5, 49);
const US = localeOf("en-US");

describe("times of a clock name their zone", () => {
  test("in the manner of the region", () => {
    expect(instantText(MS, "America/New_York", US)).toBe("Sat, Nov 21, 2026, 5:05:49 PM EST");
    expect(instantText(MS, "America/New_York", localeOf("en-GB"))).toBe("Sat, 21 Nov 2026, 17:05:49 GMT-5");
    expect(clockText(MS, "Europe/Berlin", localeOf("de-DE"))).toBe("23:05:49 CET");
    expect(minuteText(MS, "UTC", localeOf("fr"))).toBe("22:05 UTC");
  });

  test("once for a range, and twice if clocks change in it", () => {
    const change = Date.UTC(2026, 9, 25, 1);
    const berlin = localeOf("de-DE");
    const range = (startMs: number, endMs: number) =>
      minuteRangeText(startMs, endMs, "Europe/Berlin", berlin);
    expect(range(change, change + 3_600_000)).toBe("02:00 – 03:00 CET");
    expect(range(change - 60_000, change + 60_000)).toBe("02:59 CEST – 02:01 CET");
    expect(minuteRangeText(MS, MS, "America/New_York", US)).toBe("5:05 PM – 5:05 PM EST");
  });

  test("in English and of one calendar, whatever the region", () => {
    expect(instantText(MS, "UTC", localeOf("th-TH"))).toContain("2026");
    expect(instantText(MS, "UTC", localeOf("ar-EG"))).toContain("21");
  });

  test("on both sides of a change of clocks", () => {
    const change = Date.UTC(2026, 9, 25, 1);
    const berlin = localeOf("de-DE");
    expect(minuteText(change - 60_000, "Europe/Berlin", berlin)).toBe("02:59 CEST");
    expect(minuteText(change, "Europe/Berlin", berlin)).toBe("02:00 CET");
  });
});

test("the clock has 12 or 24 hours as the user chose, and the region's again after that", () => {
  const before = [minuteText(MS, "UTC"), localeOfTimes()];
  setHourCycle("h12");
  expect(minuteText(MS, "UTC").toLowerCase()).toMatch(/^10:05\spm utc$/);
  expect(localeOfTimes()).not.toBe(before[1] as Intl.Locale);
  setHourCycle("h23");
  const locale = localeOfTimes();
  expect(clockText(MS, "UTC")).toBe("22:05:49 UTC");
  expect(minuteText(Date.UTC(2026, 10, 21, 0, 5), "UTC")).toBe("00:05 UTC");
  setHourCycle("h23");
  expect(localeOfTimes()).toBe(locale);
  setHourCycle(null);
  expect([minuteText(MS, "UTC"), localeOfTimes()]).toEqual(before);
});

test("a day is the same in every zone", () => {
  expect(dayText(parseDay("2026-11-21") as LocalDay, US)).toBe("Sat, Nov 21, 2026");
  expect(dateText(parseDay("2026-11-21") as LocalDay, US)).toBe("Nov 21, 2026");
});

test("durations have two units at most", () => {
  expect(durationText(0)).toBe("0 s");
  expect(durationText(45_400)).toBe("45 s");
  expect(durationText(59_600)).toBe("1 min");
  expect(durationText(9 * 60_000)).toBe("9 min");
  expect(durationText(59.6 * 60_000)).toBe("1 h");
  expect(durationText(72 * 60_000)).toBe("1 h 12 min");
  expect(durationText(26 * 3_600_000)).toBe("1 d 2 h");
});

test("how long ago is told in whole units, and a clock ahead of ours in the future", () => {
  const ago = (ms: number) => agoText(1e12 - ms, 1e12);
  expect(ago(400)).toBe("now");
  expect(ago(3_900)).toBe("3 s ago");
  expect(ago(41 * 60_000)).toBe("41 min ago");
  expect(ago(3_600_000)).toBe("1 h ago");
  expect(ago(86_400_000)).toBe("1 day ago");
  expect(ago(50 * 86_400_000)).toBe("50 days ago");
  expect(ago(-120_000)).toBe("in 2 min");
});

test("positionTime() has the day if several days are shown", () => {
  const noonMs = Date.UTC(2026, 10, 10, 12);
  /** Browsers put narrow spaces into times. */
  const text = (span: typeof DAY) => positionTime(noonMs, "UTC", span).replaceAll(/[\u202f\u00a0]/g, " ");
  expect(text(DAY)).toMatch(/^12:00:00( PM)? UTC$/);
  expect(text(SPANS[1]!)).toMatch(/^Tue, Nov 10, 2026, 12:00:00( PM)? UTC$/);
});
