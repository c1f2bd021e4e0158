import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./distance.ts";

export interface GridPoint {
  readonly latitude: number;
  readonly longitude: number;
}

const METERS_PER_DEGREE = EARTH_RADIUS_METERS * RADIANS_PER_DEGREE;

/**
 * A fixed grid over the earth: bands of equal latitude, each divided into roughly square cells. A position always lies
 * in the same cell, so repeated answers with the cell's center reveal no more about the position than one.
 */
export class Grid {
  readonly #cellMeters: number;
  readonly #bands: number;

  constructor(cellMeters: number) {
    this.#cellMeters = cellMeters;
    this.#bands = Math.max(1, Math.round((180 * METERS_PER_DEGREE) / cellMeters));
  }

  /** The center of a position's cell. Cells include their southern and western edges. */
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

/** Rounds to some 0.1 m, so that centers are short. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6;
}
