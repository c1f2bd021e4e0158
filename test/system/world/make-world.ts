import { readCities } from "../../unit/map/read-cities.ts";
import { cityFeatures } from "./cities.ts";
import { countryLabels } from "./country-labels.ts";
import { cutTiles } from "./cut-tiles.ts";
import { writePmtiles } from "./pmtiles-writer.ts";
import { shapeLayers } from "./shapes.ts";

/** The bytes of data/map/world.pmtiles: always the same ones of the same packages. */
export function makeWorld(): Uint8Array<ArrayBuffer> {
  const places = { name: "places", features: [...countryLabels(), ...cityFeatures(readCities())] };
  const tiles = cutTiles([...shapeLayers(), places]);
  return writePmtiles(tiles, {
    name: "World",
    attribution: "Natural Earth, GeoNames (CC BY 4.0)",
    vector_layers: ["earth", "water", "boundaries", "places"].map((id) => ({ id, fields: {} })),
  });
}
