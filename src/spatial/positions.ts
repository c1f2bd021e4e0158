import { PositionCells } from "./cells.ts";
import type { DevicePositions } from "./center.ts";
import type { DeviceOrder } from "./device-order.ts";
import type { PositionNode } from "./node.ts";
import { PositionColumns } from "./position-columns.ts";

/** What a search looks into: one app's positions. */
export interface Positions {
  readonly cells: PositionCells<PositionNode>;
  readonly byDevice: DevicePositions;
  /** Of those at one distance. */
  readonly deviceOrder: DeviceOrder;
  /** The leaf that a device is in. */
  leafOf(device: number): PositionNode;
  /** Its row in that leaf. */
  rowOf(device: number): number;
}

export const NO_POSITIONS: Positions = {
  cells: new PositionCells(),
  byDevice: new PositionColumns(),
  deviceOrder: { compare: () => 0, isReady: () => false, reader: () => () => null },
  leafOf: (device) => notThere(device),
  rowOf: (device) => notThere(device),
};

function notThere(device: number): never {
  throw new Error(`Device ${device} is nowhere`);
}
