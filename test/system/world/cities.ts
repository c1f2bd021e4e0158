import type { Feature } from "geojson";
import { mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import type { GeoNamesPlace } from "../../unit/map/lay-out-places.ts";
import { GONE } from "../../unit/map/lay-out-places.ts";

/* Cities and towns, each from the zoom on at which there is room for its name. */

const POPULATION_MIN = 5000;
const CAPITAL = "PPLC";
/** Of a city, which has its name too. */
const QUARTER = "PPLX";

/** In a view of 512 pixels to a tile; a name is some 80 wide. */
const SPACING_PIXELS = 90;
const TILE_PIXELS = 512;

/** The least that a place counts to be named at a zoom, be there ever so much room. */
const POPULATION_BY_ZOOM: ReadonlyMap<number, number> = new Map([
  [2, 2_000_000],
  [3, 500_000],
  [4, 150_000],
  [5, 40_000],
  [6, 15_000],
  [7, 5000],
  [8, 5000],
  [9, 5000],
]);
/** There is room for all of them, or nobody would ever see the last. */
const ZOOM_OF_ALL = 10;
/** Nobody asks for a quarter before its city. */
const ZOOM_OF_QUARTERS = 9;

/** A capital of few people is looked for like a city of many. */
const CAPITAL_COUNTS = 8;

/** As Protomaps ranks them: one more for each that a place has as many people as. */
const RANKS = [200, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 5e6, 1e7, 2e7, 5e7, 1e8, 1e9];

/** The most important first. */
export function cityFeatures(places: readonly GeoNamesPlace[]): Feature[] {
  const cities = places
    .filter(({ population, featureCode }) => population >= POPULATION_MIN && !GONE.includes(featureCode))
    .sort((a, b) => weightOf(b) - weightOf(a) || a.id - b.id);
  const zooms = zoomsOf(cities);
  return cities.map((city, index) => {
    const { name, population, featureCode, longitude, latitude } = city;
    const isQuarter = featureCode === QUARTER;
    const properties = {
      name,
      kind: isQuarter ? "neighbourhood" : "locality",
      ...(isQuarter ? {} : { kind_detail: population >= 100_000 ? "city" : "town" }),
      ...(featureCode === CAPITAL ? { capital: "yes" } : {}),
      population_rank: RANKS.filter((people) => population >= people).length,
      min_zoom: zooms[index]!,
    };
    return { type: "Feature", properties, geometry: { type: "Point", coordinates: [longitude, latitude] } };
  });
}

function weightOf({ population, featureCode }: GeoNamesPlace): number {
  return featureCode === CAPITAL ? population * CAPITAL_COUNTS : population;
}

/** The first zoom of each at which no more important one is too near. */
function zoomsOf(cities: readonly GeoNamesPlace[]): number[] {
  const zooms = cities.map(() => ZOOM_OF_ALL);
  for (const [zoom, least] of POPULATION_BY_ZOOM) {
    const room = new Room(SPACING_PIXELS / (TILE_PIXELS * 2 ** zoom));
    for (const [index, city] of cities.entries()) {
      const isAsked = weightOf(city) >= least && (city.featureCode !== QUARTER || zoom >= ZOOM_OF_QUARTERS);
      if (zooms[index]! < zoom) room.take(city);
      else if (isAsked && room.isFree(city)) {
        zooms[index] = zoom;
        room.take(city);
      }
    }
  }
  return zooms;
}

/** Points of the map, none nearer to another than so many widths of the world. */
class Room {
  readonly #spacing: number;
  readonly #taken = new Map<string, [x: number, y: number][]>();

  constructor(spacing: number) {
    this.#spacing = spacing;
  }

  isFree({ longitude, latitude }: GeoNamesPlace): boolean {
    const [x, y] = [mercatorX(longitude), mercatorY(latitude)];
    for (let column = -1; column <= 1; column++) {
      for (let row = -1; row <= 1; row++) {
        const near = this.#taken.get(this.#cell(x + column * this.#spacing, y + row * this.#spacing)) ?? [];
        if (near.some((point) => Math.hypot(point[0] - x, point[1] - y) < this.#spacing)) return false;
      }
    }
    return true;
  }

  take({ longitude, latitude }: GeoNamesPlace): void {
    const [x, y] = [mercatorX(longitude), mercatorY(latitude)];
    const cell = this.#cell(x, y);
    const points = this.#taken.get(cell);
    if (points === undefined) this.#taken.set(cell, [[x, y]]);
    else points.push([x, y]);
  }

  #cell(x: number, y: number): string {
    return `${Math.floor(x / this.#spacing)} ${Math.floor(y / this.#spacing)}`;
  }
}
