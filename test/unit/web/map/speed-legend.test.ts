import { expect, test } from "bun:test";
import { bandTexts } from "../../../../src/web/map/speed-legend.ts";

test("each band has its range, and the last one is open", () => {
  expect(bandTexts([10, 20, 30, 40])).toEqual(["0–10", "10–20", "20–30", "30–40", "40+"]);
});
