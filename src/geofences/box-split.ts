/** Children that a node of an R-tree has at most. Fewer make more nodes. */
export const CHILDREN_MAX = 16;

/** Children of a half at least. With 6, items that come in the order of their places leave a fifth more nodes. */
const HALF_MIN = 7;

/** West, south, east and north of the boxes that are divided. */
export const dividedBoxes = new Float64Array(4 * (CHILDREN_MAX + 1));

/** Positions in `dividedBoxes`, from west to east or from south to north. */
const order = new Uint8Array(CHILDREN_MAX + 1);
const bestOrder = new Uint8Array(CHILDREN_MAX + 1);

export interface Split {
  /** Positions in `dividedBoxes`. The array is used again by the next division. */
  readonly order: Uint8Array;
  /** How many of the order are the first half. */
  readonly firstCount: number;
}

/**
 * Divides `dividedBoxes`, those of a full node and one more, into halves that overlap least; of these, into those with
 * the shortest sides.
 */
export function splitBoxes(): Split {
  let [leastOverlap, leastLength, firstCount] = [Infinity, Infinity, 0];
  for (const axis of [0, 1]) {
    sortByCenter(axis);
    for (let count = HALF_MIN; count <= order.length - HALF_MIN; count++) {
      coverBoxes(first, 0, count);
      coverBoxes(second, count, order.length);
      const overlap = overlapOf(first, second);
      const length = lengthOf(first) + lengthOf(second);
      if (overlap > leastOverlap || (overlap === leastOverlap && length >= leastLength)) continue;
      [leastOverlap, leastLength, firstCount] = [overlap, length, count];
      bestOrder.set(order);
    }
  }
  return { order: bestOrder, firstCount };
}

/** An insertion sort: there are few. */
function sortByCenter(axis: number): void {
  for (let index = 0; index < order.length; index++) {
    const center = centerOf(index, axis);
    let at = index;
    for (; at > 0 && centerOf(order[at - 1]!, axis) > center; at--) order[at] = order[at - 1]!;
    order[at] = index;
  }
}

/** Twice the center. */
function centerOf(box: number, axis: number): number {
  return dividedBoxes[4 * box + axis]! + dividedBoxes[4 * box + axis + 2]!;
}

/* The boxes around both halves. */
const first = new Float64Array(4);
const second = new Float64Array(4);

function coverBoxes(cover: Float64Array, from: number, to: number): void {
  cover[0] = cover[1] = Infinity;
  cover[2] = cover[3] = -Infinity;
  for (let index = from; index < to; index++) {
    const at = 4 * order[index]!;
    cover[0] = Math.min(cover[0]!, dividedBoxes[at]!);
    cover[1] = Math.min(cover[1]!, dividedBoxes[at + 1]!);
    cover[2] = Math.max(cover[2]!, dividedBoxes[at + 2]!);
    cover[3] = Math.max(cover[3]!, dividedBoxes[at + 3]!);
  }
}

function overlapOf(one: Float64Array, other: Float64Array): number {
  const width = Math.min(one[2]!, other[2]!) - Math.max(one[0]!, other[0]!);
  const height = Math.min(one[3]!, other[3]!) - Math.max(one[1]!, other[1]!);
  return Math.max(0, width) * Math.max(0, height);
}

function lengthOf(box: Float64Array): number {
  return box[2]! - box[0]! + box[3]! - box[1]!;
}
