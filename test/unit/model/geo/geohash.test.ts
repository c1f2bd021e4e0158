import { describe, expect, test } from "bun:test";
import { geohashBox, geohashCell } from "../../../../src/model/geo/geohash.ts";
import { geohashText, parseGeohash } from "../../../support/reports/geohash-text.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";

describe("geohashCell()", () => {
  test("gives 4,096 published texts, at every length up to ten", () => {
    const text = readTestData("geodesy/geohash_encode.csv");
    if (text === null) return;
    const rows = csvRows(text);
    expect(rows).toHaveLength(4096);
    for (const [expected, latitude, longitude] of rows) {
      for (let characters = 1; characters <= 10; characters++) {
        const bits = characters * 5;
        const cell = geohashCell(Number(latitude), Number(longitude), bits);
        expect(geohashText(cell, bits)).toBe(expected!.slice(0, characters));
      }
    }
  });

  test("is the start of 4,096 published 64-bit numbers, at every bit count", () => {
    const text = readTestData("geodesy/geohash_encode.csv");
    if (text === null) return;
    for (const [, latitude, longitude, int64] of csvRows(text)) {
      const full = BigInt(int64!); // A double would round it.
      for (let bits = 1; bits <= 52; bits++) {
        expect(geohashCell(Number(latitude), Number(longitude), bits)).toBe(
          Number(full >> BigInt(64 - bits)),
        );
      }
    }
  });

  test("puts the greatest latitude and longitude into the last row and column", () => {
    for (let bits = 2; bits <= 52; bits++) {
      expect(geohashCell(90, 180, bits)).toBe(2 ** bits - 1);
      expect(geohashCell(-90, -180, bits)).toBe(0);
    }
  });
});

describe("geohashBox()", () => {
  test("gives 4,096 published boxes; longer geohashes than ours lie inside", () => {
    const text = readTestData("geodesy/geohash_decode_boxes.csv");
    if (text === null) return;
    const rows = csvRows(text);
    expect(rows).toHaveLength(4096);
    for (const [geohash, minLat, maxLat, minLon, maxLon] of rows) {
      const { cell, bits } = parseGeohash(geohash!.slice(0, 10))!;
      const box = geohashBox(cell, bits);
      if (geohash!.length > 10) {
        const rounding = 1e-9; // Theirs have 12 digits.
        expect(
          box.minLatitude - rounding <= Number(minLat) && box.maxLatitude + rounding >= Number(maxLat),
        ).toBe(true);
        expect(
          box.minLongitude - rounding <= Number(minLon) && box.maxLongitude + rounding >= Number(maxLon),
        ).toBe(true);
        continue;
      }
      expect(box.minLatitude).toBeCloseTo(Number(minLat), 9);
      expect(box.maxLatitude).toBeCloseTo(Number(maxLat), 9);
      expect(box.minLongitude).toBeCloseTo(Number(minLon), 9);
      expect(box.maxLongitude).toBeCloseTo(Number(maxLon), 9);
    }
  });

  test("shares its edges with the eight cells around it, as published", () => {
    const text = readTestData("geodesy/geohash_neighbors.csv");
    if (text === null) return;
    const steps = [
      [1, 0],
      [1, 1],
      [0, 1],
      [-1, 1],
      [-1, 0],
      [-1, -1],
      [0, -1],
      [1, -1],
    ] as const; // n, ne, e, …
    let checked = 0;
    for (const [latitude, longitude, geohash, ...expected] of csvRows(text)) {
      const bits = geohash!.length * 5;
      const cell = geohashCell(Number(latitude), Number(longitude), bits);
      expect(geohashText(cell, bits)).toBe(geohash!);
      const box = geohashBox(cell, bits);
      for (const [i, [north, east]] of steps.entries()) {
        const lat = (box.minLatitude + box.maxLatitude) / 2 + north * (box.maxLatitude - box.minLatitude);
        const lon = (box.minLongitude + box.maxLongitude) / 2 + east * (box.maxLongitude - box.minLongitude);
        if (Math.abs(lat) > 90 || Math.abs(lon) > 180) continue;
        expect(geohashText(geohashCell(lat, lon, bits), bits)).toBe(expected[i]!);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(7_900);
  });
});

describe("parseGeohash()", () => {
  test("undoes geohashText()", () => {
    expect(parseGeohash("9q8yyk8ytp")).toEqual({ cell: geohashCell(37.7749, -122.4194, 50), bits: 50 });
    expect(parseGeohash("0")).toEqual({ cell: 0, bits: 5 });
  });

  test("refuses other text", () => {
    for (const text of ["", "a", "9q8i", "9Q", "9q ", "9q8yyk8ytpv"]) expect(parseGeohash(text)).toBeNull();
  });
});
