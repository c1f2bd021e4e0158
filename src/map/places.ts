import { around } from "geokdbush";
import type KDBush from "kdbush";
import { LF } from "../lib/text/ascii.ts";
import { circleBoxes } from "../model/geo/box.ts";
import { haversineMeters, initialBearingDegrees, METERS_PER_MILE } from "../model/geo/distance.ts";

/* Named places all over the world: cities, towns and villages. */

/** Places beyond this distance are not near. At sea, in deserts and at the poles there is mostly none. */
export const NEAR_METERS_MAX = 100 * METERS_PER_MILE;

/** The place that a position is nearest to. */
export interface NearestPlace {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** The distance from the place to the position. */
  readonly meters: number;
  /** The direction from the place to the position. */
  readonly bearingDegrees: number;
}

/** About 60 bytes for each place. */
export interface PlaceTables {
  /** Longitudes and latitudes in degrees. The file is in the tree's order, so a point's id is its row. */
  readonly tree: KDBush;
  readonly grid: PlaceGrid;
  readonly file: Uint8Array;
  /** By row, the offset in the file of `country TAB name LF`. */
  readonly namesAt: Uint32Array;
}

/** Finds the nearest place. Names stay bytes of the file until a query needs them: there are 135,000. */
export class Places {
  readonly #tables: PlaceTables;
  readonly #decoder = new TextDecoder();

  constructor(tables: PlaceTables) {
    this.#tables = tables;
  }

  /**
   * The place nearest to a position in degrees, by great circle, whatever its size; null if none is near. Takes about
   * 10 µs, or 100 µs if the next place is far.
   */
  nearest(latitude: number, longitude: number): NearestPlace | null {
    const { tree, grid } = this.#tables;
    if (!grid.mayHoldNear(latitude, longitude)) return null;
    const row = around(tree, longitude, latitude, 1)[0]!;
    const [placeLongitude, placeLatitude] = [tree.coords[2 * row]!, tree.coords[2 * row + 1]!];
    const meters = haversineMeters(placeLatitude, placeLongitude, latitude, longitude);
    if (meters > NEAR_METERS_MAX) return null;
    const bearingDegrees = initialBearingDegrees(placeLatitude, placeLongitude, latitude, longitude);
    return { ...this.#named(row), meters, bearingDegrees };
  }

  #named(row: number): Pick<NearestPlace, "name" | "country"> {
    const { file, namesAt } = this.#tables;
    const start = namesAt[row]!;
    const text = this.#decoder.decode(file.subarray(start, file.indexOf(LF, start)));
    const [country, name] = text.split("\t");
    return { country: country!, name: name! };
  }
}

const ROWS = 180;
const COLUMNS = 360;

/**
 * Which cells of one degree have places. If the cells around a position are empty, at sea and at the poles, a search of
 * the tree is unnecessary: it takes up to 0.6 ms there, since it continues until it finds a place, however far.
 */
export class PlaceGrid {
  readonly #hasPlace = new Uint8Array(ROWS * COLUMNS);
  readonly #nearMetersMax: number;

  constructor(nearMetersMax: number) {
    this.#nearMetersMax = nearMetersMax;
  }

  add(latitude: number, longitude: number): void {
    this.#hasPlace[rowOf(latitude) * COLUMNS + columnOf(longitude)] = 1;
  }

  /** False only if no place is near. */
  mayHoldNear(latitude: number, longitude: number): boolean {
    return circleBoxes(latitude, longitude, this.#nearMetersMax).some((box) => {
      const [first, last] = [columnOf(box.minLongitude), columnOf(box.maxLongitude)];
      for (let row = rowOf(box.minLatitude); row <= rowOf(box.maxLatitude); row++) {
        if (this.#hasPlace.subarray(row * COLUMNS + first, row * COLUMNS + last + 1).includes(1)) return true;
      }
      return false;
    });
  }
}

/** The north pole belongs to the last row, and +180° to the last column. */
function rowOf(latitude: number): number {
  return Math.min(ROWS - 1, Math.floor(latitude + 90));
}

function columnOf(longitude: number): number {
  return Math.min(COLUMNS - 1, Math.floor(longitude + 180));
}
