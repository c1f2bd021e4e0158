import { describe, expect, test } from "bun:test";
import { bandOf, speedLimits, speedPieces, speedsAlong } from "../../../../src/web/history/speed-line.ts";
import { trackOf } from "./tracks.ts";

/** A series with one value per bucket, at these seconds. */
function seriesOf(timestamp: readonly number[], values: readonly (number | null)[]) {
  return { timestamp, min: values, max: values, last: values };
}

describe("the bands of a day", () => {
  test("have round limits that fit the speeds", () => {
    const limitsOf = (...values: (number | null)[]) =>
      speedLimits(
        seriesOf(
          values.map((_, at) => at),
          values,
        ),
      );
    expect(limitsOf(0, 3.1, 4.9, null)).toEqual([1, 2, 3, 4]);
    expect(limitsOf(0, 12, 48)).toEqual([10, 20, 30, 40]);
    expect(limitsOf(800, 700)).toEqual([200, 400, 600, 800]);
  });

  test("are not stretched by a single spike, or by a long rest", () => {
    const driving = Array.from({ length: 40 }, (_, at) => at + 1);
    const limits = [10, 20, 30, 40];
    expect(speedLimits(seriesOf([], [...driving, ...Array(500).fill(0), 900]))).toEqual(limits);
  });

  test("are missing if the device never moved", () => {
    expect(speedLimits(seriesOf([0, 1], [0, null]))).toBeNull();
  });

  test("begin at their limits", () => {
    expect([0, 9.9, 10, 39, 40, 500].map((speed) => bandOf(speed, [10, 20, 30, 40]))).toEqual([
      0, 0, 1, 3, 4, 4,
    ]);
  });
});

describe("the speed along a line", () => {
  test("is that of the series at the middle of the way, whatever the distance is", () => {
    const track = trackOf([0, 10, 20, 1000, 1010], { gaps: [3] });
    const speeds = speedsAlong(track, seriesOf([10, 20, 510, 1010], [30, 60, null, 90]));
    expect(speeds.slice(1, 3)).toEqual([30, 60]);
    expect(speeds[4]).toBe(90);
  });

  test("is the mean of a way that is longer than a bucket, as in a simplified line", () => {
    const track = trackOf([0, 300, 600]);
    const series = seriesOf([0, 100, 200, 300, 400, 500, 600], [0, 10, null, 50, 7, 0, 7]);
    expect(speedsAlong(track, series).slice(1)).toEqual([30, 7]);
  });

  test("holds for neighbors without one, but neither for long nor over a gap", () => {
    const track = trackOf([0, 60, 120, 200, 320, 400, 2000, 2010], { gaps: [6] });
    const known = seriesOf([0, 60, 120, 200, 320, 400, 2000, 2010], [5, 5, 5, null, null, null, null, null]);
    expect(speedsAlong(track, known)).toEqual([5, 5, 5, 5, null, null, null, null]);
    const late = seriesOf([0, 60, 120, 200], [null, null, 7, 8]);
    expect(speedsAlong(trackOf([0, 60, 120, 200]), late)).toEqual([7, 7, 7, 8]);
  });
});

describe("the pieces of a line", () => {
  test("meet where the band changes, and break where the line does", () => {
    const track = trackOf([0, 1, 2, 3, 2000, 2001], { gaps: [4] });
    const pieces = speedPieces(track, [0, 5, 5, 15, 15, 15], [10]);
    expect(pieces.map(({ band, positions }) => [band, positions.map(([longitude]) => longitude)])).toEqual([
      [0, [0, 0.001, 0.002]],
      [1, [0.002, 0.003]],
      [1, [0.004, 0.005]],
    ]);
  });

  test("cover the whole line, known or not, and are short enough to draw", () => {
    const seconds = Array.from({ length: 9000 }, (_, at) => at);
    const pieces = speedPieces(
      trackOf(seconds),
      seconds.map(() => null),
      [10],
    );
    expect(pieces.map(({ band }) => band)).toEqual([null, null, null]);
    expect(Math.max(...pieces.map(({ positions }) => positions.length))).toBe(4096);
    expect(pieces.reduce((sum, { positions }) => sum + positions.length - 1, 0)).toBe(8999);
  });
});
