import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./distance.ts";

/** Where something is, in degrees. */
export interface GridPoint {
  readonly latitude: number;
  readonly longitude: number;
}

const METERS_PER_DEGREE = EARTH_RADIUS_METERS * RADIANS_PER_DEGREE;

/**
 * A fixed grid over the earth: bands of equal latitude, each cut into as many cells as make them about square. A
 * position lies in one cell for ever, so its center, however often it is told, says nothing more of the position.
 */
export class Grid {
  readonly #cellMeters: number;
  readonly #bands: number;

  constructor(cellMeters: number) {
    this.#cellMeters = cellMeters;
    this.#bands = Math.max(1, Math.round((180 * METERS_PER_DEGREE) / cellMeters));
  }

  /** The center of the cell that a position lies in, a cell's southern and western edges included. */
  centerOf(latitude: number, longitude: number): GridPoint {
    const height = 180 / this.#bands;
    const band = Math.min(this.#bands - 1, Math.floor((latitude + 90) / height));
    const centerLatitude = -90 + (band + 0.5) * height;
    const around = 360 * METERS_PER_DEGREE * Math.cos(centerLatitude * RADIANS_PER_DEGREE);
    const cells = Math.max(1, Math.round(around / this.#cellMeters));
    const width = 360 / cells;
    // 180° and -180° are one meridian, on the western edge of the first cell.
    const cell = longitude === 180 ? 0 : Math.min(cells - 1, Math.floor((longitude + 180) / width));
    return { latitude: rounded(centerLatitude), longitude: rounded(-180 + (cell + 0.5) * width) };
  }
}

/** To some 0.1 m, so that centers read well. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}
