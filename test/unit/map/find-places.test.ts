import { expect, test } from "bun:test";
import { countryName, findPlaces } from "../../../src/map/find-places.ts";

const FILE = new TextEncoder().encode(
  [
    "7",
    "53.41058\t-2.97794\tGB\tLiverpool",
    "-33.90011\t150.93328\tAU\tLiverpool",
    "43.10645\t-76.2177\tUS\tLiverpool",
    "47.36667\t8.55\tCH\tZürich",
    "41.38879\t2.15899\tES\tBarcelona",
    "10.13625\t-64.68618\tVE\tBarcelona",
    "38.35099\t-81.63262\tUS\tCharleston",
    "",
  ].join("\n"),
);

const found = (name: string, country: string | null = null) =>
  findPlaces(FILE, name, country).places.map(({ country }) => country);

test("a name is found whatever its case and accents, everywhere it is", () => {
  expect(found("liverpool")).toEqual(["GB", "AU", "US"]);
  expect(findPlaces(FILE, "ZURICH", null).places).toEqual([
    { name: "Zürich", country: "CH", latitude: 47.36667, longitude: 8.55 },
  ]);
});

test("a country by its code or its name leaves those in it", () => {
  expect(found("Liverpool", "gb")).toEqual(["GB"]);
  expect(found("Liverpool", "United States")).toEqual(["US"]);
  expect(found("Liverpool", "FR")).toEqual([]);
  expect(countryName("VE")).toBe("Venezuela");
});

test("a wrong spelling has the nearest names, each once, best first", () => {
  const similar = (name: string) => findPlaces(FILE, name, null).similar;
  expect(similar("Liverpol")).toEqual(["Liverpool"]);
  expect(similar("Livrepool")).toEqual(["Liverpool"]);
  expect(similar("Barcelna")).toEqual(["Barcelona"]);
  expect(similar("Xyz")).toEqual([]);
  expect(similar("Liverpool")).toEqual([]);
});
