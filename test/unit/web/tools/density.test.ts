import { expect, test } from "bun:test";
import type { Query } from "../../../../src/web/api/api.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { cellMeters, cellZoomOf, Density } from "../../../../src/web/tools/density.ts";
import { DENSITY_PRESETS } from "../../../../src/web/tools/density-range.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

const CELLS = { zoom: 12, x: [1, 2], y: [3, 3], count: [4, 9] };

const CAMERA = {
  latitude: 50.5,
  longitude: 0,
  zoom: 11.2,
  bounds: { west: -1, south: 50, east: 1, north: 51 },
};

function setUp() {
  const time = new VirtualTime();
  const retries = new Retries(() => 1_000_000, time);
  const asked: { query: Query; signal: AbortSignal; answer: PromiseWithResolvers<unknown> }[] = [];
  const drawn: unknown[] = [];
  const lowered: true[] = [];
  let move = () => {};
  const map = {
    camera: CAMERA as typeof CAMERA | null,
    onCamera: (listener: () => void) => {
      move = listener;
    },
    setDensity: (cells: unknown) => drawn.push(cells),
  };
  const density = new Density({
    api: {
      retries,
      get<Body>(_path: string, query: Query = {}, signal?: AbortSignal): Promise<Body> {
        const answer = Promise.withResolvers<unknown>();
        signal?.addEventListener("abort", () => answer.reject(signal.reason));
        asked.push({ query, signal: signal!, answer });
        return answer.promise as Promise<Body>;
      },
    },
    map,
    zones: { zone: "Europe/Berlin" },
    sheet: { lower: () => lowered.push(true) },
    changed: () => undefined,
    timers: time,
  });
  return { time, retries, density, map, asked, drawn, lowered, move: () => move() };
}

test("asks for what is seen, and counts what comes", async () => {
  const { density, asked, drawn, lowered } = setUp();
  density.open();
  expect([density.isLoading, lowered.length]).toEqual([true, 1]);
  expect(asked[0]!.query).toMatchObject({ bbox: "-1,50,1,51", zoom: 12 });
  asked[0]!.answer.resolve(CELLS);
  await turns();
  expect(drawn).toEqual([CELLS]);
  expect([density.isLoading, density.positions, density.isCoarser]).toEqual([false, 13, false]);
});

test("opened before there is a map, it asks once there is one", async () => {
  const { density, map, asked, move, time } = setUp();
  map.camera = null;
  density.open();
  expect([density.isLoading, density.range.endMs > density.range.startMs, asked.length]).toEqual([
    true,
    true,
    0,
  ]);
  map.camera = CAMERA;
  move();
  await time.pass(250);
  expect(asked.length).toBe(1);
});

test("what went wrong is not said any more while it asks again", async () => {
  const { density, asked } = setUp();
  density.open();
  asked[0]!.answer.reject(new Error("The disk is full."));
  await turns();
  expect([density.fault, density.isLoading]).toEqual(["The disk is full.", false]);
  density.reload();
  expect([density.fault, density.isLoading]).toEqual([null, true]);
});

test("says when cells are coarser than the zoom", async () => {
  const { density, asked } = setUp();
  density.open();
  asked[0]!.answer.resolve({ ...CELLS, zoom: 10 });
  await turns();
  expect(density.isCoarser).toBeTrue();
});

test("once the camera rests it asks again, and drops what it asked before", async () => {
  const { density, asked, move, time } = setUp();
  move();
  density.open();
  move();
  await time.pass(200);
  move();
  await time.pass(249);
  expect(asked.length).toBe(1);
  await time.pass(1);
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test("while it is closed nothing is asked, wherever the camera goes and whichever the zone", async () => {
  const { density, asked, move, time } = setUp();
  move();
  density.reload();
  await time.pass(1000);
  expect(asked).toEqual([]);
  density.open();
  density.reload();
  expect(asked.length).toBe(2);
});

test("closed, it takes its cells off and asks no more", async () => {
  const { density, asked, drawn, move, time } = setUp();
  expect(density.close()).toBeFalse();
  density.open();
  move();
  expect(density.close()).toBeTrue();
  await time.pass(1000);
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
  expect(drawn).toEqual([null]);
  expect(density.cells).toBeNull();
});

test("a range that the user types begins as the one that is shown, and is loaded once it is valid", async () => {
  const { density, asked, drawn } = setUp();
  density.open();
  const { startMs, endMs } = density.range;
  asked[0]!.answer.resolve(CELLS);
  await turns();
  density.chooseOwn();
  expect(asked[1]!.query).toMatchObject({ start: startMs, end: endMs });
  density.chooseOwn({ start: "2026-03-02T10:00", end: "2026-03-02T10:00" });
  expect([density.fault, density.isLoading, asked.length]).toEqual([
    "The first minute must be before the last.",
    false,
    2,
  ]);
  expect([drawn.at(-1), density.positions]).toEqual([null, 0]);
  density.chooseOwn({ start: "2026-03-02T10:00", end: "2026-03-02T12:30" });
  expect([density.fault, density.isLoading]).toEqual([null, true]);
  expect(asked[2]!.query).toMatchObject({
    start: Date.parse("2026-03-02T09:00Z"),
    end: Date.parse("2026-03-02T11:30Z"),
  });
  density.choose(DENSITY_PRESETS[1]!);
  expect([density.own, asked.length]).toEqual([null, 4]);
});

test("the width of a cell on the ground shrinks to the poles", () => {
  expect([cellMeters(0, 0), cellMeters(12, 60), cellMeters(12, 0)].map(Math.round)).toEqual([
    626_172, 76, 153,
  ]);
});

test("cells are four pixels wide, as far in as the endpoint goes", () => {
  expect([-2, 0, 11.2, 11.6, 24].map(cellZoomOf)).toEqual([0, 1, 12, 13, 22]);
});

test("a question that did not get through is asked again once the connection is there, unless it was closed", async () => {
  const { density, asked, drawn, retries } = setUp();
  density.open();
  asked[0]!.answer.reject(new ApiError(0, "The server can't be reached."));
  await turns();
  expect(density.fault).toBe("The server can't be reached. Trying again…");
  retries.wake();
  await turns();
  asked[1]!.answer.resolve(CELLS);
  await turns();
  expect([density.fault, density.isLoading, drawn]).toEqual([null, false, [CELLS]]);
  density.reload();
  asked[2]!.answer.reject(new ApiError(0, "The server can't be reached."));
  await turns();
  density.close();
  retries.wake();
  await turns();
  expect(asked).toHaveLength(3);
});
