import { expect, test } from "bun:test";
import { zxyToTileId } from "pmtiles";
import { cellAt, mercatorX, mercatorY } from "../../../../src/map/mercator.ts";
import { RangeCursor, tileRanges } from "../../../../src/map/streets/tile-ranges.ts";

type Box = readonly [number, number, number, number];

function allIds([west, south, east, north]: Box, minZoom: number, maxZoom: number): number[] {
  const ids: number[] = [];
  for (let z = minZoom; z <= maxZoom; z++)
    for (let x = cellAt(mercatorX(west), z); x <= cellAt(mercatorX(east), z); x++)
      for (let y = cellAt(mercatorY(north), z); y <= cellAt(mercatorY(south), z); y++)
        ids.push(zxyToTileId(z, x, y));
  return ids.sort((a, b) => a - b);
}

test.each([
  ["Liverpool", [-3.46, 53.12, -2.51, 53.7], 0, 13],
  ["Fiji's west", [176, -20, 180, -15], 3, 9],
  ["the world", [-180, -85.05, 180, 85.05], 0, 6],
  ["a point's surroundings", [-0.0001, 51.4999, 0.0001, 51.5001], 14, 15],
] as const)("the ranges hold each tile of the box once, in order: %s", (_name, box, minZoom, maxZoom) => {
  const ranges = tileRanges(box, minZoom, maxZoom)!;
  const ids = ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
  expect(ids).toEqual(allIds(box, minZoom, maxZoom));
  for (const [index, { start }] of ranges.slice(1).entries())
    expect(start).toBeGreaterThan(ranges[index]!.end);
});

test("all tiles of the world at zoom 15 are one range; an area with millions of tiles at its edge is refused", () => {
  expect(tileRanges([-180, -85.06, 180, 85.06], 15, 15)).toHaveLength(1);
  expect(tileRanges([-180, -85.06, 1, 85.06], 26, 26)).toBeNull();
});

test("a cursor cuts ranges to what is wanted", () => {
  const cursor = new RangeCursor([
    { start: 2, end: 5 },
    { start: 7, end: 9 },
    { start: 20, end: 21 },
  ]);
  expect([...cursor.within({ start: 0, end: 2 })]).toEqual([]);
  expect([...cursor.within({ start: 3, end: 8 })]).toEqual([
    { start: 3, end: 5 },
    { start: 7, end: 8 },
  ]);
  expect([...cursor.within({ start: 8, end: 30 })]).toEqual([
    { start: 8, end: 9 },
    { start: 20, end: 21 },
  ]);
});
