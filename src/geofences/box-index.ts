import { assert } from "../lib/assert.ts";
import type { Box } from "../model/geo/box.ts";
import { CHILDREN_MAX, dividedBoxes, splitBoxes } from "./box-split.ts";

/** Doubling would leave more room unused, and to copy 100,000 boxes takes a few milliseconds. */
const GROWTH = 1.25;

/** What an index finds by its boxes. */
export interface Boxed {
  /** None of them contains another. */
  readonly boxes: readonly Box[];
}

/**
 * Items by the boxes that contain them, in an R-tree. Node `n` has the slots from `n * CHILDREN_MAX` on; a slot has a
 * box and the number of what is below it: of an item at level 0, of a node at the others. With rbush, each item and
 * node was an object, changes left garbage, and a search took up to twice as long.
 */
export class BoxIndex<Item extends Boxed> {
  /** West, south, east and north of each slot. */
  #boxes = new Float64Array(4 * CHILDREN_MAX);
  #children = new Uint32Array(CHILDREN_MAX);
  /** Slots in use, by node. */
  #counts = new Uint8Array(1);
  #root = 0;
  /** The level of the root. */
  #height = 0;
  #nodes = 1;
  readonly #freeNodes: number[] = [];
  /** By number: an item has one for each of its boxes. */
  readonly #items: (Item | null)[] = [];
  readonly #freeNumbers: number[] = [];

  add(item: Item): void {
    for (const box of item.boxes) {
      const number = this.#freeNumbers.pop() ?? this.#items.length;
      this.#items[number] = item;
      takeSides(box);
      this.#insert(number);
    }
  }

  remove(item: Item): void {
    for (const box of item.boxes) {
      takeSides(box);
      assert(this.#removeBelow(this.#root, this.#height, item), "what is removed is in the index");
      while (this.#height > 0 && this.#counts[this.#root]! === 1) {
        this.#freeNodes.push(this.#root);
        this.#root = this.#children[CHILDREN_MAX * this.#root]!;
        this.#height--;
      }
    }
  }

  /** Calls `visit` with each item that has a box with the position; twice if two of its boxes do. */
  visit(latitude: number, longitude: number, visit: (item: Item) => void): void {
    this.#visitBelow(this.#root, this.#height, longitude, latitude, longitude, latitude, visit);
  }

  /** The items with a box that meets this one. */
  meeting({ minLongitude, minLatitude, maxLongitude, maxLatitude }: Box): readonly Item[] {
    const items = new Set<Item>();
    const add = (item: Item) => items.add(item);
    this.#visitBelow(this.#root, this.#height, minLongitude, minLatitude, maxLongitude, maxLatitude, add);
    return [...items];
  }

  #visitBelow(
    node: number,
    level: number,
    west: number,
    south: number,
    east: number,
    north: number,
    visit: (item: Item) => void,
  ): void {
    const boxes = this.#boxes;
    const from = CHILDREN_MAX * node;
    const to = from + this.#counts[node]!;
    for (let slot = from; slot < to; slot++) {
      const at = 4 * slot;
      if (east < boxes[at]! || west > boxes[at + 2]! || north < boxes[at + 1]! || south > boxes[at + 3]!)
        continue;
      const child = this.#children[slot]!;
      if (level === 0) visit(this.#items[child]!);
      else this.#visitBelow(child, level - 1, west, south, east, north, visit);
    }
  }

  /** Adds an item's number with the box in `sides`. */
  #insert(number: number): void {
    const path: number[] = [];
    let node = this.#root;
    for (let level = this.#height; level > 0; level--) {
      const slot = this.#nearestSlot(node);
      this.#widen(slot);
      path.push(slot);
      node = this.#children[slot]!;
    }
    let child = number;
    while (this.#counts[node]! === CHILDREN_MAX) {
      const sibling = this.#divide(node, child);
      if (node === this.#root) path.push(this.#raiseRoot());
      const slot = path.pop()!;
      this.#cover(node);
      this.#boxes.set(sides, 4 * slot);
      this.#cover(sibling);
      child = sibling;
      node = Math.floor(slot / CHILDREN_MAX);
    }
    this.#append(node, child);
  }

  /** Puts a node above the root. Returns the slot of the former root. */
  #raiseRoot(): number {
    const root = this.#createNode();
    this.#append(root, this.#root);
    this.#root = root;
    this.#height++;
    return CHILDREN_MAX * root;
  }

  /** The slot of a node whose box grows least by the one in `sides`; of these, the one with the smallest box. */
  #nearestSlot(node: number): number {
    const boxes = this.#boxes;
    const [west, south, east, north] = [sides[0]!, sides[1]!, sides[2]!, sides[3]!];
    const from = CHILDREN_MAX * node;
    const to = from + this.#counts[node]!;
    let [nearest, leastGrowth, leastArea] = [from, Infinity, Infinity];
    for (let slot = from; slot < to; slot++) {
      const at = 4 * slot;
      const area = (boxes[at + 2]! - boxes[at]!) * (boxes[at + 3]! - boxes[at + 1]!);
      const width = Math.max(east, boxes[at + 2]!) - Math.min(west, boxes[at]!);
      const height = Math.max(north, boxes[at + 3]!) - Math.min(south, boxes[at + 1]!);
      const growth = width * height - area;
      if (growth > leastGrowth || (growth === leastGrowth && area >= leastArea)) continue;
      [nearest, leastGrowth, leastArea] = [slot, growth, area];
    }
    return nearest;
  }

  /** Divides the children of a full node and one more, with the box in `sides`, between it and a new node. */
  #divide(node: number, child: number): number {
    const from = CHILDREN_MAX * node;
    dividedBoxes.set(this.#boxes.subarray(4 * from, 4 * (from + CHILDREN_MAX)));
    dividedBoxes.set(sides, 4 * CHILDREN_MAX);
    const children = [...this.#children.subarray(from, from + CHILDREN_MAX), child];
    const sibling = this.#createNode();
    const { order, firstCount } = splitBoxes();
    this.#counts[node] = 0;
    for (const [index, position] of order.entries()) {
      sides.set(dividedBoxes.subarray(4 * position, 4 * position + 4));
      this.#append(index < firstCount ? node : sibling, children[position]!);
    }
    return sibling;
  }

  /** The number of an empty node. */
  #createNode(): number {
    const node = this.#freeNodes.pop() ?? this.#nodes++;
    if (node === this.#counts.length) {
      const nodes = Math.ceil(GROWTH * this.#nodes);
      this.#counts = copyInto(new Uint8Array(nodes), this.#counts);
      this.#boxes = copyInto(new Float64Array(4 * CHILDREN_MAX * nodes), this.#boxes);
      this.#children = copyInto(new Uint32Array(CHILDREN_MAX * nodes), this.#children);
    }
    this.#counts[node] = 0;
    return node;
  }

  /** Adds a child with the box in `sides` to a node with room. */
  #append(node: number, child: number): void {
    const slot = CHILDREN_MAX * node + this.#counts[node]!++;
    this.#boxes.set(sides, 4 * slot);
    this.#children[slot] = child;
  }

  /** Widens the box of a slot by the one in `sides`. */
  #widen(slot: number): void {
    const at = 4 * slot;
    this.#boxes[at] = Math.min(this.#boxes[at]!, sides[0]!);
    this.#boxes[at + 1] = Math.min(this.#boxes[at + 1]!, sides[1]!);
    this.#boxes[at + 2] = Math.max(this.#boxes[at + 2]!, sides[2]!);
    this.#boxes[at + 3] = Math.max(this.#boxes[at + 3]!, sides[3]!);
  }

  /** Writes the box around all children of a node to `sides`. */
  #cover(node: number): void {
    const boxes = this.#boxes;
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
    const from = 4 * CHILDREN_MAX * node;
    for (let at = from; at < from + 4 * this.#counts[node]!; at += 4) {
      west = Math.min(west, boxes[at]!);
      south = Math.min(south, boxes[at + 1]!);
      east = Math.max(east, boxes[at + 2]!);
      north = Math.max(north, boxes[at + 3]!);
    }
    setSides(west, south, east, north);
  }

  /** Removes a number of the item with the box in `sides`. Returns whether it was below the node. */
  #removeBelow(node: number, level: number, item: Item): boolean {
    const from = CHILDREN_MAX * node;
    for (let slot = from; slot < from + this.#counts[node]!; slot++) {
      if (!this.#containsSides(slot)) continue;
      const child = this.#children[slot]!;
      if (level > 0) {
        if (!this.#removeBelow(child, level - 1, item)) continue;
        this.#cover(child);
        this.#boxes.set(sides, 4 * slot);
        if (this.#counts[child]! > 0) return true;
        this.#freeNodes.push(child);
      } else {
        if (this.#items[child] !== item) continue;
        this.#items[child] = null;
        this.#freeNumbers.push(child);
      }
      this.#dropSlot(node, slot);
      return true;
    }
    return false;
  }

  #containsSides(slot: number): boolean {
    const boxes = this.#boxes;
    const at = 4 * slot;
    return (
      boxes[at]! <= sides[0]! &&
      boxes[at + 1]! <= sides[1]! &&
      boxes[at + 2]! >= sides[2]! &&
      boxes[at + 3]! >= sides[3]!
    );
  }

  /** The last slot of the node takes its place. */
  #dropSlot(node: number, slot: number): void {
    const last = CHILDREN_MAX * node + --this.#counts[node]!;
    this.#boxes.copyWithin(4 * slot, 4 * last, 4 * last + 4);
    this.#children[slot] = this.#children[last]!;
  }
}

/** West, south, east and north of the box that is added, removed or covered: one at a time. */
const sides = new Float64Array(4);

function setSides(west: number, south: number, east: number, north: number): void {
  sides[0] = west;
  sides[1] = south;
  sides[2] = east;
  sides[3] = north;
}

function takeSides({ minLongitude, minLatitude, maxLongitude, maxLatitude }: Box): void {
  setSides(minLongitude, minLatitude, maxLongitude, maxLatitude);
}

function copyInto<Column extends Uint8Array | Uint32Array | Float64Array>(
  longer: Column,
  column: Column,
): Column {
  longer.set(column);
  return longer;
}
