import { circleBoxes } from "../model/geo/circle-boxes.ts";

/*
 * Cells of a degree in which places lie, each a byte. Where the cells around a position are empty, at sea and at the
 * poles, geokdbush need not be asked, which takes up to 0.6 ms there: it goes on until it has found one, however far.
 */

const ROWS = 180;
const COLUMNS = 360;

export class PlaceGrid {
  readonly #isTaken = new Uint8Array(ROWS * COLUMNS);
  readonly #nearMetersMax: number;

  constructor(nearMetersMax: number) {
    this.#nearMetersMax = nearMetersMax;
  }

  add(latitude: number, longitude: number): void {
    this.#isTaken[rowOf(latitude) * COLUMNS + columnOf(longitude)] = 1;
  }

  /** False where no place is near; true where one is, or lies in the corner of a cell that reaches there. */
  mayHoldNear(latitude: number, longitude: number): boolean {
    return circleBoxes(latitude, longitude, this.#nearMetersMax).some((box) => {
      const [first, last] = [columnOf(box.minLongitude), columnOf(box.maxLongitude)];
      for (let row = rowOf(box.minLatitude); row <= rowOf(box.maxLatitude); row++) {
        if (this.#isTaken.subarray(row * COLUMNS + first, row * COLUMNS + last + 1).includes(1)) return true;
      }
      return false;
    });
  }
}

/** The last row ends in the pole, and the last column in +180. */
function rowOf(latitude: number): number {
  return Math.min(ROWS - 1, Math.floor(latitude + 90));
}

function columnOf(longitude: number): number {
  return Math.min(COLUMNS - 1, Math.floor(longitude + 180));
}
