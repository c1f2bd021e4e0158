import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { readPlaces } from "../../../src/map/read-places.ts";
import { readTestData } from "../../support/test-data.ts";
import { layOutPlaces } from "./lay-out-places.ts";

const FILE = new URL("../../../data/places/cities.tsv", import.meta.url);

function read(text: string) {
  const steps = readPlaces(new TextEncoder().encode(text));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

test("coordinates are read as they are written, with every sign", () => {
  const places = read(
    "3\n-54.80191\t-68.30295\tAR\tUshuaia\n0.00001\t179.99999\tFJ\tEast\n-0.50000\t-0.00001\tGB\tÉ b\n",
  );
  for (const [latitude, longitude, name] of [
    [-54.80191, -68.30295, "Ushuaia"],
    [0.00001, 179.99999, "East"],
    [-0.5, -0.00001, "É b"],
  ] as const) {
    expect(places.nearest(latitude, longitude)).toMatchObject({ name, meters: 0 });
  }
});

describe("what is no file of places is refused", () => {
  test.each([
    ["nothing", ""],
    ["no count", "many\n1.00000\t2.00000\tGB\tHere\n"],
    ["none", "0\n"],
    ["fewer places", "2\n1.00000\t2.00000\tGB\tHere\n"],
    ["more places", "1\n1.00000\t2.00000\tGB\tHere\n1.00000\t2.00000\tGB\tThere\n"],
    ["a last line that is cut", "1\n1.00000\t2.00000\tGB\tHe"],
    ["a place in the wrong units", "1\n100000\t200000000\tGB\tHere\n"],
    ["a place off the earth", "1\n91.00000\t2.00000\tGB\tHere\n"],
  ])("%s", (_what, text) => {
    expect(() => read(text)).toThrow();
  });
});

test("no step of reading all places reads more than 512", async () => {
  const steps = readPlaces(await Bun.file(FILE).bytes());
  let count = 0;
  while (steps.next().done !== true) count++;
  expect(count).toBeGreaterThan(135_000 / 512);
});

test("the file is what GeoNames' cities become", async () => {
  const text = readTestData("points/cities_geonames.csv.gz");
  if (text === null) return;
  const rows = parse<Readonly<Record<string, string>>>(text, { columns: true });
  const places = rows.map(({ id, name, country, latitude, longitude, population, feature_code }) => ({
    id: Number(id),
    name: name!,
    country: country!,
    latitude: Number(latitude),
    longitude: Number(longitude),
    population: Number(population),
    featureCode: feature_code!,
  }));
  expect(layOutPlaces(places) === (await Bun.file(FILE).text())).toBeTrue();
});
