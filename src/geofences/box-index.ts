import RBush from "rbush";
import type { Box } from "../model/geo/box.ts";

/** What an index finds by its boxes. */
export interface Boxed {
  readonly boxes: readonly Box[];
}

/** A box as rbush has it: x is the longitude. */
interface Leaf<Item> {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly item: Item;
}

/** A node of rbush's tree, as `toJSON()` shows it. */
interface Node<Item> {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly leaf: boolean;
  readonly children: readonly (Node<Item> | Leaf<Item>)[];
}

/** More children make a node slower to search, and the tree smaller: 16 take a third less memory than 9. */
const CHILDREN_MAX = 16;

/** Items by the boxes that contain them, in an R-tree. */
export class BoxIndex<Item extends Boxed> {
  readonly #tree = new RBush<Leaf<Item>>(CHILDREN_MAX);

  add(item: Item): void {
    for (const leaf of leavesOf(item)) this.#tree.insert(leaf);
  }

  remove(item: Item): void {
    for (const leaf of leavesOf(item)) this.#tree.remove(leaf, isSame);
  }

  /** Calls `visit` with each item that has a box with the position; twice if two of its boxes do. */
  visit(latitude: number, longitude: number, visit: (item: Item) => void): void {
    visitNode(this.#tree.toJSON() as Node<Item>, longitude, latitude, visit);
  }

  /** The items with a box that meets this one. */
  meeting(box: Box): readonly Item[] {
    const items = this.#tree.search(rectangleOf(box)).map(({ item }) => item);
    return [...new Set(items)];
  }
}

/** Like `RBush.search()`, which makes lists. */
function visitNode<Item>(node: Node<Item>, x: number, y: number, visit: (item: Item) => void): void {
  const { children } = node;
  for (let index = 0; index < children.length; index++) {
    const child = children[index]!;
    if (x < child.minX || x > child.maxX || y < child.minY || y > child.maxY) continue;
    if (node.leaf) visit((child as Leaf<Item>).item);
    else visitNode(child as Node<Item>, x, y, visit);
  }
}

function leavesOf<Item extends Boxed>(item: Item): Leaf<Item>[] {
  return item.boxes.map((box) => ({
    minX: box.minLongitude,
    minY: box.minLatitude,
    maxX: box.maxLongitude,
    maxY: box.maxLatitude,
    item,
  }));
}

function rectangleOf(box: Box) {
  return { minX: box.minLongitude, minY: box.minLatitude, maxX: box.maxLongitude, maxY: box.maxLatitude };
}

function isSame<Item>(one: Leaf<Item>, other: Leaf<Item>): boolean {
  return one.item === other.item && one.minX === other.minX && one.minY === other.minY;
}
