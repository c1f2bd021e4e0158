import { cellToBoundary, cellToLatLng, latLngToCell } from "h3-js";
import { H3_RESOLUTION } from "../columns.ts";

/** Finds the H3 cells of many points. Rows come by device and time, so a point is mostly near the one before. */
export interface CellFinder {
  /** The cell's number, in decimal digits. */
  find(latitude: number, longitude: number): string;
}

/** A circle around a cell's center that lies within the cell. */
interface InnerCircle {
  readonly latitude: number;
  readonly longitude: number;
  /** The weight of a squared difference of longitude against one of latitude; rather too large than too small. */
  readonly longitudeWeight: number;
  /** Square of the radius in degrees. */
  readonly radiusSquared: number;
}

/**
 * Scales the circle. Cells end at their arcs, except for rounding: of random cells, none ended within 0.999 of the
 * radius.
 */
const INSIDE = 0.98;

const RADIANS_PER_DEGREE = Math.PI / 180;

/**
 * H3 takes a microsecond per point. A point within the inner circle of the last cell, or equal to the last point, needs
 * no call. The circle is computed when a cell is found twice in a row, which seldom happens in a checkpoint.
 */
export function createCellFinder(): CellFinder {
  let index = "";
  let digits = "";
  let circle: InnerCircle | null = null;
  let lastLatitude = Number.NaN;
  let lastLongitude = Number.NaN;
  return {
    find(latitude, longitude) {
      if (circle !== null && isInside(circle, latitude, longitude)) return digits;
      if (latitude === lastLatitude && longitude === lastLongitude) return digits;
      lastLatitude = latitude;
      lastLongitude = longitude;
      const cell = latLngToCell(latitude, longitude, H3_RESOLUTION);
      if (cell === index) {
        circle ??= innerCircleOf(cell);
      } else {
        index = cell;
        digits = BigInt(`0x${cell}`).toString();
        circle = null;
      }
      return digits;
    },
  };
}

/**
 * With latitudes a and b, a squared chord is 4 sin²(Δlat / 2) + 4 cos a cos b sin²(Δlon / 2), so it never exceeds Δlat²
 * + cos a cos b Δlon²: no point outside passes, without trigonometry. Across ±180°, Δlon is huge and the test fails.
 */
function isInside(circle: InnerCircle, latitude: number, longitude: number): boolean {
  const north = latitude - circle.latitude;
  const east = longitude - circle.longitude;
  return north * north + circle.longitudeWeight * east * east < circle.radiusSquared;
}

function innerCircleOf(cell: string): InnerCircle {
  const [latitude, longitude] = cellToLatLng(cell);
  const center = vectorOf(latitude, longitude);
  const corners = cellToBoundary(cell).map(([lat, lon]) => vectorOf(lat, lon));
  const sines = corners.map((corner, i) => sineToArc(center, corner, corners[(i + 1) % corners.length]!));
  const radius = Math.asin(Math.min(...sines)) * INSIDE;
  const chordDegrees = (2 * Math.sin(radius / 2)) / RADIANS_PER_DEGREE;
  const cosine = Math.cos(latitude * RADIANS_PER_DEGREE);
  return {
    latitude,
    longitude,
    longitudeWeight: cosine * Math.min(1, cosine + radius), // A cosine grows by at most the change of its angle.
    radiusSquared: chordDegrees * chordDegrees,
  };
}

type Vector = readonly [x: number, y: number, z: number];

function vectorOf(latitude: number, longitude: number): Vector {
  const lat = latitude * RADIANS_PER_DEGREE;
  const lon = longitude * RADIANS_PER_DEGREE;
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
}

/** The sine of the angle between a point and the great circle through two others. */
function sineToArc(point: Vector, from: Vector, to: Vector): number {
  const x = from[1] * to[2] - from[2] * to[1];
  const y = from[2] * to[0] - from[0] * to[2];
  const z = from[0] * to[1] - from[1] * to[0];
  return Math.abs(point[0] * x + point[1] * y + point[2] * z) / Math.hypot(x, y, z);
}
