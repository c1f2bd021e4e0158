import { ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { type Steps, sortInSteps } from "../../lib/schedule/steps.ts";
import { CellCounts } from "../../map/cell-counts.ts";
import { cellAt, mercatorX, mercatorY } from "../../map/mercator.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { AppId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Caller } from "./find-device.ts";
import type { CoordinatesReading, ReadCoordinates } from "./read-coordinates.ts";

/*
 * The number of an app's records in each cell of the map. A cell is 1/64 of a tile's side.
 */

/** 2^6 cells per side of a tile. */
export const CELL_BITS = 6;
export const CELLS_MAX = 65_536;

export interface DensityQuery {
  readonly range: TimeRange;
  readonly box: BoundingBox | null;
  readonly zoom: number;
}

/** Cells by row, then column, counted from the north-west. */
export interface Density {
  /** The requested zoom, or the greatest at which there are few enough cells. */
  readonly zoom: number;
  readonly column: Float64Array;
  readonly row: Float64Array;
  readonly count: Float64Array;
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

export type FindDensity = (
  appId: AppId,
  query: DensityQuery,
  caller: Caller,
) => Promise<Result<Density, ServiceError>>;

export interface DensityDependencies {
  readonly readCoordinates: ReadCoordinates;
  readonly scheduler: Scheduler;
}

export function createFindDensity({ readCoordinates, scheduler }: DensityDependencies): FindDensity {
  return async function findDensity(appId, { range, box, zoom }, caller) {
    const counted = await readCoordinates(appId, { range, box }, caller, () => countAll(zoom + CELL_BITS));
    if (!counted.ok) return counted;
    const { value: cells, isIncomplete } = counted.value;
    const inOrder = await scheduler.runAtOnce(appId, caller.signal, columnsOf(cells));
    return ok({ ...inOrder, zoom: cells.bits - CELL_BITS, isIncomplete });
  };
}

function countAll(bits: number): CoordinatesReading<CellCounts> {
  const cells = new CellCounts(bits, CELLS_MAX);
  return {
    value: cells,
    add: (latitude, longitude) =>
      cells.add(cellAt(mercatorX(longitude), bits), cellAt(mercatorY(latitude), bits)),
    catchUp: () => cells.fit(),
  };
}

function* columnsOf(cells: CellCounts): Steps<Pick<Density, "column" | "row" | "count">> {
  const numbers = Array.from({ length: cells.size }, (_, cell) => cell);
  const order = yield* sortInSteps(
    numbers,
    (a, b) => cells.rowOf(a) - cells.rowOf(b) || cells.columnOf(a) - cells.columnOf(b),
  );
  return {
    column: Float64Array.from(order, (cell) => cells.columnOf(cell)),
    row: Float64Array.from(order, (cell) => cells.rowOf(cell)),
    count: Float64Array.from(order, (cell) => cells.countOf(cell)),
  };
}
