import { describe, expect, test } from "bun:test";
import { type Address, addressText, parseAddress } from "../../../../src/web/page/address.ts";
import { type LocalDay, VISITOR_SPANS } from "../../../../src/web/time/local-day.ts";
import * as fc from "../../../support/fast-check.ts";

const NOTHING: Address = { device: null, day: null, span: null, zone: null, place: null };

test("says what is looked at, so that people can read it", () => {
  const address: Address = {
    device: "bus 4836/ä&b",
    day: "2026-11-21" as LocalDay,
    span: "week",
    zone: "America/New_York",
    place: { latitude: 42.360123456, longitude: -71.0589, zoom: 12.3456 },
  };
  expect(addressText(address)).toBe(
    "?device=bus%204836/%C3%A4%26b&day=2026-11-21&span=week&zone=America/New_York&at=42.36012,-71.05890,12.35",
  );
});

test("is empty where everything is as it is at first", () => {
  expect(addressText(NOTHING)).toBe("");
  expect(parseAddress("")).toEqual(NOTHING);
});

test("has no day without a device", () => {
  expect(addressText({ ...NOTHING, day: "2026-11-21" as LocalDay, span: "year" })).toBe("");
});

describe("what makes no sense is left out", () => {
  test.each([
    "?day=2026-02-30",
    "?span=decade",
    "?at=91,0,3",
    "?at=1,2",
    "?at=1,181,3",
    "?at=1,2,99",
    "?at=a,b,c",
    "?device=",
    "?key=wh_x",
  ])("%s", (search) => expect(parseAddress(search)).toEqual(NOTHING));
});

test("reads what it writes", () => {
  const places = fc.record({
    latitude: fc.integer({ min: -9_000_000, max: 9_000_000 }).map((value) => value / 1e5),
    longitude: fc.integer({ min: -18_000_000, max: 18_000_000 }).map((value) => value / 1e5),
    zoom: fc.integer({ min: 0, max: 2200 }).map((value) => value / 100),
  });
  const addresses: fc.Arbitrary<Address> = fc.record({
    device: fc.string({ minLength: 1, unit: "grapheme" }),
    day: fc.constantFrom(null, "2026-11-21" as LocalDay),
    span: fc.constantFrom(null, ...VISITOR_SPANS.map(({ name }) => name)),
    zone: fc.constantFrom(null, "Europe/Berlin", "Etc/GMT+5"),
    place: fc.option(places),
  });
  const property = fc.property(addresses, (address) => {
    const read = parseAddress(addressText(address));
    const zero = (place: Address["place"]) =>
      place && { latitude: place.latitude + 0, longitude: place.longitude + 0, zoom: place.zoom };
    expect({ ...read, place: zero(read.place) }).toEqual({ ...address, place: zero(address.place) });
  });
  fc.assert(property);
});
