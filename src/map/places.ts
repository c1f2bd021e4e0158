import { around } from "geokdbush";
import type KDBush from "kdbush";
import { LF } from "../lib/text/ascii.ts";
import { circleBoxes } from "../model/geo/box.ts";
import { haversineMeters, initialBearingDegrees, METERS_PER_MILE } from "../model/geo/distance.ts";

/** Named places all over the world: cities, towns and villages. */

/** A place is near within this; at sea, in deserts and at the poles there is mostly none. */
export const NEAR_METERS_MAX = 100 * METERS_PER_MILE;

/** The place that a position is nearest to. */
export interface NearestPlace {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** From the place to the position. */
  readonly meters: number;
  /** In which direction the position lies from the place. */
  readonly bearingDegrees: number;
}

/** What places are kept in: some 60 bytes each. */
export interface PlaceTables {
  /** Longitudes and latitudes in degrees. What was added to it in its own order has its row as its id. */
  readonly tree: KDBush;
  readonly grid: PlaceGrid;
  readonly file: Uint8Array;
  /** By row, where its country and its name begin in the file, with a tab between and a line's end behind. */
  readonly namesAt: Uint32Array;
}

/** Texts are made of names that are asked for, not of all 135,000. */
export class Places {
  readonly #tables: PlaceTables;
  readonly #decoder = new TextDecoder();

  constructor(tables: PlaceTables) {
    this.#tables = tables;
  }

  /**
   * The place nearest to a position in degrees, by great circle; null where none is near. A village is as good as the
   * city behind it. It takes some 10 µs, and 100 where the next place is far.
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
