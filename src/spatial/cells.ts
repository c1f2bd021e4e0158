import { grown } from "../lib/tables/columns.ts";
import type { Box } from "../model/geo/box.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";

/** Columns of a cell's ball: its center, a point of the unit sphere, and the longest chord from there. */
export const BALL = { x: 0, y: 1, z: 2, radius: 3, width: 4 } as const;

/** The four siblings of a cell have consecutive numbers. */
export const SIBLINGS = 4;

const CELLS_INITIAL = 4;
/** A coordinate far from the sphere, which no circle reaches. */
const NOWHERE = 10;
export const NO_CHILDREN = -1;

/**
 * The balls and children of all cells, in columns, apart from their contents: a search visits many cells and looks into
 * few, so what it needs of the many lies close together, siblings side by side.
 */
export class PositionCells<Node extends Ball> {
  balls = new Float64Array(CELLS_INITIAL * BALL.width);
  /** The number of the first child, or `NO_CHILDREN` for a leaf. */
  children = new Int32Array(CELLS_INITIAL);
  readonly nodes: (Node | undefined)[] = [];
  readonly #free: number[] = [];
  #count = 0;

  /** Numbers in use are below this. */
  get capacity(): number {
    return this.children.length;
  }

  /** The first of four consecutive numbers, for cells that have no ball yet. */
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

/** More than the rounding of cell edges and of chords, some 1e-15. */
const MARGIN = 1e-9;

/** A ball that contains all points of a box. */
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
