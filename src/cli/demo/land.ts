import { gunzipSync } from "node:zlib";
import { PbfReader } from "pbf";
import { mercatorX, mercatorY } from "../../map/mercator.ts";
import type { TileFile } from "../../map/tile-file.ts";

/*
 * Whether a position is on land, by the world map that comes with the program: good to about a kilometer, enough to
 * turn a ship around before a coast. The layout is the Mapbox Vector Tile specification 2.1.
 */

/** The deepest zoom of the world map; a tile is some 350 km wide around Denmark. */
const ZOOM = 6;

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** Rings of land in a tile, each x, y, x, y, … in parts of the tile's width. */
type Rings = readonly (readonly number[])[];

/** Rows and columns that a tile is drawn in: a cell is some 700 m wide around Denmark. */
const CELLS = 512;

export class Land {
  readonly #world: Pick<TileFile, "find">;
  /** A 1 for each cell of a tile with land at its center, row by row. */
  readonly #tiles = new Map<string, Promise<Uint8Array>>();

  constructor(world: Pick<TileFile, "find">) {
    this.#world = world;
  }

  async holds({ latitude, longitude }: Point): Promise<boolean> {
    const [x, y] = [mercatorX(longitude) * 2 ** ZOOM, mercatorY(latitude) * 2 ** ZOOM];
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const key = `${column} ${row}`;
    let tile = this.#tiles.get(key);
    if (tile === undefined) {
      tile = this.#read(column, row);
      this.#tiles.set(key, tile);
    }
    const [cellX, cellY] = [Math.floor((x - column) * CELLS), Math.floor((y - row) * CELLS)];
    return (await tile)[cellY * CELLS + cellX] === 1;
  }

  async #read(column: number, row: number): Promise<Uint8Array> {
    const tile = await this.#world.find(ZOOM, column, row);
    if (tile === null) return new Uint8Array(CELLS * CELLS);
    return drawn(landRings(tile.isGzipped ? gunzipSync(tile.bytes) : tile.bytes));
  }
}

/** Fills rings row by row. By the even-odd rule, rings of lakes within land take their part away. */
function drawn(rings: Rings): Uint8Array {
  const crossings = Array.from({ length: CELLS }, (): number[] => []);
  for (const ring of rings) {
    let [lastX, lastY] = [ring.at(-2)! * CELLS, ring.at(-1)! * CELLS];
    for (let at = 0; at < ring.length; at += 2) {
      const [nextX, nextY] = [ring[at]! * CELLS, ring[at + 1]! * CELLS];
      // The rows whose centers lie between the ends of the edge.
      const from = Math.max(0, Math.ceil(Math.min(lastY, nextY) - 0.5));
      const to = Math.min(CELLS - 1, Math.ceil(Math.max(lastY, nextY) - 0.5) - 1);
      for (let row = from; row <= to; row++)
        crossings[row]!.push(lastX + ((row + 0.5 - lastY) / (nextY - lastY)) * (nextX - lastX));
      [lastX, lastY] = [nextX, nextY];
    }
  }
  const cells = new Uint8Array(CELLS * CELLS);
  for (const [row, across] of crossings.entries()) {
    across.sort((a, b) => a - b);
    for (let at = 0; at + 1 < across.length; at += 2) {
      const from = Math.max(0, Math.ceil(across[at]! - 0.5));
      const to = Math.min(CELLS, Math.ceil(across[at + 1]! - 0.5));
      if (from < to) cells.fill(1, row * CELLS + from, row * CELLS + to);
    }
  }
  return cells;
}

interface Layer {
  name: string;
  extent: number;
  readonly geometries: number[][];
}

function landRings(bytes: Uint8Array): Rings {
  const rings: number[][] = [];
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag !== 3) return; // A layer.
    const layer = pbf.readMessage<Layer>(readLayer, { name: "", extent: 4096, geometries: [] });
    if (layer.name === "earth")
      for (const commands of layer.geometries) rings.push(...ringsOf(commands, layer.extent));
  }, null);
  return rings;
}

function readLayer(tag: number, layer: Layer, pbf: PbfReader): void {
  if (tag === 1) layer.name = pbf.readString();
  else if (tag === 5) layer.extent = pbf.readVarint();
  else if (tag === 2)
    pbf.readMessage((field, geometries: number[][], feature: PbfReader) => {
      if (field === 4) geometries.push(feature.readPackedVarint());
    }, layer.geometries);
}

const MOVE_TO = 1;
const CLOSE_PATH = 7;

/** Commands hold an operation in their low three bits and a count above; steps are zigzag-encoded. */
function ringsOf(commands: readonly number[], extent: number): number[][] {
  const rings: number[][] = [];
  let [x, y] = [0, 0];
  for (let at = 0; at < commands.length; ) {
    const operation = commands[at]! & 7;
    const count = commands[at++]! >> 3;
    if (operation === CLOSE_PATH) continue;
    for (let step = 0; step < count; step++) {
      x += unzigzag(commands[at++]!);
      y += unzigzag(commands[at++]!);
      if (operation === MOVE_TO) rings.push([]);
      rings.at(-1)!.push(x / extent, y / extent);
    }
  }
  return rings;
}

function unzigzag(value: number): number {
  return (value >> 1) ^ -(value & 1);
}
