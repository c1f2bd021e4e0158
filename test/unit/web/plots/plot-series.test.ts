import { describe, expect, test } from "bun:test";
import type { SeriesAnswer } from "../../../../src/web/api/answers.ts";
import {
  greatest,
  isKnown,
  plotSeries,
  speedSeries,
  valueAt,
} from "../../../../src/web/plots/plot-series.ts";
import { trackOf } from "../history/tracks.ts";

/** Of speeds, one for each bucket; the least is half and the greatest twice of the last. */
function answerOf(seconds: readonly number[], speeds: readonly (number | null)[]): SeriesAnswer {
  const none = speeds.map(() => null);
  return {
    timestamp: seconds.map((second) => second * 1000),
    speed_min: speeds.map((speed) => speed && speed / 2),
    speed_max: speeds.map((speed) => speed && speed * 2),
    speed_last: speeds,
    ...{ altitude_min: none, altitude_max: none, altitude_last: none },
    ...{ battery_level_min: none, battery_level_max: none, battery_level_last: none },
  };
}

describe("plotSeries()", () => {
  test("is in the unit that is shown", () => {
    const { timestamp, min, max, last } = plotSeries(answerOf([1, 2, 3], [10, 0, null]), "speed", 3.6, 1200);
    expect([timestamp, min, last, max]).toEqual([
      [1, 2, 3],
      [18, 0, null],
      [36, 0, null],
      [72, 0, null],
    ]);
  });

  test("breaks in a silence of more than 10 minutes", () => {
    const { timestamp, last } = plotSeries(answerOf([0, 600, 1201], [1, 2, 3]), "speed", 1, 1200);
    expect(timestamp).toEqual([0, 600, 900.5, 1201]);
    expect(last).toEqual([1, 2, null, 3]);
  });

  test("breaks only where buckets are empty, in ranges with long ones", () => {
    const day = 86_400;
    const seconds = Array.from(
      { length: 200 },
      (_, index) => (index * day) / 6 + (index > 100 ? 10 * day : 0),
    );
    const { last } = plotSeries(
      answerOf(
        seconds,
        seconds.map(() => 1),
      ),
      "speed",
      1,
      1200,
    );
    expect(last.filter((value) => value === null)).toHaveLength(199); // Buckets are 51 minutes long here.
    const dense = Array.from({ length: 1200 }, (_, index) => index * 3600);
    const none = plotSeries(
      answerOf(
        dense,
        dense.map(() => 1),
      ),
      "speed",
      1,
      1200,
    );
    expect(none.last).not.toContain(null);
  });
});

test("a field that no record has is not known", () => {
  const answer = answerOf([1, 2], [null, 0]);
  expect([isKnown(answer, "speed"), isKnown(answer, "altitude")]).toEqual([true, false]);
});

test("the greatest is the true maximum, when its bucket ends", () => {
  const series = plotSeries(answerOf([1, 2, 3], [10, 30, 20]), "speed", 1, 1200);
  expect(greatest(series)).toEqual({ value: 60, ms: 2000 });
  expect(greatest(plotSeries(answerOf([1], [null]), "speed", 1, 1200))).toBeNull();
});

test("the value at an instant is the last that was known", () => {
  const series = plotSeries(answerOf([10, 20], [1, 2]), "speed", 1, 1200);
  expect([9_999, 10_000, 19_999, 25_000].map((ms) => valueAt(series, ms))).toEqual([null, 1, 1, 2]);
});

describe("speedSeries()", () => {
  test("is the way to the next by the time it took, over 30 seconds at least", () => {
    const { timestamp, last } = speedSeries(trackOf([0, 10, 20, 30, 40]), 3.6);
    expect(timestamp).toEqual([0, 10, 20, 30, 40]);
    expect(last.slice(0, 2)).toEqual([null, null]);
    expect(last[2]).toBeCloseTo(3.6 * 11.12, 1); // 333.6 m in 30 s.
    expect(last[3]).toBeCloseTo(3.6 * 11.12, 1);
    expect(last[4]).toBeNull(); // Nobody knows where it goes from there.
  });

  test("is even from one position to the next where they are far apart in time", () => {
    const { last } = speedSeries(trackOf([0, 100, 140]), 1);
    expect(last[0]).toBeCloseTo(1.112, 3);
    expect(last[1]).toBeCloseTo(2.78, 2);
  });

  test("knows nothing of what lies in a gap", () => {
    const { last } = speedSeries(trackOf([0, 60, 2000, 2060], { gaps: [2] }), 1);
    expect(last[0]).toBeCloseTo(1.853, 3);
    expect(last[1]).toBeNull();
    expect(last[2]).toBeCloseTo(1.853, 3);
  });
});
