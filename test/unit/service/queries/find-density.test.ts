import { expect, test } from "bun:test";
import { ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { createFindDensity } from "../../../../src/service/queries/density.ts";
import type { ReadCoordinates } from "../../../../src/service/queries/read-coordinates.ts";
import { APP } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/** Reads these places, and has the reading settled after so many of them, as a block of rows does. */
function readerOf(placeAt: (index: number) => readonly [number, number], count: number): ReadCoordinates {
  return (_appId, _query, _client, begin) => {
    const reading = begin();
    for (let index = 0; index < count; index++) {
      reading.add(...placeAt(index));
      if (index % 2048 === 2047) for (const _step of reading.catchUp());
    }
    for (const _step of reading.catchUp());
    return ok({ value: reading.value, isIncomplete: false });
  };
}

async function find(readCoordinates: ReadCoordinates, zoom: number) {
  const range = { startMs: 0, endMs: 1 };
  const findDensity = createFindDensity({ readCoordinates, scheduler: new Scheduler() });
  const found = await findDensity(APP, { range, box: null, zoom }, { signal: new AbortController().signal });
  if (!found.ok) throw new Error(JSON.stringify(found.error));
  return found.value;
}

test("a million cells become as many as may be answered, and no position is lost", async () => {
  const random = seededRandom(1);
  const places = () => [random() * 170 - 85, random() * 360 - 180] as const;
  const { zoom, count } = await find(readerOf(places, 1_000_000), 22);
  // At zoom 2 the world has 256 x 256 cells, all of which fit.
  expect(zoom).toBe(2);
  expect(count.length).toBeWithin(50_000, 65_537);
  expect(count.reduce((sum, each) => sum + each, 0)).toBe(1_000_000);
});

test("a million positions in one cell are one cell, at the zoom that was asked for", async () => {
  const found = await find(
    readerOf(() => [42.35, -71.05], 1_000_000),
    22,
  );
  expect({ zoom: found.zoom, count: [...found.count] }).toEqual({ zoom: 22, count: [1_000_000] });
});

test("the edges of the map are in its first and last cells", async () => {
  const corners = [
    [90, -180],
    [-90, 180],
    [85.06, 180],
    [-85.06, -180],
  ] as const;
  const { column, row } = await find(
    readerOf((index) => corners[index]!, corners.length),
    1,
  );
  expect({ column: [...column], row: [...row] }).toEqual({
    column: [0, 127, 0, 127],
    row: [0, 0, 127, 127],
  });
});
