import { describe, expect, test } from "bun:test";
import { type LayerSpecification, validateStyleMin } from "@maplibre/maplibre-gl-style-spec";
import { SPEED_BANDS } from "../../../../src/web/history/speed-line.ts";
import {
  DIRECTION_IMAGE,
  dayLineLayers,
  dayMarkLayers,
  directionImage,
} from "../../../../src/web/map/day-layers.ts";
import { PALETTES } from "../../../../src/web/map/palette.ts";
import { contrast, rgbOf, SIGHTS, seen, THEMES } from "./theme-colors.ts";

describe.each(THEMES)("the colors of speed by $theme", ({ theme, colorNamed }) => {
  const speeds = Array.from({ length: SPEED_BANDS }, (_, band) => colorNamed(`--speed-${band + 1}`));

  test("differ from the line's edge by 3:1", () => {
    const ratios = speeds.map((speed) => contrast(speed, colorNamed("--map-edge")));
    expect(ratios.filter((ratio) => ratio < 3)).toEqual([]);
  });

  test("stand out more on the land the faster it is", () => {
    const ratios = speeds.map((speed) => contrast(speed, rgbOf(PALETTES[theme].land)));
    expect(ratios).toEqual([...ratios].sort((a, b) => a - b));
  });

  test.each(Object.keys(SIGHTS) as (keyof typeof SIGHTS)[])(
    "are told apart by lightness alone: %s",
    (sight) => {
      const steps = speeds
        .slice(1)
        .map((speed, band) => contrast(seen(speed, sight), seen(speeds[band]!, sight)));
      expect(steps.filter((step) => step < 1.2)).toEqual([]);
    },
  );
});

test("the layers are valid", () => {
  const gray = [0.5, 0.5, 0.5] as const;
  const colors = { fresh: gray, aging: gray, old: gray, edge: gray, accent: gray, text: gray };
  const whole = { ...colors, density: [], speeds: Array(SPEED_BANDS).fill(gray) };
  const layers: LayerSpecification[] = [...dayLineLayers(whole), ...dayMarkLayers(whole)];
  const data: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };
  const sources = Object.fromEntries(
    layers.flatMap((layer) =>
      "source" in layer ? [[layer.source, { type: "geojson", data } as const]] : [],
    ),
  );
  const faults = validateStyleMin({ version: 8, sources, layers });
  // Letters are drawn with the machine's fonts, so there are no glyphs.
  expect(faults.filter(({ message }) => !message.includes("glyphs"))).toEqual([]);
  expect(JSON.stringify(layers)).toContain(`"icon-image":"${DIRECTION_IMAGE}"`);
});

test("a direction mark is a chevron that points up, the same on both sides", () => {
  const { width, height, data } = directionImage();
  const isFilled = (x: number, y: number) => data[4 * (y * width + x) + 3]! >= 0.75 * 255;
  const rows = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => isFilled(x, y)),
  );
  for (const row of rows) expect(row).toEqual([...row].reverse());
  const filled = rows.flatMap((row, y) => (row.includes(true) ? [y] : []));
  const widthAt = (y: number) => rows[y]!.lastIndexOf(true) - rows[y]!.indexOf(true);
  expect(filled.length).toBeGreaterThan(10);
  expect(widthAt(filled[0]!)).toBeLessThan(widthAt(filled.at(-3)!));
  expect(rows[filled.at(-3)!]![width / 2]).toBe(false);
});
