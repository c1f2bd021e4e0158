import type { Feature, Polygon, Position } from "geojson";
import { feature } from "topojson-client";
import { mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import { COUNTRIES, isCountry, readShapes } from "./shapes.ts";
import { wholePolygon } from "./whole-rings.ts";

/* Names of countries, each in the middle of its largest part. */

/** What Natural Earth shortens, and what has another name by now. */
const NAMES: Readonly<Record<string, string>> = {
  "Antigua and Barb.": "Antigua and Barbuda",
  "Bosnia and Herz.": "Bosnia and Herzegovina",
  "Br. Indian Ocean Ter.": "British Indian Ocean Territory",
  "Central African Rep.": "Central African Republic",
  "Dem. Rep. Congo": "DR Congo",
  "Dominican Rep.": "Dominican Republic",
  "Eq. Guinea": "Equatorial Guinea",
  "Faeroe Is.": "Faroe Islands",
  "Fr. Polynesia": "French Polynesia",
  "Fr. S. Antarctic Lands": "French Southern Lands",
  "Heard I. and McDonald Is.": "Heard and McDonald Islands",
  "N. Mariana Is.": "Northern Mariana Islands",
  "S. Geo. and the Is.": "South Georgia",
  "S. Sudan": "South Sudan",
  "St. Kitts and Nevis": "Saint Kitts and Nevis",
  "St. Pierre and Miquelon": "Saint Pierre and Miquelon",
  "St. Vin. and Gren.": "Saint Vincent and the Grenadines",
  "St-Barthélemy": "Saint Barthélemy",
  "St-Martin": "Saint Martin",
  "Turks and Caicos Is.": "Turks and Caicos Islands",
  "U.S. Minor Outlying Is.": "US Minor Outlying Islands",
  "U.S. Virgin Is.": "US Virgin Islands",
  "W. Sahara": "Western Sahara",
  "Wallis and Futuna Is.": "Wallis and Futuna",
  eSwatini: "Eswatini",
  Macao: "Macau",
  Macedonia: "North Macedonia",
  "United States of America": "United States",
};

const LETTER_PIXELS = 8;
const TILE_PIXELS = 512;
const ZOOMS = { min: 1, max: 6 };

/** The largest first. */
export function countryLabels(): Feature[] {
  const topology = readShapes(COUNTRIES);
  const largest = new Map<string, LabelledPart>();
  for (const country of feature(topology, topology.objects.countries!).features) {
    if (!isCountry(country)) continue;
    const { id, properties, geometry } = country;
    const name = properties.name ?? "";
    const key = String(id ?? name); // Some numbers have several shapes: Australia and its reefs.
    for (const polygon of polygonsOf(geometry)) {
      const part = { name: NAMES[name] ?? name.replace(/ Is\.$/, " Islands"), ...projected(polygon) };
      if (part.area > (largest.get(key)?.area ?? 0)) largest.set(key, part);
    }
  }
  return [...largest.values()].sort((a, b) => b.area - a.area).map(labelOf);
}

/** A ring of the map, x and y of 0 to 1. */
interface MapRing {
  readonly ring: readonly Position[];
  readonly area: number;
}

interface LabelledPart extends MapRing {
  readonly name: string;
}

function polygonsOf(geometry: Feature["geometry"]): Polygon[] {
  if (geometry.type === "Polygon") return [wholePolygon(geometry)];
  if (geometry.type !== "MultiPolygon") return [];
  return geometry.coordinates.map((coordinates) => wholePolygon({ type: "Polygon", coordinates }));
}

function projected({ coordinates }: Polygon): MapRing {
  const ring = coordinates[0]!.map(([longitude, latitude]) => [mercatorX(longitude!), mercatorY(latitude!)]);
  let doubled = 0;
  for (const [index, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(index + 1) % ring.length]!;
    doubled += x! * nextY! - nextX! * y!;
  }
  return { ring, area: Math.abs(doubled) / 2 };
}

function labelOf({ name, ring }: LabelledPart): Feature {
  const { x, y, radius } = middleOf(thinned(ring));
  const widthNeeded = (name.length * LETTER_PIXELS) / TILE_PIXELS;
  const zoom = Math.ceil(Math.log2(widthNeeded / (4 * radius)));
  const min_zoom = Math.min(ZOOMS.max, Math.max(ZOOMS.min, zoom));
  const longitude = x * 360 - 180;
  const latitude = (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
  const coordinates = [longitude > 180 ? longitude - 360 : longitude, latitude];
  return {
    type: "Feature",
    properties: { name, kind: "country", min_zoom },
    geometry: { type: "Point", coordinates },
  };
}

/** Points of a ring that its middle is looked for by: a coast has 80,000. */
const POINTS_MAX = 500;

function thinned(ring: readonly Position[]): readonly Position[] {
  const every = Math.ceil(ring.length / POINTS_MAX);
  return ring.filter((_, index) => index % every === 0);
}

const GRID = 16;
const ROUNDS = 4;

/** About the point that is farthest from the ring, found on grids that are finer and finer around the best so far. */
function middleOf(ring: readonly Position[]) {
  const xs = ring.map(([x]) => x!);
  const ys = ring.map(([, y]) => y!);
  let [west, east, north, south] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  let best = { x: (west + east) / 2, y: (north + south) / 2, radius: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const [width, height] = [(east - west) / GRID, (south - north) / GRID];
    for (let index = 0; index < GRID * GRID; index++) {
      const x = west + ((index % GRID) + 0.5) * width;
      const y = north + (Math.floor(index / GRID) + 0.5) * height;
      const radius = depth(x, y, ring);
      if (radius > best.radius) best = { x, y, radius };
    }
    [west, east] = [best.x - 2 * width, best.x + 2 * width];
    [north, south] = [best.y - 2 * height, best.y + 2 * height];
  }
  return best;
}

/** How far inside the ring a point is; 0 outside. */
function depth(x: number, y: number, ring: readonly Position[]): number {
  let isInside = false;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [index, [fromX, fromY]] of ring.entries()) {
    const [toX, toY] = ring[(index + 1) % ring.length]!;
    const crosses = fromY! > y !== toY! > y;
    if (crosses && x < ((toX! - fromX!) * (y - fromY!)) / (toY! - fromY!) + fromX!) isInside = !isInside;
    nearest = Math.min(nearest, Math.hypot(fromX! - x, fromY! - y));
  }
  return isInside ? nearest : 0;
}
