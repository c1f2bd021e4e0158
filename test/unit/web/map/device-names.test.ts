import { expect, test } from "bun:test";
import { type LayerSpecification, validateStyleMin } from "@maplibre/maplibre-gl-style-spec";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { DotBuffer, type DotView } from "../../../../src/web/gl/dot-buffer.ts";
import type { MapColors } from "../../../../src/web/gl/map-colors.ts";
import { deviceNameLayer, namedRows, shortName } from "../../../../src/web/map/device-names.ts";
import { type Dot, tableOf } from "../gl/dot-fleet.ts";

const PIXEL = 2 ** 32 / (512 * 2 ** 12);

/** A map of 1,200 by 800 pixels at zoom 12. */
function viewAt(latitude: number, longitude: number): DotView {
  return { center: [worldX(longitude), worldY(latitude)], reach: [600 * PIXEL, 400 * PIXEL], pixel: PIXEL };
}

function fleet(dots: readonly Omit<Dot, "timestamp">[], shown: readonly number[] | null = null): DotBuffer {
  const table = tableOf(dots.map((dot) => ({ ...dot, timestamp: 1 })));
  if (shown !== null) table.showOnly(Uint32Array.from(shown));
  const buffer = new DotBuffer();
  buffer.update(table, { kind: "all" }, 0);
  return buffer;
}

test("near devices in view have names, also across ±180°, and those that the filter hides have none", () => {
  const dots = [179.99, -179.99, 179.5, -179.95].map((longitude) => ({ latitude: -17, longitude }));
  expect(namedRows(fleet(dots), viewAt(-17, 180), true, null)).toEqual([0, 1, 3]);
  expect(namedRows(fleet(dots, [1, 2]), viewAt(-17, 180), true, null)).toEqual([1]);
  expect(namedRows(fleet(dots), viewAt(-16, 180), true, null)).toEqual([]);
});

test("the chosen device has a name first, at any zoom and once", () => {
  const buffer = fleet([50, 50, 50].map((latitude) => ({ latitude, longitude: 8 })));
  expect(namedRows(buffer, viewAt(50, 8), true, 1)).toEqual([1, 0, 2]);
  expect(namedRows(buffer, viewAt(50, 8), false, 1)).toEqual([1]);
  expect(namedRows(buffer, viewAt(50, 8), false, null)).toEqual([]);
  expect(namedRows(buffer, viewAt(50, 8), true, 3)).toEqual([0, 1, 2]); // A device that has gone.
});

test("of many devices in view at most one for each part of the view has a name", () => {
  const many = Array.from({ length: 5000 }, (_, row) => ({
    latitude: 50 + ((row * 0.6180339) % 1) * 0.05,
    longitude: 8 + ((row * 0.7548776) % 1) * 0.1,
  }));
  const rows = namedRows(fleet(many), viewAt(50.025, 8.05), true, 4999);
  expect(rows[0]).toBe(4999);
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.length).toBeLessThanOrEqual(241);
});

test("a name is one line of at most 24 characters, whatever it contains", () => {
  expect(shortName("van 7")).toBe("van 7");
  expect(shortName("a\n<b>\t{name}")).toBe("a <b> {name}");
  expect(shortName("x".repeat(24))).toBe("x".repeat(24));
  expect(shortName("🚌".repeat(30))).toBe(`${"🚌".repeat(23)}…`);
});

test("the layer of names is valid", () => {
  const color = [0, 0.5, 1] as const;
  const colors = { text: color, edge: color } as unknown as MapColors;
  const source = { type: "geojson" as const, data: { type: "FeatureCollection" as const, features: [] } };
  const layers: LayerSpecification[] = [deviceNameLayer(colors) as LayerSpecification];
  expect(validateStyleMin({ version: 8, sources: { "device-names": source }, layers })).toEqual([]);
});
