import type { DevicePositions } from "./center.ts";
import { type Circle, NOWHERE } from "./circle.ts";
import type { PositionNode } from "./node.ts";
import { NO_POSITIONS } from "./positions.ts";
import type { PositionRing } from "./ring.ts";
import { POINT, ROW_BITS, ROW_MASK } from "./row-pool.ts";

/** The most rows that are collected to be sorted. */
export const SORTED_ROWS_MAX = 16_384;

/** The leaves with rows between two circles, and the collecting of those rows. */
export class RingLeaves {
  /** The first `count` are valid. A node with children in this list is a crowd. */
  readonly nodes: PositionNode[] = [];
  count = 0;
  /** Rows within this squared chord are collected; `reach` is its root. */
  edge = 0;
  reach = 0;
  /** Whether all matches are within the edge. */
  holdAll = false;
  /** Rows within this squared chord are skipped. */
  start = 0;
  readonly #circle: Circle;
  readonly #ring: PositionRing;
  #positions = NO_POSITIONS.byDevice;

  constructor(circle: Circle, ring: PositionRing) {
    this.#circle = circle;
    this.#ring = ring;
  }

  /** Starts an empty list for the rows between two squared chords. */
  begin(positions: DevicePositions, start: number, edge: number): void {
    this.#positions = positions;
    this.count = 0;
    this.start = start;
    this.holdAll = edge >= this.#circle.innerEdge;
    this.edge = this.holdAll ? this.#circle.outerEdge : edge;
    this.reach = edge >= 0 ? Math.sqrt(this.edge) : NOWHERE;
    this.#ring.count = 0;
  }

  add(leaf: PositionNode): void {
    this.nodes[this.count++] = leaf;
  }

  /** Adds the leaves below a node that may have such rows, and nodes that are crowds. */
  list(node: PositionNode): void {
    const square = this.#circle.squareTo(node);
    const farthest = this.reach + node.radius;
    if (square > farthest * farthest) return;
    const within = this.start > 0 ? Math.sqrt(this.start) - node.radius : NOWHERE;
    if (within >= 0 && square <= within * within) return;
    let child = node.firstChild;
    if (child === null || this.#isCrowd(node)) this.add(node);
    else for (; child !== null; child = child.nextSibling) this.list(child);
  }

  /** Whether the node has more matches at one point than can be sorted. */
  #isCrowd(node: PositionNode): boolean {
    if (node.count <= SORTED_ROWS_MAX || !node.isOnePoint(this.#positions)) return false;
    return this.#circle.countFresh(node) > SORTED_ROWS_MAX;
  }

  /** Whether the leaves have more than `rowsMax` rows that are not too old. */
  isCrowded(rowsMax: number): boolean {
    const { nodes, count } = this;
    let rows = 0;
    for (let index = 0; index < count; index++) rows += nodes[index]!.count;
    if (rows <= rowsMax) return false;
    rows = 0;
    for (let index = 0; index < count && rows <= rowsMax; index++) {
      const node = nodes[index]!;
      const isLeaf = node.firstChild === null;
      rows += isLeaf ? node.rowCount - this.#circle.firstFresh(node) : this.#circle.countFresh(node);
    }
    return rows > rowsMax;
  }

  /** Puts the matches among the rows into the ring, sorted. */
  collect(): void {
    for (let leaf = 0; leaf < this.count; leaf++) this.#collectRows(leaf);
    if (this.holdAll || this.start > 0 || this.#circle.isBounded) this.#sift();
    this.#ring.sort(Math.max(0, this.start), this.edge);
  }

  /** Collects all rows up to the edge, matches or not. */
  #collectRows(leafNumber: number): void {
    const leaf = this.nodes[leafNumber]!;
    const { x, y, z } = this.#circle;
    const { edge } = this;
    const { points, start, rowCount } = leaf;
    const ring = this.#ring;
    const first = this.#circle.firstFresh(leaf);
    ring.reserve(rowCount - first);
    const { chords, rows } = ring;
    const row0 = leafNumber << ROW_BITS;
    let entries = ring.count;
    for (let row = first; row < rowCount; row++) {
      const at = (start + row) * POINT.width;
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      const chord = dx * dx + dy * dy + dz * dz;
      // Written in any case, and overwritten if the row is too far.
      chords[entries] = chord;
      rows[entries] = row0 + row;
      entries += Number(chord <= edge);
    }
    ring.count = entries;
  }

  /** Keeps only entries that match and are not too near. */
  #sift(): void {
    const { chords, rows, count } = this.#ring;
    const { start } = this;
    const { innerEdge, isBounded } = this.#circle;
    let next = 0;
    for (let entry = 0; entry < count; entry++) {
      const chord = chords[entry]!;
      const row = rows[entry]!;
      if (chord <= start) continue;
      if (isBounded || chord > innerEdge) {
        const leaf = this.nodes[row >>> ROW_BITS]!;
        if (!this.#circle.isMatch(leaf, row & ROW_MASK)) continue;
      }
      chords[next] = chord;
      rows[next] = row;
      next++;
    }
    this.#ring.count = next;
  }
}
