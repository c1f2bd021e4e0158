import { type Bounds, TILE_ZOOM_MAX } from "../../map/tile-file.ts";
import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import type { FlagRows } from "../arguments/flag-row.ts";
import { parseWholeNumber, ruled, type ValueKind } from "../arguments/value-kinds.ts";

/** The error does not repeat the address: its query may hold a secret. */
const ARCHIVE_URL: ValueKind<string> = {
  ...ruled("URL", "", (text) => text),
  parse: (text, name) =>
    isArchiveUrl(text)
      ? { ok: true, value: text }
      : {
          ok: false,
          error: `${name} must be the address of a PMTiles archive such as https://maps.example.org/planet.pmtiles`,
        },
};

function isArchiveUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.hash === "";
}

const PLACE = ruled("PLACE", "be the name of a place or its coordinates", (text) =>
  text.trim() === "" ? null : text.trim(),
);

const RADIUS_METERS_MAX = 500 * METERS_PER_MILE;
const RADIUS_METERS_DEFAULT = 20 * METERS_PER_MILE;
const UNIT_METERS: Readonly<Record<string, number>> = { mi: METERS_PER_MILE, km: 1000 };

const RADIUS: ValueKind<number> = {
  ...ruled("DISTANCE", "be a distance such as 20mi or 30km, at most 500mi", (text) => {
    const [, count, unit = ""] = /^(\d{1,3}(?:\.\d{1,2})?)(mi|km)$/.exec(text) ?? [];
    const meters = Number(count) * UNIT_METERS[unit]!;
    return meters > 0 && meters <= RADIUS_METERS_MAX ? meters : null;
  }),
  format: (meters) => `${meters / METERS_PER_MILE}mi`,
};

/** An area across ±180° would be one from there around the world. */
const BOX = ruled(
  "W,S,E,N",
  "be west, south, east and north in degrees such as -3.2,53.2,-2.7,53.6; an area across 180° needs two boxes",
  parseBox,
);

function parseBox(text: string): Bounds | null {
  const numbers = text.split(",").map((each) => (each.trim() === "" ? Number.NaN : Number(each)));
  if (numbers.length !== 4) return null;
  const [west, south, east, north] = numbers as [number, number, number, number];
  const isBox = west >= -180 && west < east && east <= 180 && south >= -90 && south < north && north <= 90;
  return isBox ? [west, south, east, north] : null;
}

const ZOOM = ruled("N", `be a whole number from 0 to ${TILE_ZOOM_MAX}`, (text) =>
  parseWholeNumber(text, 0, TILE_ZOOM_MAX),
);

export const MAP_FETCH_FLAGS = {
  url: {
    name: "from",
    takes: ARCHIVE_URL,
    required: true,
    does: "the PMTiles archive of a Protomaps basemap, on a server that answers range requests",
  },
  near: {
    name: "near",
    takes: PLACE,
    does: 'the middle of the area: a place such as "Liverpool, GB", or latitude,longitude',
  },
  radiusMeters: {
    name: "radius",
    takes: RADIUS,
    goesWith: "near",
    default: RADIUS_METERS_DEFAULT,
    does: "how far the area reaches from there: 20mi, 30km",
  },
  box: { name: "bbox", takes: BOX, does: "the area as west,south,east,north, instead of --near" },
  maxZoom: {
    name: "max-zoom",
    takes: ZOOM,
    otherwise: "all of the archive",
    does: "copy no zoom above this one; each zoom less halves the size or more",
  },
  yes: { name: "yes", does: "copy without a question" },
} as const satisfies FlagRows;
