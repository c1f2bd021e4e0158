import type { Steps } from "../lib/schedule/steps.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import { CELL_BITS_MAX, geohashCell } from "../model/geo/geohash.ts";
import type { PositionCells } from "./cells.ts";
import { CellOrder, TimeOrder } from "./load-orders.ts";
import { LEAF_POSITIONS_MAX, NO_ACCURACY, type PositionNode } from "./node.ts";
import type { DevicePlaces, RowPool } from "./row-pool.ts";

/** Fills an index with all devices at once, as a start does. */

/** Devices that are looked at in a step, or put in place: some milliseconds. */
const STEP_DEVICES = 16_384;

/** What there is to load, in columns by device number. */
export interface LoadedPositions {
  /** Numbers of the devices, rising; only the first `count`. */
  readonly devices: Uint32Array;
  readonly count: number;
  /** In degrees; the index goes on with these columns. */
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  /** Milliseconds. */
  readonly timesMs: Float64Array;
  /** In meters; NaN where a position has none. */
  readonly accuracies: Float64Array;
}

/** The index that is filled, which has none yet. */
export interface LoadTarget {
  readonly cells: PositionCells<PositionNode>;
  readonly places: DevicePlaces;
  readonly pool: RowPool;
  /** The coarse cell that a finest cell is in. */
  bucketFor(cell: number): PositionNode;
}

/** A node and whose of the devices in order it is to hold. */
interface Part {
  readonly node: PositionNode;
  readonly start: number;
  readonly end: number;
}

/**
 * Leaves are filled once they are known to hold no more than they may, in order of time. Positions that come one by
 * one are moved with each split, and between others of their leaf.
 */
export function* loadPositions(loaded: LoadedPositions, target: LoadTarget): Steps<void> {
  const order = yield* orderByCell(loaded);
  const byTime = new TimeOrder(loaded.timesMs, LEAF_POSITIONS_MAX);
  let sinceYield = 0;
  for (let start = 0; start < order.count; ) {
    const node = target.bucketFor(order.cellAt(start));
    let end = start;
    while (end < order.count && node.holds(order.cellAt(end))) end++;
    const parts: Part[] = [{ node, start, end }];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      part.node.count = part.end - part.start;
      if (part.node.isOverfull) parts.push(...divide(part, order, target));
      else {
        fillLeaf(part, order, byTime, loaded, target);
        sinceYield += part.node.count;
      }
      if (sinceYield < STEP_DEVICES) continue;
      sinceYield = 0;
      yield;
    }
    start = end;
  }
}

/** Those of one cell by number, as cells below the finest want them. */
function* orderByCell({ devices, count, latitude, longitude }: LoadedPositions): Steps<CellOrder> {
  const order = new CellOrder(count);
  for (let at = 0; at < count; at++) {
    const device = devices[at]!;
    order.add(device, geohashCell(latitude[device]!, longitude[device]!, CELL_BITS_MAX));
    if (at % STEP_DEVICES === 0) yield;
  }
  yield* order.sort();
  return order;
}

/** Makes the finer cells of a node that holds too many for a leaf. */
function divide({ node, start, end }: Part, order: CellOrder, { cells, pool }: LoadTarget): Part[] {
  const parts: Part[] = [];
  for (let from = start; from < end; ) {
    const cell = order.cellAt(from);
    const device = order.devices[from]!;
    const index = node.childIndex(cell, device);
    let to = from + 1;
    while (to < end && node.childIndex(order.cellAt(to), order.devices[to]!) === index) to++;
    parts.push({ node: node.childFor(cell, device, cells, pool), start: from, end: to });
    from = to;
  }
  node.release(pool);
  return parts;
}

function fillLeaf(
  { node, start, end }: Part,
  order: CellOrder,
  byTime: TimeOrder,
  { latitude, longitude, timesMs, accuracies }: LoadedPositions,
  { places, pool }: LoadTarget,
): void {
  node.reserve(end - start, pool);
  const devices = byTime.of(order.devices, start, end);
  for (let at = 0; at < end - start; at++) {
    const device = devices[at]!;
    const lat = latitude[device]! * RADIANS_PER_DEGREE;
    const lon = longitude[device]! * RADIANS_PER_DEGREE;
    const cosLat = Math.cos(lat);
    const accuracy = accuracies[device]!;
    node.insertRow(
      timesMs[device]!,
      Number.isNaN(accuracy) ? NO_ACCURACY : accuracy,
      cosLat * Math.cos(lon),
      cosLat * Math.sin(lon),
      Math.sin(lat),
      device,
      places,
      pool,
    );
  }
}
