import KDBush from "kdbush";
import { LEAF_POINTS_MAX } from "../../../src/map/read-places.ts";

/** A place of GeoNames, in its words. */
export interface GeoNamesPlace {
  readonly id: number;
  readonly name: string;
  readonly country: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly population: number;
  readonly featureCode: string;
}

/** Abandoned, historical (the capital too) and destroyed: nobody is near them. */
export const GONE = ["PPLQ", "PPLH", "PPLCH", "PPLW"];

/** The text of data/places/cities.tsv: places that there are, one at a point, in the order of the tree. */
export function layOutPlaces(places: readonly GeoNamesPlace[]): string {
  const byPoint = new Map<string, GeoNamesPlace>();
  const largestFirst = places
    .filter(({ featureCode }) => !GONE.includes(featureCode))
    .toSorted((a, b) => b.population - a.population || a.id - b.id);
  for (const place of largestFirst) {
    const point = `${place.latitude} ${place.longitude}`;
    if (!byPoint.has(point)) byPoint.set(point, place);
  }
  const kept = [...byPoint.values()].sort((a, b) => a.id - b.id);
  const tree = new KDBush(kept.length, LEAF_POINTS_MAX);
  for (const { longitude, latitude } of kept) tree.add(longitude, latitude);
  tree.finish();
  const lines = Array.from(tree.ids, (id) => {
    const { latitude, longitude, country, name } = kept[id]!;
    return `${latitude.toFixed(5)}\t${longitude.toFixed(5)}\t${country}\t${name}\n`;
  });
  return `${kept.length}\n${lines.join("")}`;
}
