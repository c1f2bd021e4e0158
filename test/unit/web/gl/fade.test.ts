import { expect, test } from "bun:test";
import { Fade } from "../../../../src/web/gl/fade.ts";

test("moves from one value to the other within 300 ms, and rests there", () => {
  const fade = new Fade({ matches: false }, 1);
  expect([fade.valueAt(0), fade.isMoving(0)]).toEqual([1, false]);
  fade.moveTo(0.2, 1000);
  const values = [1000, 1100, 1150, 1200, 1300, 9000].map((ms) => fade.valueAt(ms));
  expect(values).toEqual([...values].sort((a, b) => b - a));
  expect([values[0], values[2], values[4], values[5]]).toEqual([1, expect.closeTo(0.6), 0.2, 0.2]);
  expect([fade.isMoving(1000), fade.isMoving(1299), fade.isMoving(1300)]).toEqual([true, true, false]);
});

test("turned around half way, it begins where it is", () => {
  const fade = new Fade({ matches: false }, 1);
  fade.moveTo(0, 0);
  fade.moveTo(1, 150);
  expect(fade.valueAt(150)).toBeCloseTo(0.5);
  fade.moveTo(1, 200); // Changes nothing.
  expect(fade.valueAt(450)).toBe(1);
});

test("users who prefer reduced motion see the new value at once", () => {
  const fade = new Fade({ matches: true }, 1);
  fade.moveTo(0.2, 1000);
  expect([fade.valueAt(1000), fade.isMoving(1000)]).toEqual([0.2, false]);
});
