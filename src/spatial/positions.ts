import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../lib/tables/number-pool.ts";
import { PositionCells } from "./cells.ts";
import type { DevicePositions } from "./center.ts";
import type { PositionNode } from "./node.ts";

/** A page of the positions within a circle. */
export interface CircleQuery {
  /** Center in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
  /** Excludes positions older than this. */
  readonly oldestMs: number;
  /** Excludes less accurate positions; Infinity excludes none. A position without an accuracy always passes. */
  readonly accuracyMetersMax: number;
  readonly offset: number;
  readonly limit: number;
}

/** One page of the positions in a circle. */
export interface CirclePage {
  readonly count: number;
  /**
   * Numbers, distances and initial bearings (degrees clockwise from north, 0 to before 360) of the first `count`; valid
   * until the next `find()`, which may reuse the arrays.
   */
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
  /**
   * False, with an empty page, if thousands are at one distance, so that the order of devices is needed, and that order
   * is not ready yet.
   */
  readonly isInOrder: boolean;
  /** How many positions match in all. */
  readonly matches: number;
  /** How many positions, fresh or not, are in cells that touch the circle. */
  readonly candidates: number;
}

/** The order of an app's devices in answers, by device number. */
export interface DeviceOrder {
  compare(a: number, b: number): number;
  /** Whether `reader()` may be used now. */
  isReady(): boolean;
  /** Returns a function that gives all devices in order, in blocks, then null. */
  reader(): () => { readonly numbers: readonly number[] } | null;
}

/** What a search reads: the positions of one app. */
export interface Positions {
  readonly cells: PositionCells<PositionNode>;
  readonly byDevice: DevicePositions;
  /** Orders devices at one distance. */
  readonly deviceOrder: DeviceOrder;
  /** The leaf that has the device. */
  leafOf(device: number): PositionNode;
  /** The device's row in its leaf. */
  rowOf(device: number): number;
}

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

  /** Uses these columns of all devices from now on. */
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
  throw new Error(`Device ${device} has no position`);
}
