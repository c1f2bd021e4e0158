import type { Box } from "../model/geo/box.ts";
import { CELL_BITS_MAX, geohashBox } from "../model/geo/geohash.ts";
import { NO_DEVICE } from "./leaf-rows.ts";
import type { PositionNode } from "./node.ts";

/** Boxes are widened by this much: rounding may put a point near an edge into the cell on its other side. */
const MARGIN_DEGREES = 1e-9; // 0.1 mm.

/** The box with a margin, so that no cell with a position in the box is missed. */
export function widened({ minLatitude, maxLatitude, minLongitude, maxLongitude }: Box): Box {
  return {
    minLatitude: minLatitude - MARGIN_DEGREES,
    maxLatitude: maxLatitude + MARGIN_DEGREES,
    minLongitude: minLongitude - MARGIN_DEGREES,
    maxLongitude: maxLongitude + MARGIN_DEGREES,
  };
}

/** The devices in cells that touch a box, each once, in no order; null if there are more than `devicesMax`. */
export function devicesTouching(
  nodes: Iterable<PositionNode>,
  boxes: readonly Box[],
  devicesMax: number,
): Uint32Array | null {
  const leaves: PositionNode[] = [];
  for (const node of nodes) addLeaves(node, boxes, leaves);
  const count = leaves.reduce((sum, leaf) => sum + leaf.count, 0);
  if (count > devicesMax) return null;
  const devices = new Uint32Array(count);
  let next = 0;
  for (const leaf of leaves) {
    for (let row = 0; row < leaf.rowCount; row++) {
      const device = leaf.deviceAt(row);
      if (device !== NO_DEVICE) devices[next++] = device;
    }
  }
  return devices;
}

function addLeaves(node: PositionNode, boxes: readonly Box[], leaves: PositionNode[]): void {
  if (node.count === 0) return;
  if (node.bits <= CELL_BITS_MAX && !boxes.some((box) => touches(node, box))) return;
  if (node.firstChild === null) leaves.push(node);
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    addLeaves(child, boxes, leaves);
}

function touches({ firstCell, bits }: PositionNode, box: Box): boolean {
  const cell = geohashBox(firstCell / 2 ** (CELL_BITS_MAX - bits), bits);
  return (
    cell.minLatitude <= box.maxLatitude &&
    cell.maxLatitude >= box.minLatitude &&
    cell.minLongitude <= box.maxLongitude &&
    cell.maxLongitude >= box.minLongitude
  );
}
