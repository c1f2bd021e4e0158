import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LayerSpecification, validateStyleMin } from "@maplibre/maplibre-gl-style-spec";
import { SPEED_BANDS } from "../../../../src/web/history/speed-line.ts";
import {
  DIRECTION_IMAGE,
  dayLineLayers,
  dayMarkLayers,
  directionImage,
} from "../../../../src/web/map/day-layers.ts";
import { PALETTES } from "../../../../src/web/map/palette.ts";

const CSS = readFileSync(join(import.meta.dir, "../../../../src/web/style/map.css"), "utf8");
const [DAY_CSS, NIGHT_CSS] = [CSS.indexOf(":root {"), CSS.indexOf(':root[data-theme="dark"] {')].map((from) =>
  CSS.slice(from, CSS.indexOf("}", from)),
);

type Rgb = readonly [number, number, number];

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255].map((each) => {
    const share = each / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
}

const luminance = ([red, green, blue]: Rgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Linear colors as seen without one kind of cone: Machado, Oliveira and Fernandes 2009, at full severity. */
const SIGHTS = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152, 1.053, -0.205],
    [0.115, 0.786, 0.099],
    [-0.004, -0.048, 1.052],
  ],
  deuteranopia: [
    [0.367, 0.861, -0.228],
    [0.28, 0.673, 0.047],
    [-0.012, 0.043, 0.969],
  ],
  tritanopia: [
    [1.256, -0.077, -0.179],
    [-0.078, 0.931, 0.148],
    [0.005, 0.691, 0.304],
  ],
} as const;

const seen = (color: Rgb, sight: keyof typeof SIGHTS): Rgb =>
  SIGHTS[sight].map((row) =>
    Math.min(1, Math.max(0, row[0] * color[0] + row[1] * color[1] + row[2] * color[2])),
  ) as unknown as Rgb;

describe.each([
  { theme: "light", css: DAY_CSS! },
  { theme: "dark", css: NIGHT_CSS! },
] as const)("the colors of speed by $theme", ({ theme, css }) => {
  const colorNamed = (name: string) => rgbOf(new RegExp(`${name}: (#[0-9a-f]{6})`).exec(css)![1]!);
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
