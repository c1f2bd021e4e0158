import { GeoJSONVT, type GeoJSONVTTile } from "@maplibre/geojson-vt";
import { fromGeojsonVt } from "@maplibre/vt-pbf";
import type { Feature } from "geojson";
import { mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import type { Inputs } from "../../../src/runtime/inputs.ts";
import { createNodeInputs } from "../../../src/runtime/node-inputs.ts";
import { type WrittenTile, writePmtiles } from "../../system/world/pmtiles-writer.ts";

/* A piece of a city in the layers of a Protomaps basemap, version 4, as `pmtiles extract` would cut it out. */

/** Of Boston. */
export const STREETS_BOUNDS = [-71.1, 42.34, -71.04, 42.38] as const;
export const STREETS_ZOOMS = { min: 0, max: 14 } as const;
export const STREETS_CREDIT = "Protomaps © OpenStreetMap";

const [WEST, SOUTH, EAST, NORTH] = STREETS_BOUNDS;
const [MIDDLE_X, MIDDLE_Y] = [(WEST + EAST) / 2, (SOUTH + NORTH) / 2];

const LAYERS: Readonly<Record<string, readonly Feature[]>> = {
  earth: [box({ kind: "earth" }, WEST, SOUTH, EAST, NORTH)],
  landuse: [
    box({ kind: "park" }, WEST, SOUTH, MIDDLE_X - 0.012, MIDDLE_Y - 0.006),
    box({ kind: "residential" }, MIDDLE_X - 0.012, SOUTH, EAST, MIDDLE_Y),
  ],
  water: [
    box({ kind: "ocean" }, MIDDLE_X + 0.012, MIDDLE_Y, EAST, NORTH),
    line(
      { kind: "river", name: "Mill River" },
      [WEST, NORTH - 0.01],
      [MIDDLE_X, MIDDLE_Y],
      [MIDDLE_X + 0.02, NORTH],
    ),
    point({ kind: "bay", name: "Test Harbor" }, MIDDLE_X + 0.021, MIDDLE_Y + 0.01),
  ],
  roads: [
    line(
      { kind: "highway", kind_detail: "motorway", name: "Turnpike" },
      [WEST, SOUTH + 0.004],
      [EAST, NORTH - 0.022],
    ),
    line(
      { kind: "major_road", kind_detail: "primary", name: "Main Street" },
      [WEST, MIDDLE_Y + 0.004],
      [EAST, MIDDLE_Y - 0.004],
    ),
    line(
      { kind: "major_road", kind_detail: "tertiary", name: "Mill Street" },
      [MIDDLE_X, SOUTH],
      [MIDDLE_X, NORTH],
    ),
    ...[-3, -2, -1, 1, 2, 3].map((column) =>
      line(
        { kind: "minor_road", kind_detail: "residential", name: `Street ${column + 4}` },
        [MIDDLE_X + column * 0.004, SOUTH],
        [MIDDLE_X + column * 0.004, MIDDLE_Y],
      ),
    ),
    line(
      { kind: "path", kind_detail: "footway" },
      [WEST, SOUTH + 0.002],
      [MIDDLE_X - 0.012, MIDDLE_Y - 0.008],
    ),
    line({ kind: "rail", kind_detail: "rail" }, [WEST, MIDDLE_Y + 0.008], [EAST, MIDDLE_Y + 0.002]),
  ],
  buildings: [0, 1, 2, 3, 4].map((column) =>
    box(
      { kind: "building" },
      MIDDLE_X + 0.001 + column * 0.0012,
      MIDDLE_Y - 0.003,
      MIDDLE_X + 0.0018 + column * 0.0012,
      MIDDLE_Y - 0.0022,
    ),
  ),
  boundaries: [line({ kind: "county" }, [WEST, NORTH], [EAST, SOUTH])],
  places: [
    point(
      { kind: "locality", kind_detail: "city", name: "Boston", population_rank: 10, min_zoom: 3 },
      MIDDLE_X,
      MIDDLE_Y + 0.001,
    ),
    point({ kind: "neighbourhood", name: "South Bank", min_zoom: 12 }, MIDDLE_X + 0.012, MIDDLE_Y - 0.012),
  ],
};

export interface StreetsOptions {
  readonly metadata?: object;
}

/** The bytes of the archive. */
export function streetsFile({ metadata = {} }: StreetsOptions = {}): Uint8Array<ArrayBuffer> {
  const known = {
    name: "Protomaps Basemap",
    attribution: `<a href="https://github.com/protomaps/basemaps">Protomaps</a> &copy; <a href="https://openstreetmap.org">OpenStreetMap</a>`,
    vector_layers: Object.keys(LAYERS).map((id) => ({ id, fields: {} })),
  };
  return writePmtiles(cutStreets(), { ...known, ...metadata }, STREETS_BOUNDS);
}

function cutStreets(): WrittenTile[] {
  const options = { maxZoom: STREETS_ZOOMS.max, indexMaxZoom: STREETS_ZOOMS.max, indexMaxPoints: 0 };
  const indexes = Object.entries(LAYERS).map(([name, features]) => ({
    name,
    index: new GeoJSONVT({ type: "FeatureCollection", features: [...features] }, options),
  }));
  const tiles: WrittenTile[] = [];
  for (let z: number = STREETS_ZOOMS.min; z <= STREETS_ZOOMS.max; z++) {
    for (const [x, y] of addresses(z)) {
      const found: Record<string, GeoJSONVTTile> = {};
      for (const { name, index } of indexes) {
        const tile = index.getTile(z, x, y);
        if (tile !== null && tile.features.length > 0) found[name] = tile;
      }
      if (Object.keys(found).length > 0)
        tiles.push({ z, x, y, bytes: fromGeojsonVt(found, { version: 2, extent: 4096 }) });
    }
  }
  return tiles;
}

function addresses(z: number): [x: number, y: number][] {
  const column = (longitude: number) => Math.floor(mercatorX(longitude) * 2 ** z);
  const row = (latitude: number) => Math.floor(mercatorY(latitude) * 2 ** z);
  const found: [number, number][] = [];
  for (let x = column(WEST); x <= column(EAST); x++)
    for (let y = row(NORTH); y <= row(SOUTH); y++) found.push([x, y]);
  return found;
}

type Properties = Readonly<Record<string, string | number>>;

function box(properties: Properties, west: number, south: number, east: number, north: number): Feature {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Feature", properties, geometry: { type: "Polygon", coordinates: [ring] } };
}

function line(properties: Properties, ...coordinates: [number, number][]): Feature {
  return { type: "Feature", properties, geometry: { type: "LineString", coordinates } };
}

function point(properties: Properties, ...coordinates: [number, number]): Feature {
  return { type: "Feature", properties, geometry: { type: "Point", coordinates } };
}

/** A disk that has this file, by any name, and counts what is read of it. */
export function inputsWith(bytes: Uint8Array, counts = { reads: 0, open: 0 }): Inputs {
  return {
    ...createNodeInputs(),
    stat: async () => ({ kind: "file", sizeBytes: bytes.length, modifiedMs: 1 }),
    async open(path) {
      counts.open++;
      return {
        sizeBytes: bytes.length,
        path,
        async read(into, position) {
          counts.reads++;
          const piece = bytes.subarray(position, position + into.length);
          into.set(piece);
          return piece.length;
        },
        async close() {
          counts.open--;
        },
      };
    },
  };
}
