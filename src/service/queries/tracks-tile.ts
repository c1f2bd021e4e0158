import type { HotStore } from "../../hot/hot-store.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { EXTENT, LayerWriter } from "../../map/layer-writer.ts";
import { cellAt, mercatorX, mercatorY } from "../../map/mercator.ts";
import type { Tile } from "../../map/tile.ts";
import { TrackCounts } from "../../map/track-counts.ts";
import { TrackGrid } from "../../map/track-grid.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Retention } from "../../model/time/retention.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { TileBytes } from "./current-tile.ts";
import type { Caller } from "./find-device.ts";
import type { CoordinatesReading, ReadCoordinates } from "./read-coordinates.ts";

/*
 * Where an app's devices have been in the last 90 days, as the ground of a map. To count all records for each tile
 * would take the archive's time a dozen times for each view, so all of them are counted at once, and the counts are
 * used for some minutes.
 */

export interface Tracks {
  /** Changes whenever a tile may. */
  version(appId: AppId): string;
  draw(appId: AppId, tile: Tile, caller: Caller): Promise<Result<TileBytes, ServiceError>>;
}

export interface TracksDependencies {
  readonly hot: Pick<HotStore, "corrections">;
  readonly readCoordinates: ReadCoordinates;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  readonly retention: Retention;
  /** Counting goes on if the caller leaves, since others may wait for it, but not when the service stops. */
  readonly stopping: AbortSignal;
}

const TRACK_DAYS = 90;

/** 2^8 cells to a tile's side: 2 pixels of a tile of 512. */
const TILE_BITS = 8;
/** Cells of a tile of zoom 13: 19 m at the equator, 11 m in northern Europe, less than the error of a position. */
const GRID_BITS = 13 + TILE_BITS;
/** Coarser cells say nothing about streets. */
const TILE_BITS_MIN = 4;

/** 3 MB. Where a fleet has been in more cells, they are larger. */
const CELLS_MAX = 262_144;
/** With 16 apps, 50 MB. A further app has no tracks until the counts of another one were not used for an hour. */
const GRIDS_MAX = 16;
const IDLE_MS_MAX = 3_600_000;

/** Counts are used for this long, or for a hundred times as long as the counting took, if that is more. */
const REST_MS_MIN = 10 * 60_000;
const REST_FACTOR = 100;

interface RememberedGrid {
  readonly grid: TrackGrid;
  /** The number of the count, of all apps. */
  readonly number: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** The start of the retention. After that records may have expired. */
  readonly retainedMs: number;
  /** The number of corrections that it takes into account. */
  readonly corrections: number;
  usedMs: number;
}

export function createTracks(dependencies: TracksDependencies): Tracks {
  const { hot, scheduler, clock, retention } = dependencies;
  const grids = new Map<AppId, RememberedGrid>();
  const counting = new Map<AppId, Promise<Result<TrackGrid, ServiceError>>>();
  let counts = 0;

  function findValid(appId: AppId): RememberedGrid | null {
    const known = grids.get(appId);
    const nowMs = clock.nowMs();
    if (known === undefined || nowMs < known.fromMs || nowMs >= known.untilMs) return null;
    if (known.corrections !== correctionsOf(appId)) return null;
    return known.retainedMs === retention.startMs(nowMs) ? known : null;
  }

  function correctionsOf(appId: AppId): number {
    return hot.corrections.find(appId)?.number ?? 0;
  }

  function hasRoom(appId: AppId): boolean {
    const nowMs = clock.nowMs();
    for (const [other, { usedMs }] of grids)
      if (other !== appId && nowMs - usedMs > IDLE_MS_MAX) grids.delete(other);
    const others = new Set([...grids.keys(), ...counting.keys()]);
    others.delete(appId);
    return others.size < GRIDS_MAX;
  }

  async function count(appId: AppId): Promise<Result<TrackGrid, ServiceError>> {
    const fromMs = clock.nowMs();
    const retainedMs = retention.startMs(fromMs);
    const corrections = correctionsOf(appId);
    const result = await countAll(dependencies, appId, fromMs);
    if (!result.ok) return result;
    const nowMs = clock.nowMs();
    const restMs = Math.max(REST_MS_MIN, REST_FACTOR * (nowMs - fromMs));
    const grid = result.value;
    const times = { fromMs, untilMs: nowMs + restMs, usedMs: nowMs };
    grids.set(appId, { grid, number: ++counts, retainedMs, corrections, ...times });
    return result;
  }

  function find(appId: AppId): Result<TrackGrid, ServiceError> | Promise<Result<TrackGrid, ServiceError>> {
    const known = findValid(appId);
    if (known !== null) {
      known.usedMs = clock.nowMs();
      return ok(known.grid);
    }
    let running = counting.get(appId);
    if (running === undefined) {
      running = count(appId).finally(() => counting.delete(appId));
      counting.set(appId, running);
    }
    return running;
  }

  return {
    version(appId) {
      // The next count has a number that no answer of this app has had.
      return String(findValid(appId)?.number ?? (hasRoom(appId) ? counts + 1 : "none"));
    },
    async draw(appId, tile, { signal }) {
      if (findValid(appId) === null && !hasRoom(appId)) return ok(null);
      const result = await find(appId);
      if (!result.ok) return result;
      return ok(await scheduler.runAtOnce(appId, signal, drawTile(result.value, tile)));
    },
  };
}

async function countAll(
  { readCoordinates, scheduler, stopping }: TracksDependencies,
  appId: AppId,
  nowMs: number,
): Promise<Result<TrackGrid, ServiceError>> {
  const range = { startMs: nowMs - TRACK_DAYS * MS_PER_DAY, endMs: nowMs };
  const counted = await readCoordinates(appId, { range, box: null }, { signal: stopping }, countCells);
  if (!counted.ok) return counted;
  return ok(await scheduler.runAtOnce(appId, stopping, TrackGrid.of(counted.value.value)));
}

function countCells(): CoordinatesReading<TrackCounts> {
  const cells = new TrackCounts(GRID_BITS, CELLS_MAX);
  return {
    value: cells,
    add: (latitude, longitude) =>
      cells.add(cellAt(mercatorX(longitude), GRID_BITS), cellAt(mercatorY(latitude), GRID_BITS)),
    catchUp: () => cells.fit(),
  };
}

/** A step draws a row of cells. */
function* drawTile(grid: TrackGrid, tile: Tile): Steps<TileBytes> {
  const inTile = yield* grid.countsIn(tile, TILE_BITS);
  if (inTile === null || inTile.bits < TILE_BITS_MIN) return null;
  const { bits, counts } = inTile;
  const cellUnits = EXTENT / 2 ** bits;
  const layer = new LayerWriter("tracks", [{ name: "count", type: "count" }]);
  let isEmpty = true;
  for (const [cell, count] of counts.entries()) {
    if (cell % 2 ** bits === 0) yield;
    if (count === 0) continue;
    isEmpty = false;
    const column = cell % 2 ** bits;
    const row = cell >> bits;
    layer.addPoint((column + 0.5) * cellUnits, (row + 0.5) * cellUnits, [count]);
  }
  return isEmpty ? null : layer.finish();
}
