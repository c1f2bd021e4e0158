import { expect, test } from "bun:test";
import { formatDuration, parseDuration, roughDuration } from "../../../../src/lib/text/duration.ts";

test("parseDuration() reads seconds, minutes, hours, days and weeks", () => {
  expect(parseDuration("30s")).toBe(30_000);
  expect(parseDuration("90m")).toBe(90 * 60_000);
  expect(parseDuration("12h")).toBe(12 * 3_600_000);
  expect(parseDuration("30d")).toBe(30 * 86_400_000);
  expect(parseDuration("2w")).toBe(14 * 86_400_000);
});

test("parseDuration() refuses everything else, nothing at all included", () => {
  for (const text of ["", "0d", "30", "d", "-1d", "1.5h", "1y", "30 d", "30D", "1000000w"]) {
    expect(parseDuration(text)).toBeNull();
  }
});

test("formatDuration() takes the greatest unit that has a whole number of them", () => {
  for (const text of ["30s", "90m", "12h", "25h", "30d", "2w"]) {
    expect(formatDuration(parseDuration(text)!)).toBe(text);
  }
  expect(formatDuration(parseDuration("60m")!)).toBe("1h");
  expect(formatDuration(parseDuration("14d")!)).toBe("2w");
});

test("roughDuration() takes the largest unit of which there are two", () => {
  const texts = [0, 119, 120, 7199, 7200, 172_799, 172_800].map(roughDuration);
  expect(texts).toEqual(["0 s", "119 s", "2 min", "120 min", "2 h", "48 h", "2 days"]);
});
