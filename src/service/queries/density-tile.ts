import { ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { EXTENT, LayerWriter } from "../../map/layer-writer.ts";
import { cellAt, mercatorX, mercatorY } from "../../map/mercator.ts";
import type { Tile } from "../../map/tile.ts";
import type { ServiceError } from "../../model/errors.ts";
import { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { TileBytes } from "./current-tile.ts";
import { CELL_BITS } from "./density.ts";
import type { Caller } from "./find-device.ts";
import type { CoordinatesReading, ReadCoordinates } from "./read-coordinates.ts";

/*
 * The number of an app's records in each cell of a tile: 64 by 64 squares, aligned with those of neighbouring tiles.
 */

export type DrawDensity = (
  appId: AppId,
  tile: Tile,
  range: TimeRange,
  caller: Caller,
) => Promise<Result<TileBytes, ServiceError>>;

const CELLS = 2 ** CELL_BITS;
const CELL_UNITS = EXTENT / CELLS;
/** A step draws a row of squares. */
const STEP_CELLS = CELLS;

export interface DensityTileDependencies {
  readonly readCoordinates: ReadCoordinates;
  readonly scheduler: Scheduler;
}

export function createDrawDensity({ readCoordinates, scheduler }: DensityTileDependencies): DrawDensity {
  return async function drawDensity(appId, tile, range, caller) {
    const counted = await readCoordinates(appId, { range, box: boxAround(tile) }, caller, () =>
      countIn(tile),
    );
    if (!counted.ok) return counted;
    const drawn = await scheduler.runAtOnce(appId, caller.signal, draw(counted.value.value));
    return ok(drawn);
  };
}

/** Slightly larger than the tile; the exact test is the cell of a position. */
function boxAround(tile: Tile): BoundingBox {
  const { minLongitude, minLatitude, maxLongitude, maxLatitude } = tile.boxes()[0]!;
  return new BoundingBox(minLongitude, minLatitude, maxLongitude, maxLatitude);
}

/** By row, then column. */
function countIn({ x, y, z }: Tile): CoordinatesReading<Float64Array> {
  const counts = new Float64Array(CELLS * CELLS);
  const bits = z + CELL_BITS;
  return {
    value: counts,
    add(latitude, longitude) {
      const column = cellAt(mercatorX(longitude), bits) - x * CELLS;
      const row = cellAt(mercatorY(latitude), bits) - y * CELLS;
      if (column >= 0 && column < CELLS && row >= 0 && row < CELLS) counts[row * CELLS + column]!++;
    },
    *catchUp() {},
  };
}

function* draw(counts: Float64Array): Steps<TileBytes> {
  if (counts.every((count) => count === 0)) return null;
  const layer = new LayerWriter("density", [{ name: "count", type: "count" }]);
  for (const [cell, count] of counts.entries()) {
    if (cell % STEP_CELLS === STEP_CELLS - 1) yield;
    if (count === 0) continue;
    const column = cell % CELLS;
    const row = Math.floor(cell / CELLS);
    layer.addSquare(column * CELL_UNITS, row * CELL_UNITS, CELL_UNITS, [count]);
  }
  return layer.finish();
}
