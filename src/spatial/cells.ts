import { grown } from "../lib/tables/columns.ts";
import type { Box } from "../model/geo/box.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";

/** The cells of an index: where they are, in columns. */

/** Columns of a cell's ball: a point of a sphere of radius 1, and the longest chord from there. */
export const BALL = { x: 0, y: 1, z: 2, radius: 3, width: 4 } as const;

/** A cell and its three siblings have numbers in a row. */
export const SIBLINGS = 4;

const CELLS_INITIAL = 4;
/** Where no circle gets: far from the sphere. */
const NOWHERE = 10;
export const NO_CHILDREN = -1;

/**
 * Where all cells are, apart from what is in them: a search goes through many and looks into few, and so the many lie
 * close together, siblings side by side.
 */
export class PositionCells<Node extends Ball> {
  balls = new Float64Array(CELLS_INITIAL * BALL.width);
  /** The number of the first of its children, or `NO_CHILDREN` where it is a leaf. */
  children = new Int32Array(CELLS_INITIAL);
  readonly nodes: (Node | undefined)[] = [];
  readonly #free: number[] = [];
  #count = 0;

  /** Numbers that may have been given out are below. */
  get capacity(): number {
    return this.children.length;
  }

  /** The first of four numbers in a row for cells that are nowhere yet. */
  takeSiblings(): number {
    const first = this.#free.pop() ?? this.#count;
    if (first === this.#count) {
      this.#count += SIBLINGS;
      if (this.#count > this.capacity) {
        this.balls = grown(this.balls);
        this.children = grown(this.children);
      }
    }
    for (let cell = first; cell < first + SIBLINGS; cell++) {
      this.balls.fill(NOWHERE, cell * BALL.width, (cell + 1) * BALL.width);
      this.balls[cell * BALL.width + BALL.radius] = 0;
      this.children[cell] = NO_CHILDREN;
      this.nodes[cell] = undefined;
    }
    return first;
  }

  giveBackSiblings(first: number): void {
    for (let cell = first; cell < first + SIBLINGS; cell++) this.nodes[cell] = undefined;
    this.#free.push(first);
  }

  put(cell: number, node: Node): void {
    const at = cell * BALL.width;
    this.balls[at + BALL.x] = node.x;
    this.balls[at + BALL.y] = node.y;
    this.balls[at + BALL.z] = node.z;
    this.balls[at + BALL.radius] = node.radius;
    this.nodes[cell] = node;
  }
}

/** A ball around a cell of the unit sphere: its center, a point of the sphere, and the longest chord from there. */
export interface Ball {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
}

/** Outweighs the rounding of cells' edges and of chords, some 1e-15. */
const MARGIN = 1e-9;

/** A ball that holds all points of a box. */
export function ballAround({ minLatitude, maxLatitude, minLongitude, maxLongitude }: Box): Ball {
  const south = minLatitude * RADIANS_PER_DEGREE;
  const north = maxLatitude * RADIANS_PER_DEGREE;
  const halfWidth = ((maxLongitude - minLongitude) / 2) * RADIANS_PER_DEGREE;
  const latitude = (south + north) / 2;
  const longitude = minLongitude * RADIANS_PER_DEGREE + halfWidth;
  const cosLatitude = Math.cos(latitude);
  const cosMax = south < 0 && north > 0 ? 1 : Math.max(Math.cos(south), Math.cos(north));
  const square = Math.sin((north - south) / 4) ** 2 + cosLatitude * cosMax * Math.sin(halfWidth / 2) ** 2;
  return {
    x: cosLatitude * Math.cos(longitude),
    y: cosLatitude * Math.sin(longitude),
    z: Math.sin(latitude),
    radius: 2 * Math.sqrt(square) + MARGIN,
  };
}
