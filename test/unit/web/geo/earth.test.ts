import { expect, test } from "bun:test";
import { unwrapped } from "../../../../src/web/geo/earth.ts";

test("unwrapped() goes on past ±180° instead of leaping back, either way", () => {
  expect(
    unwrapped([
      [179, 0],
      [-179, 1],
      [-178, 2],
    ]),
  ).toEqual([
    [179, 0],
    [181, 1],
    [182, 2],
  ]);
  expect(
    unwrapped([
      [-179, 0],
      [179, 1],
      [-179, 2],
    ]),
  ).toEqual([
    [-179, 0],
    [-181, 1],
    [-179, 2],
  ]);
  expect(unwrapped([])).toEqual([]);
});
