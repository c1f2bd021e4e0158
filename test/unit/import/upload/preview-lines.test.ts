import { expect, test } from "bun:test";
import { PREVIEW_POINTS_MAX, PreviewLines } from "../../../../src/import/upload/preview-lines.ts";
import { batchOf } from "../../../support/reports/batches.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 2, 20);

function report(index: number, deviceId = "a") {
  return {
    device_id: deviceId,
    timestamp: START_MS + index * MINUTE_MS,
    latitude: 1,
    longitude: index / 1000,
  };
}

test("PreviewLines begins a line for another device and after a silence of half an hour", () => {
  const lines = new PreviewLines();
  lines.add(batchOf([report(0), report(30), report(61), report(62, "b")]));
  expect(lines.lines()).toEqual([
    [
      [0, 1],
      [0.03, 1],
    ],
    [[0.061, 1]],
    [[0.062, 1]],
  ]);
});

test.each([0, 1, 399, 400, 401, 799, 5000])(
  "PreviewLines draws %p points with few, and ends at the last",
  (count) => {
    const lines = new PreviewLines();
    const reports = Array.from({ length: count }, (_, index) => report(index));
    for (let at = 0; at < count; at += 700) lines.add(batchOf(reports.slice(at, at + 700)));
    const drawn = lines.lines().flat();
    expect(drawn.length).toBeLessThanOrEqual(PREVIEW_POINTS_MAX + 1);
    expect(drawn.length).toBeGreaterThanOrEqual(Math.min(count, PREVIEW_POINTS_MAX / 2));
    expect([drawn.at(0), drawn.at(-1)]).toEqual(
      count === 0
        ? [undefined, undefined]
        : [
            [0, 1],
            [(count - 1) / 1000, 1],
          ],
    );
  },
);
