import { expect, test } from "bun:test";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { Corrections } from "../../../../src/hot/hidden/corrections.ts";
import { fail, ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { cellAt, mercatorX, mercatorY } from "../../../../src/map/mercator.ts";
import { Tile } from "../../../../src/map/tile.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import type { TimeRange } from "../../../../src/model/time/range.ts";
import type { ReadCoordinates } from "../../../../src/service/queries/read-coordinates.ts";
import { createTracks } from "../../../../src/service/queries/tracks-tile.ts";
import { turns } from "../../../support/turns.ts";

const NOW_MS = Date.UTC(2026, 10, 27, 12);
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const BOSTON = [42.35, -71.06] as const;
const ONE = "one" as AppId;
const OTHER = "other" as AppId;

type Place = readonly [latitude: number, longitude: number];

/** Tracks over a reader that has these places of each app, and that answers when the test says so. */
function setUp() {
  const clock = createManualClock(NOW_MS);
  const stopping = new AbortController();
  const places = new Map<string, Place[]>();
  const state = { retainedMs: 0, isBroken: false };
  const reads: { appId: AppId; range: TimeRange; signal: AbortSignal }[] = [];
  let gate: Promise<void> | null = null;
  const readCoordinates: ReadCoordinates = async (appId, { range }, { signal }, begin) => {
    reads.push({ appId, range, signal });
    const reading = begin();
    if (gate !== null) await gate;
    if (state.isBroken) return fail({ kind: "device_not_found", deviceId: "" });
    for (const place of places.get(appId) ?? []) reading.add(...place);
    for (const _step of reading.catchUp());
    return ok({ value: reading.value, isIncomplete: false });
  };
  const retention = { startMs: () => state.retainedMs };
  const tracks = createTracks({
    hot: { corrections: new Corrections() },
    readCoordinates,
    scheduler: new Scheduler(),
    clock,
    retention: retention as never,
    stopping: stopping.signal,
  });
  /** The counts of the points in the tile of a place; null for an empty tile. */
  const draw = async (
    appId: AppId,
    [latitude, longitude]: Place = BOSTON,
    zoom = 13,
    signal?: AbortSignal,
  ) => {
    const tile = new Tile(zoom, cellAt(mercatorX(longitude), zoom), cellAt(mercatorY(latitude), zoom));
    const drawn = await tracks.draw(appId, tile, { signal: signal ?? new AbortController().signal });
    if (!drawn.ok) return drawn.error.kind;
    if (drawn.value === null) return null;
    const layer = new VectorTile(new PbfReader(drawn.value)).layers.tracks!;
    return Array.from({ length: layer.length }, (_, index) => layer.feature(index).properties.count);
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return () => {
      gate = null;
      resolve();
    };
  };
  return { clock, places, state, reads, tracks, draw, hold, stopping };
}

test("all tiles of a view are drawn from one count of the last 90 days", async () => {
  const { places, reads, draw } = setUp();
  places.set(ONE, [BOSTON, BOSTON, [42.36, -71.06]]);
  const [near, far, north] = await Promise.all([
    draw(ONE),
    draw(ONE, [51.5, -0.1]),
    draw(ONE, [42.36, -71.06], 16),
  ]);
  expect([near, far, north]).toEqual([[2], null, [1]]);
  await draw(ONE, BOSTON, 11);
  expect(reads.map(({ range }) => range)).toEqual([{ startMs: NOW_MS - 90 * DAY_MS, endMs: NOW_MS }]);
});

test("an app has its own tracks alone", async () => {
  const { places, draw } = setUp();
  places.set(ONE, [BOSTON]);
  places.set(OTHER, [[42.351, -71.061]]);
  expect([await draw(ONE), await draw(OTHER), await draw("none" as AppId)]).toEqual([[1], [1], null]);
  places.set(OTHER, []);
  expect(await draw(ONE)).toEqual([1]);
});

test("a late report shows once the count is ten minutes old", async () => {
  const { places, clock, reads, draw, tracks } = setUp();
  places.set(ONE, [BOSTON]);
  expect(tracks.version(ONE)).toBe("1");
  await draw(ONE);
  expect(tracks.version(ONE)).toBe("1");
  places.set(ONE, [BOSTON, BOSTON]);
  clock.advance(10 * MINUTE_MS - 1);
  expect(await draw(ONE)).toEqual([1]);
  clock.advance(1);
  expect(tracks.version(ONE)).toBe("2");
  expect(await draw(ONE)).toEqual([2]);
  expect(reads).toHaveLength(2);
});

test("a count that takes long is used for a hundred times as long", async () => {
  const { clock, reads, draw, hold } = setUp();
  const release = hold();
  const drawn = draw(ONE);
  clock.advance(20_000);
  release();
  await drawn;
  clock.advance(100 * 20_000 - 1);
  await draw(ONE);
  expect(reads).toHaveLength(1);
  clock.advance(1);
  await draw(ONE);
  expect(reads).toHaveLength(2);
});

test("records that have expired are gone at once", async () => {
  const { places, state, draw } = setUp();
  places.set(ONE, [BOSTON, BOSTON]);
  await draw(ONE);
  places.set(ONE, [BOSTON]);
  state.retainedMs += DAY_MS;
  expect(await draw(ONE)).toEqual([1]);
});

test("a caller that leaves does not end the count for the others, but the end of the service does", async () => {
  const { places, reads, draw, hold, stopping } = setUp();
  places.set(ONE, [BOSTON]);
  const release = hold();
  const leaving = new AbortController();
  const left = draw(ONE, BOSTON, 13, leaving.signal).catch(() => "left");
  const stayed = draw(ONE);
  leaving.abort();
  release();
  expect(await stayed).toEqual([1]);
  await left;
  expect([reads.length, reads[0]!.signal.aborted]).toEqual([1, false]);
  stopping.abort();
  expect(reads[0]!.signal.aborted).toBeTrue();
});

test("a count that failed is tried again by the next tile", async () => {
  const { places, state, draw } = setUp();
  places.set(ONE, [BOSTON]);
  state.isBroken = true;
  expect(await draw(ONE)).toBe("device_not_found");
  state.isBroken = false;
  expect(await draw(ONE)).toEqual([1]);
});

test("a seventeenth app has no tracks until another one is idle, and displaces none", async () => {
  const { places, clock, reads, draw, tracks } = setUp();
  const apps = Array.from({ length: 17 }, (_, index) => `app-${index}` as AppId);
  for (const appId of apps) places.set(appId, [BOSTON]);
  for (const appId of apps.slice(0, 16)) expect(await draw(appId)).toEqual([1]);
  expect([await draw(apps[16]!), tracks.version(apps[16]!)]).toEqual([null, "none"]);
  expect(reads).toHaveLength(16);
  clock.advance(61 * MINUTE_MS);
  expect(tracks.version(apps[16]!)).toBe("17");
  expect(await draw(apps[16]!)).toEqual([1]);
});

test("where a fleet has been in very many cells they are larger, down to nothing", async () => {
  const { places, draw } = setUp();
  const wide = Array.from(
    { length: 300_000 },
    (_, index): Place => [(index % 500) / 5 - 50, Math.floor(index / 500) / 2 - 150],
  );
  places.set(ONE, [...wide, BOSTON]);
  expect(await draw(ONE, BOSTON, 4)).not.toBeNull();
  expect(await draw(ONE, BOSTON, 13)).toBeNull();
});

test("all that wait for one count are answered by it", async () => {
  const { places, reads, draw, hold } = setUp();
  places.set(ONE, [BOSTON]);
  const release = hold();
  const drawn = Array.from({ length: 12 }, () => draw(ONE));
  await turns();
  release();
  expect(await Promise.all(drawn)).toEqual(Array.from({ length: 12 }, () => [1]));
  expect(reads).toHaveLength(1);
});
