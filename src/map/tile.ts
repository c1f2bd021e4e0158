import type { Box } from "../model/geo/box.ts";
import { EXTENT } from "./layer-writer.ts";
import { latitudeAt, longitudeAt, mercatorX, mercatorY } from "./mercator.ts";

/** The width of the border around a tile that is drawn too, in units, so that dots at its edge are whole. */
export const BUFFER = 64;

/** The southernmost y. The southern edge itself would lie in a row of tiles that does not exist. */
const SOUTHERN_EDGE = 1 - 2 ** -29; // Half a unit at zoom 16.

/** A square of the map: at zoom z the world has 2^z columns and rows of tiles, counted from the north-west. */
export class Tile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly #tiles: number;
  /** The copies of the world that the tile and its buffer overlap: 0 is the one between -180° and 180°. */
  readonly worlds: readonly number[];

  constructor(z: number, x: number, y: number) {
    this.z = z;
    this.x = x;
    this.y = y;
    this.#tiles = 2 ** z;
    this.worlds = [0, ...(x === 0 ? [-1] : []), ...(x === this.#tiles - 1 ? [1] : [])];
  }

  /** The distance of a longitude of one of the worlds from the tile's western border, in units. */
  unitX(longitude: number, world: number): number {
    return ((mercatorX(longitude) + world) * this.#tiles - this.x) * EXTENT;
  }

  /** The distance of a latitude from the tile's northern border, in units. */
  unitY(latitude: number): number {
    return (Math.min(SOUTHERN_EDGE, mercatorY(latitude)) * this.#tiles - this.y) * EXTENT;
  }

  /** The areas of the tile and its buffer, one for each world. */
  boxes(): readonly Box[] {
    const buffer = BUFFER / EXTENT;
    const north = (this.y - buffer) / this.#tiles;
    const south = (this.y + 1 + buffer) / this.#tiles;
    return this.worlds.map((world) => {
      const west = (this.x - buffer) / this.#tiles - world;
      const east = (this.x + 1 + buffer) / this.#tiles - world;
      return {
        // The map's edges also show positions between them and the poles.
        maxLatitude: north <= 0 ? 90 : latitudeAt(north),
        minLatitude: south >= 1 ? -90 : latitudeAt(south),
        minLongitude: longitudeAt(Math.max(0, west)),
        maxLongitude: longitudeAt(Math.min(1, east)),
      };
    });
  }
}

/** Whether a unit is in a tile or its buffer. */
export function isShown(unit: number): boolean {
  return unit >= -BUFFER && unit < EXTENT + BUFFER;
}
