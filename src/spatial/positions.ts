import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../lib/tables/number-pool.ts";
import { PositionCells } from "./cells.ts";
import type { DevicePositions } from "./center.ts";
import type { PositionNode } from "./node.ts";

/** What an index of positions is asked, what it answers, and what a search in it looks into. */

/** Asks for the positions within a circle. */
export interface CircleQuery {
  /** Center in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
  /** Positions older than this are left out. */
  readonly oldestMs: number;
  /** Less accurate positions are left out; Infinity keeps all. A position without an accuracy is always kept. */
  readonly accuracyMetersMax: number;
  readonly offset: number;
  readonly limit: number;
}

/** One page of what a circle holds. */
export interface Found {
  readonly count: number;
  /**
   * Numbers, distances and initial bearings (degrees clockwise from north, 0 to before 360) of the first `count`;
   * good until the next `find`, which may use the same arrays.
   */
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
  /**
   * Whether this is the page. It is not, and is empty, if the order of devices is needed because thousands are at one
   * distance, and that order is not ready.
   */
  readonly isInOrder: boolean;
  /** How many positions match, on this page or not. */
  readonly matches: number;
  /** All positions in cells that touch the circle, fresh or not. */
  readonly candidates: number;
}

/** The order of an app's devices in answers, by device number. */
export interface DeviceOrder {
  compare(a: number, b: number): number;
  /** Whether `reader` reads at once. */
  isReady(): boolean;
  /** Gives all devices in order, a block with each call, and null behind the last. */
  reader(): () => { readonly numbers: readonly number[] } | null;
}

/** What a search looks into: one app's positions. */
export interface Positions {
  readonly cells: PositionCells<PositionNode>;
  readonly byDevice: DevicePositions;
  /** Decides between devices at one distance. */
  readonly deviceOrder: DeviceOrder;
  /** The leaf that a device is in. */
  leafOf(device: number): PositionNode;
  /** Its row in that leaf. */
  rowOf(device: number): number;
}

/** The positions of devices, by device number. */
export class PositionColumns implements DevicePositions {
  #latitudes: Float64Array[] = [];
  #longitudes: Float64Array[] = [];
  numbersEnd = 0;

  latitudeOf(device: number): number {
    return this.#latitudes[device >>> PAGE_SHIFT]![device & PAGE_MASK]!;
  }

  longitudeOf(device: number): number {
    return this.#longitudes[device >>> PAGE_SHIFT]![device & PAGE_MASK]!;
  }

  set(device: number, latitude: number, longitude: number): void {
    const page = device >>> PAGE_SHIFT;
    const at = device & PAGE_MASK;
    if (at >= (this.#latitudes[page]?.length ?? 0)) {
      makePageRoom(this.#latitudes, device, createPage);
      makePageRoom(this.#longitudes, device, createPage);
    }
    if (device >= this.numbersEnd) this.numbersEnd = device + 1;
    this.#latitudes[page]![at] = latitude;
    this.#longitudes[page]![at] = longitude;
  }

  /** Goes on with columns of all devices, whose memory it takes over. */
  load(latitude: Float64Array, longitude: Float64Array): void {
    this.#latitudes = pagesOf(latitude);
    this.#longitudes = pagesOf(longitude);
    this.numbersEnd = latitude.length;
  }
}

function createPage(length: number): Float64Array {
  return new Float64Array(length);
}

function pagesOf(column: Float64Array): Float64Array[] {
  return Array.from({ length: Math.ceil(column.length / PAGE_NUMBERS) }, (_, page) =>
    column.subarray(page * PAGE_NUMBERS, (page + 1) * PAGE_NUMBERS),
  );
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
