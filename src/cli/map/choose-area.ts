import { fail, ok, type Result } from "../../lib/result.ts";
import { countryName, findPlaces, type NamedPlace } from "../../map/find-places.ts";
import { MERCATOR_LATITUDE_MAX } from "../../map/mercator.ts";
import type { Bounds } from "../../map/tile-file.ts";
import { circleBoxes, isOnEarth } from "../../model/geo/box.ts";
import { formatTable } from "../screen/layout.ts";
import type { NamedArea } from "./command.ts";

/** An area to copy. */
export interface ChosenArea {
  readonly bounds: Bounds;
  /** In words. */
  readonly label: string;
  /** For the name of its file: letters, digits, dots and dashes. */
  readonly slug: string;
}

/** How many places of the same name are listed. */
const LISTED_MAX = 20;

/** The area, or why it is unknown and what to enter instead. `places` is the content of data/places. */
export function chooseArea(area: NamedArea, places: Uint8Array): Result<ChosenArea, string> {
  if (area.kind === "box") {
    const text = area.bounds.join(",");
    return ok({ bounds: onMap(area.bounds), label: `box ${text}`, slug: `box_${text.replaceAll(",", "_")}` });
  }
  const { place: text, radiusMeters } = area;
  const coordinates = parseCoordinates(text);
  const middle = coordinates === null ? choosePlace(text, places) : ok(coordinates);
  if (!middle.ok) return middle;
  const { latitude, longitude, label, slug } = middle.value;
  const [box, other] = circleBoxes(latitude, longitude, radiusMeters);
  if (other !== undefined) return fail(`The area around ${label} crosses 180°: copy each side with --bbox.`);
  const { minLongitude, minLatitude, maxLongitude, maxLatitude } = box!;
  return ok({ bounds: onMap([minLongitude, minLatitude, maxLongitude, maxLatitude]), label, slug });
}

/** The map ends at 85° north and south. */
function onMap([west, south, east, north]: Bounds): Bounds {
  return [west, Math.max(south, -MERCATOR_LATITUDE_MAX), east, Math.min(north, MERCATOR_LATITUDE_MAX)];
}

interface Middle {
  readonly latitude: number;
  readonly longitude: number;
  readonly label: string;
  readonly slug: string;
}

function parseCoordinates(text: string): Middle | null {
  const [, latitude, longitude] = /^(-?\d{1,2}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)$/.exec(text) ?? [];
  if (latitude === undefined || !isOnEarth(Number(latitude), Number(longitude))) return null;
  const label = `${latitude}, ${longitude}`;
  return {
    latitude: Number(latitude),
    longitude: Number(longitude),
    label,
    slug: `${latitude}_${longitude}`,
  };
}

/** `Liverpool`, `Liverpool, GB`, `Liverpool, United Kingdom`. */
function choosePlace(text: string, file: Uint8Array): Result<Middle, string> {
  const comma = text.lastIndexOf(",");
  const [name, country] =
    comma === -1 ? [text, null] : [text.slice(0, comma).trim(), text.slice(comma + 1).trim()];
  const { places, similar } = findPlaces(file, name, country);
  if (places.length === 0) {
    const where = country === null ? "" : ` in "${country}"`;
    const hint = similar.length === 0 ? "" : ` Similar names: ${similar.join(", ")}.`;
    return fail(`No place${where} has the name "${name}".${hint} --near also accepts latitude,longitude.`);
  }
  if (places.length > 1) return fail(ambiguityText(name, places));
  const [place] = places;
  const label = `${place!.name}, ${place!.country}`;
  return ok({ ...place!, label, slug: slugOf(`${place!.name} ${place!.country}`) });
}

function ambiguityText(name: string, places: readonly NamedPlace[]): string {
  const byCountry = [...places].sort((a, b) => (countryName(a.country) < countryName(b.country) ? -1 : 1));
  const rows = byCountry
    .slice(0, LISTED_MAX)
    .map(({ name: spelling, country, latitude, longitude }) => [
      `${spelling}, ${country}`,
      countryName(country),
      `${latitude.toFixed(3)},${longitude.toFixed(3)}`,
    ]);
  const more = places.length > LISTED_MAX ? `and ${places.length - LISTED_MAX} more\n` : "";
  const table = formatTable(["place", "country", "coordinates"], rows);
  const advice = `Give --near the place with its country, such as "${rows[0]![0]}", or the coordinates.`;
  return `${places.length} places have the name "${name}":\n${table}${more}${advice}`;
}

function slugOf(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-");
}
