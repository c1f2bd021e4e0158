import { describe, expect, test } from "bun:test";
import { directionMarks } from "../../../../src/web/history/direction-marks.ts";
import { Track } from "../../../../src/web/history/track.ts";
import { trackOf } from "./tracks.ts";

const WORLD = { west: -180, south: -90, east: 180, north: 90 };
/** The length of 0.001° at the equator. */
const STEP_METERS = 111.2;

function lineOf(positions: readonly (readonly [longitude: number, latitude: number])[], gaps: number[] = []) {
  return new Track({
    ...{ total: positions.length, tolerance_meters: 0, gaps },
    timestamp: positions.map((_, at) => at * 1000),
    longitude: positions.map(([longitude]) => longitude),
    latitude: positions.map(([, latitude]) => latitude),
  });
}

describe("direction marks", () => {
  test("stand at equal distances along a straight way, and point along it", () => {
    const marks = directionMarks(
      lineOf([
        [0, 0],
        [0.01, 0],
      ]),
      2 * STEP_METERS,
      WORLD,
    );
    expect(marks.map(({ longitude }) => Number(longitude.toFixed(4)))).toEqual([
      0.001, 0.003, 0.005, 0.007, 0.009,
    ]);
    expect(new Set(marks.map(({ bearing }) => bearing))).toEqual(new Set([90]));
  });

  test("point back on the way back", () => {
    const there = [
      [0, 0],
      [0, 0.01],
    ] as const;
    const marks = directionMarks(lineOf([...there, there[0]]), 10 * STEP_METERS, WORLD);
    expect(marks.map(({ bearing }) => Math.round(bearing))).toEqual([0, 180]);
  });

  test("keep their distance when there are many positions", () => {
    const marks = directionMarks(
      trackOf(Array.from({ length: 101 }, (_, at) => at)),
      20 * STEP_METERS,
      WORLD,
    );
    expect(marks).toHaveLength(5);
    expect(marks.every(({ bearing }) => Math.round(bearing) === 90)).toBe(true);
  });

  test("are missing where a device stands, though its fixes wander", () => {
    const fixes = Array.from({ length: 500 }, (_, at) => [(at % 7) / 1e5, (at % 5) / 1e5] as const);
    expect(directionMarks(lineOf(fixes), 10 * STEP_METERS, WORLD)).toEqual([]);
  });

  test("are missing over gaps", () => {
    expect(
      directionMarks(
        lineOf(
          [
            [0, 0],
            [1, 0],
          ],
          [1],
        ),
        STEP_METERS,
        WORLD,
      ),
    ).toEqual([]);
  });

  test("are those of the view alone, on both sides of ±180°", () => {
    const bounds = { west: 179.99, south: -1, east: 180.01, north: 1 };
    const marks = directionMarks(
      lineOf([
        [179.95, 0],
        [-179.95, 0],
      ]),
      5 * STEP_METERS,
      bounds,
    );
    expect(marks).toHaveLength(4);
    expect(marks.every(({ longitude }) => Math.abs(longitude - 180) <= 0.01)).toBe(true);
  });
});
