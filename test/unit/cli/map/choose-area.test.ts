import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseArea } from "../../../../src/cli/map/choose-area.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";

const PLACES = readFileSync(join(import.meta.dir, "../../../../data/places/cities.tsv"));

function near(place: string, miles = 20) {
  return chooseArea({ kind: "near", place, radiusMeters: miles * METERS_PER_MILE }, PLACES);
}

test("an area around a place reaches as far as the radius on all sides", () => {
  const area = near("Liverpool, GB");
  expect(area).toMatchObject({ ok: true, value: { label: "Liverpool, GB", slug: "liverpool-gb" } });
  const [west, south, east, north] = area.ok ? area.value.bounds : [];
  expect([west, south, east, north].map((each) => each!.toFixed(2))).toEqual([
    "-3.46",
    "53.12",
    "-2.49",
    "53.70",
  ]);
  expect(near("Liverpool, United Kingdom")).toEqual(area);
  expect(near("53.41058,-2.97794")).toMatchObject({
    ok: true,
    value: { bounds: [west, south, east, north], slug: "53.41058_-2.97794" },
  });
});

test("a name of several places is listed with countries and coordinates", () => {
  const area = near("Liverpool");
  const text = area.ok ? "" : area.error;
  expect(text).toMatch(/^\d+ places have the name "Liverpool":\n/);
  expect(text).toMatch(/Liverpool, AU +Australia +-33\.\d{3},150\.\d{3}\n/);
  expect(text).toMatch(/Liverpool, GB +United Kingdom +53\.\d{3},-2\.\d{3}\n/);
  expect(text).toContain(
    'Give --near the place with its country, such as "Liverpool, AU", or the coordinates.',
  );
});

test("a name of no place has similar ones", () => {
  expect(near("Livrepool, GB")).toEqual({
    ok: false,
    error: expect.stringMatching(/^No place in "GB" has the name "Livrepool"\. Similar names: Liverpool/),
  });
});

test("an area across 180° has to be copied by its halves, and one at a pole ends where the map does", () => {
  expect(near("-16.8,179.9")).toEqual({
    ok: false,
    error: "The area around -16.8, 179.9 crosses 180°: copy each side with --bbox.",
  });
  const box = chooseArea({ kind: "box", bounds: [-3.1, 70, -2, 90] }, PLACES);
  expect(box).toMatchObject({ ok: true, value: { slug: "box_-3.1_70_-2_90" } });
  expect(box.ok && box.value.bounds[3]).toBeCloseTo(85.0511, 3);
});
