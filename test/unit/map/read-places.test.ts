import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { createPlacesLoader, readPlaces } from "../../../src/map/read-places.ts";
import { readTestData } from "../../support/test-data.ts";
import { turns } from "../../support/turns.ts";
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

const CITIES = new TextEncoder().encode(
  "2\n53.41058\t-2.97794\tGB\tLiverpool\n52.66472\t-8.62306\tIE\tLuimneach\n",
);

test("places are read when they are first asked for, once for all who ask meanwhile, and kept", async () => {
  const asked: string[] = [];
  const load = createPlacesLoader(async (specifier) => {
    asked.push(specifier);
    return CITIES;
  }, new Scheduler());
  expect(asked).toEqual([]);
  const [first, ...others] = await Promise.all(Array.from({ length: 100 }, load));
  expect(new Set(others)).toEqual(new Set([first!]));
  expect(load()).toBe(first!); // At once, from now on.
  expect(asked).toHaveLength(1);
  expect(asked[0]).toEndWith("/data/places/cities.tsv");
});

test("where the file can't be read everybody who waits is told, and the next one has it read again", async () => {
  const answers = [new Error("no such file"), new TextEncoder().encode("nothing"), CITIES];
  const load = createPlacesLoader(async () => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  }, new Scheduler());
  const failed = await Promise.allSettled([load(), load()]);
  for (const { status } of failed) expect(status).toBe("rejected");
  expect(async () => load()).toThrow("Cannot read the names of places");
  await turns();
  expect((await load()).nearest(53.41, -2.98)?.name).toBe("Liverpool");
  expect(answers).toEqual([]);
});
