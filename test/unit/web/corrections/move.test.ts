import { expect, test } from "bun:test";
import {
  isMoved,
  lineThrough,
  type Move,
  moveMembers,
  nudged,
  shiftText,
} from "../../../../src/web/corrections/move.ts";
import { trackOf } from "../history/tracks.ts";

const HERE = { latitude: 51.5, longitude: -0.1 };
const moveTo = (latitude: number, longitude: number, from = HERE): Move => ({
  ...{ timestampMs: 20_000, from },
  to: { latitude, longitude },
});

test("nudged() moves by two pixels, by twenty with Shift, and in one direction only", () => {
  const at = (key: string, shiftKey = false, zoom = 15) => nudged(HERE, { key, shiftKey }, zoom)!;
  const pixel = 360 / (512 * 2 ** 15);
  expect(at("ArrowRight").longitude).toBeCloseTo(-0.1 + 2 * pixel, 6);
  expect(at("ArrowLeft", true).longitude).toBeCloseTo(-0.1 - 20 * pixel, 6);
  expect(at("ArrowRight").latitude).toBe(51.5);
  expect(at("ArrowUp").longitude).toBe(-0.1);
  expect(at("ArrowUp").latitude).toBeCloseTo(51.5 + 2 * pixel * Math.cos((51.5 * Math.PI) / 180), 6);
  expect(at("ArrowDown").latitude).toBeLessThan(51.5);
  expect(at("ArrowUp", false, 16).latitude).toBeLessThan(at("ArrowUp").latitude);
  expect([nudged(HERE, { key: "Enter", shiftKey: false }, 15), isMoved(moveTo(51.5, -0.1))]).toEqual([
    null,
    false,
  ]);
});

test("nudged() crosses ±180°, and stops at the edge of the map", () => {
  const east = nudged({ latitude: 0, longitude: 179.999_999 }, { key: "ArrowRight", shiftKey: true }, 10)!;
  expect(east.longitude).toBeWithin(-180, -179);
  const north = nudged({ latitude: 85.05, longitude: 0 }, { key: "ArrowUp", shiftKey: true }, 0)!;
  expect(north.latitude).toBeWithin(85, 85.1);
});

test("moveMembers() is the record and its place to a centimeter, with the longitude in its range", () => {
  expect(moveMembers(moveTo(1.234_567_891, 190))).toEqual({
    ...{ timestamps: [20_000], latitude: 1.2345679, longitude: -170 },
  });
});

test("shiftText() says how far and in which direction", () => {
  expect(shiftText(moveTo(51.502, -0.1), "metric")).toBe("222 m N");
  expect(shiftText(moveTo(51.5, -0.2), "miles")).toBe("4.30 mi W");
});

test("lineThrough() joins the neighbors, but not over a silence, and not those of a simplified track", () => {
  const line = (seconds: readonly number[], toleranceMeters = 0) =>
    lineThrough(trackOf(seconds, { toleranceMeters }), moveTo(1, 2));
  const [before, to, after] = [
    [0, 0],
    [2, 1],
    [0.002, 0],
  ];
  expect(line([10, 20, 30]) as unknown).toEqual([before, to, after]);
  expect(line([10, 20, 1000]) as unknown).toEqual([before, to]);
  expect(line([20, 30]) as unknown).toEqual([to, [0.001, 0]]);
  expect([line([20, 5000]), line([10, 30]), line([10, 20, 30], 5)]).toEqual([[], [], []]);
});
