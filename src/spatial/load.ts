import type { Steps } from "../lib/schedule/steps.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import { CELL_BITS_MAX, geohashCell } from "../model/geo/geohash.ts";
import type { PositionCells } from "./cells.ts";
import { CellOrder, TimeOrder } from "./load-orders.ts";
import { LEAF_POSITIONS_MAX, NO_ACCURACY, type PositionNode } from "./node.ts";
import type { RowAddresses, RowPool } from "./row-pool.ts";

/** Devices read or placed per step, in some milliseconds. */
const STEP_DEVICES = 16_384;

/** All positions to load, in columns by device number. */
export interface LoadedPositions {
  /** Numbers of the devices, ascending; only the first `count` are valid. */
  readonly devices: Uint32Array;
  readonly count: number;
  /** In degrees. The index takes ownership of both columns. */
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly timesMs: Float64Array;
  /** In meters; NaN for a position without an accuracy. */
  readonly accuracies: Float64Array;
}

/** The empty index to fill. */
export interface LoadTarget {
  readonly cells: PositionCells<PositionNode>;
  readonly addresses: RowAddresses;
  readonly pool: RowPool;
  /** The coarse cell that contains a finest cell. */
  bucketFor(cell: number): PositionNode;
}

/** A node and the sorted devices, from `start` to before `end`, that belong to it. */
interface Part {
  readonly node: PositionNode;
  readonly start: number;
  readonly end: number;
}

/**
 * Fills an index with all devices at a start. A leaf is filled only when its size is known to be final, in order of
 * time. Positions added one by one would be moved with each split, and within their leaf.
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

/** Devices by cell, then by number, as cells below the finest need them. */
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

/** Divides a node with too many positions for a leaf into finer cells. */
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
  { addresses, pool }: LoadTarget,
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
      addresses,
      pool,
    );
  }
}
