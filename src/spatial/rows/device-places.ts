/** Where the rows of devices are. */

/** A row of a leaf, which may have holes beside its positions, has a number of so many bits. */
export const ROW_BITS = 10;
export const ROW_MASK = 2 ** ROW_BITS - 1;
/** A place is one number: the leaf's among all cells, and a row of it. */
export const CELLS_MAX = 2 ** (32 - ROW_BITS) - 1;
/** Of a device that was not added. */
export const NO_PLACE = -1;

const DEVICES_INITIAL = 16;

/**
 * By device number, its leaf and a row there. Rows that come between make its true row a later one, which nobody notes:
 * it is looked for from here on.
 */
export class DevicePlaces {
  #places = new Int32Array(DEVICES_INITIAL).fill(NO_PLACE);

  of(device: number): number {
    return device < this.#places.length ? this.#places[device]! : NO_PLACE;
  }

  /** Makes room for this many devices. */
  reserve(devices: number): void {
    if (devices > this.#places.length) this.#growTo(devices);
  }

  set(device: number, cell: number, row: number): void {
    if (device >= this.#places.length) this.#growTo(Math.max(device + 1, 2 * this.#places.length));
    this.#places[device] = (cell << ROW_BITS) | row;
  }

  clear(device: number): void {
    this.#places[device] = NO_PLACE;
  }

  #growTo(devices: number): void {
    const grown = new Int32Array(devices).fill(NO_PLACE);
    grown.set(this.#places);
    this.#places = grown;
  }
}
