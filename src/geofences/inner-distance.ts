import TinyQueue from "tinyqueue";
import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import type { Frame } from "./frame.ts";

/** How much less than the greatest distance the answer may be, as a part of it. */
const PRECISION = 0.01;

/** Distances to edges that one search may take: some 10 ms. Long and winding areas of many corners reach it. */
const EDGES_MAX = 400_000;

/** A frame begins as at most this many squares in a row. */
const ROW_MAX = 16;

/** A part of a frame by its center. */
interface Cell {
  readonly latitude: number;
  readonly longitude: number;
  /** Half its sides, in degrees. */
  readonly halfHeight: number;
  readonly halfWidth: number;
  /** No point of it is farther inside. */
  readonly metersMax: number;
}

/**
 * The greatest distance from the border within an area, in meters, found as `polylabel` finds it: the cell that may
 * have the greatest distance is divided, until none may have one that is much greater than the greatest so far.
 */
export function greatestInnerMeters(
  frames: readonly Frame[],
  edgeCount: number,
  shape: { distanceMeters(latitude: number, longitude: number): number },
): number {
  const cells = new TinyQueue<Cell>([], (a, b) => b.metersMax - a.metersMax);
  let cellsLeft = EDGES_MAX / edgeCount;
  let greatest = 0;
  function measure(latitude: number, longitude: number, halfHeight: number, halfWidth: number): void {
    cellsLeft--;
    const meters = shape.distanceMeters(latitude, longitude > 180 ? longitude - 360 : longitude);
    greatest = Math.max(greatest, meters);
    const metersMax = meters + halfDiagonalMeters(latitude, halfHeight, halfWidth);
    cells.push({ latitude, longitude, halfHeight, halfWidth, metersMax });
  }
  for (const frame of frames) measureSquares(frame, measure);
  for (let cell = cells.pop(); cell !== undefined && cellsLeft > 0; cell = cells.pop()) {
    if (cell.metersMax <= greatest * (1 + PRECISION)) break;
    const [height, width] = [cell.halfHeight / 2, cell.halfWidth / 2];
    for (const north of [-height, height])
      for (const east of [-width, width])
        measure(cell.latitude + north, cell.longitude + east, height, width);
  }
  return greatest;
}

type Measure = (latitude: number, longitude: number, halfHeight: number, halfWidth: number) => void;

/** Divides the longer side of a frame, so that the cells are about as high as wide. */
function measureSquares({ west, east, minLatitude, maxLatitude }: Frame, measure: Measure): void {
  const height = maxLatitude - minLatitude;
  const width = (east - west) * Math.cos(((minLatitude + maxLatitude) / 2) * RADIANS_PER_DEGREE);
  const rows = Math.min(ROW_MAX, Math.max(1, Math.round(height / width)));
  const columns = Math.min(ROW_MAX, Math.max(1, Math.round(width / height)));
  const halfHeight = height / rows / 2;
  const halfWidth = (east - west) / columns / 2;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      measure(
        minLatitude + (2 * row + 1) * halfHeight,
        west + (2 * column + 1) * halfWidth,
        halfHeight,
        halfWidth,
      );
}

/** At least the distance from the center of a cell to any of its points. */
function halfDiagonalMeters(latitude: number, halfHeight: number, halfWidth: number): number {
  const nearestEquator = Math.max(0, Math.abs(latitude) - halfHeight);
  const halfWidthThere = halfWidth * Math.cos(nearestEquator * RADIANS_PER_DEGREE);
  const degrees = Math.sqrt(halfHeight * halfHeight + halfWidthThere * halfWidthThere);
  return degrees * RADIANS_PER_DEGREE * EARTH_RADIUS_METERS;
}
