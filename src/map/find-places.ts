/* Finds places by their names in data/places/cities.tsv. */

export interface NamedPlace {
  readonly name: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly latitude: number;
  readonly longitude: number;
}

export interface FoundPlaces {
  readonly places: readonly NamedPlace[];
  /** If there is no place: the most similar names, best first. */
  readonly similar: readonly string[];
}

const SIMILAR_MAX = 5;

/** Places with this name, whatever its case and accents. `country` is a code or a name; null accepts any. */
export function findPlaces(file: Uint8Array, name: string, country: string | null): FoundPlaces {
  const wanted = folded(name);
  const lines = new TextDecoder().decode(file).split("\n").slice(1);
  const all = lines.filter((line) => line !== "").map(placeOf);
  const inCountry = country === null ? all : all.filter((place) => isIn(place, folded(country)));
  const places = inCountry.filter((place) => folded(place.name) === wanted);
  return { places, similar: places.length > 0 ? [] : similarNames(inCountry, wanted) };
}

/** The English name of a country; its code if it has none. */
export function countryName(code: string): string {
  return COUNTRY_NAMES.of(code) ?? code;
}

const COUNTRY_NAMES = new Intl.DisplayNames("en", { type: "region" });

function placeOf(line: string): NamedPlace {
  const [latitude, longitude, country, name] = line.split("\t");
  return { name: name!, country: country!, latitude: Number(latitude), longitude: Number(longitude) };
}

function isIn({ country }: NamedPlace, wanted: string): boolean {
  return country.toLowerCase() === wanted || folded(countryName(country)) === wanted;
}

function similarNames(places: readonly NamedPlace[], wanted: string): string[] {
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3));
  const distances = new Map<string, number>();
  for (const { name } of places) {
    if (distances.has(name)) continue;
    const text = folded(name);
    if (Math.abs(text.length - wanted.length) > distanceMax) continue;
    const distance = editDistance(text, wanted);
    if (distance <= distanceMax) distances.set(name, distance);
  }
  const sorted = [...distances].sort(([a, near], [b, far]) => near - far || (a < b ? -1 : 1));
  return sorted.slice(0, SIMILAR_MAX).map(([name]) => name);
}

/** Letters without case and accents, words separated by single blanks. */
function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** How many letters have to be added, removed, replaced or swapped with the next one (Damerau-Levenshtein). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let distance = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) distance = Math.min(distance, before[j - 2]! + 1);
      row.push(distance);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
