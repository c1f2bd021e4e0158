import { expect, test } from "bun:test";
import { distanceText, shortCount, speedText, unitsOf } from "../../../../src/web/geo/units.ts";

test("miles are for who sees them along the road", () => {
  for (const language of ["en", "en-US", "en-GB", "es-PR", "cy"])
    expect([language, unitsOf(language)]).toEqual([language, "miles"]);
  for (const language of ["de", "fr-CA", "en-AU", "en-IE", "zh-Hant"])
    expect([language, unitsOf(language)]).toEqual([language, "metric"]);
});

test("a distance has three digits that say something", () => {
  const metric = [0, 84.6, 999.4, 999.5, 1240, 9994, 12_460, 99_960, 1_234_567];
  expect(metric.map((meters) => distanceText(meters, "metric"))).toEqual([
    "0 m",
    "85 m",
    "999 m",
    "1.00 km",
    "1.24 km",
    "9.99 km",
    "12.5 km",
    "100 km",
    "1235 km",
  ]);
  expect([30, 161, 1609.344, 20_000].map((meters) => distanceText(meters, "miles"))).toEqual([
    "98 ft",
    "0.10 mi",
    "1.00 mi",
    "12.4 mi",
  ]);
});

test("a speed is per hour", () => {
  expect(speedText(10.6, "metric")).toBe("38 km/h");
  expect(speedText(10.6, "miles")).toBe("24 mph");
});

test("shortCount() has at most four characters", () => {
  const counts = [501, 999, 1000, 1234, 9949, 9950, 12_345, 999_499, 999_500, 3_400_000];
  expect(counts.map(shortCount)).toEqual([
    "501",
    "999",
    "1k",
    "1.2k",
    "9.9k",
    "10k",
    "12k",
    "999k",
    "1M",
    "3.4M",
  ]);
});
