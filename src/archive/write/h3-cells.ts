import { cellToBoundary, cellToLatLng, latLngToCell } from "h3-js";
import { H3_RESOLUTION } from "../columns.ts";

/** Finds the H3 cell of point after point, where one is mostly near the one before: rows come by device and time. */
export interface CellFinder {
  /** The cell's number, in decimal digits. */
  find(latitude: number, longitude: number): string;
}

/** A circle around a cell's centre that lies inside the cell. */
interface InnerCircle {
  readonly latitude: number;
  readonly longitude: number;
  /** What a square of degrees of longitude counts beside one of latitude; too much rather than too little. */
  readonly longitudeWeight: number;
  /** In degrees, squared. */
  readonly radiusSquared: number;
}

/** Cells end where arcs end, to rounding. Of random cells, pentagons and cells at edges, none ended within 0.999. */
const INSIDE = 0.98;

const RADIANS_PER_DEGREE = Math.PI / 180;

/**
 * H3 takes a microsecond a point. A point in the inner circle of the last cell needs no call, and neither does one
 * that has not moved. The circle is measured once a cell is found twice in a row: most cells of a checkpoint never are.
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
      const found = latLngToCell(latitude, longitude, H3_RESOLUTION);
      if (found === index) {
        circle ??= innerCircleOf(found);
      } else {
        index = found;
        digits = BigInt(`0x${found}`).toString();
        circle = null;
      }
      return digits;
    },
  };
}

/**
 * With a and b the latitudes, a squared chord is 4 sin²(Δlat / 2) + 4 cos a cos b sin²(Δlon / 2), so Δlat² + cos a
 * cos b Δlon² is never less: no point outside passes, and no trigonometry is needed. Across ±180° Δlon is huge.
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
    longitudeWeight: cosine * Math.min(1, cosine + radius), // A cosine grows by no more than its angle does.
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
