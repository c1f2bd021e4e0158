import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../lib/tables/number-pool.ts";
import type { DevicePositions } from "./center.ts";

/** Where devices are, by number. */
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
