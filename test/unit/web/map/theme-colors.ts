import { readFileSync } from "node:fs";
import { join } from "node:path";

/* The map's own colors, and how they are seen. */

const CSS = readFileSync(join(import.meta.dir, "../../../../src/web/style/map.css"), "utf8");
const [DAY_CSS, NIGHT_CSS] = [CSS.indexOf(":root {"), CSS.indexOf(':root[data-theme="dark"] {')].map((from) =>
  CSS.slice(from, CSS.indexOf("}", from)),
);

export type Rgb = readonly [number, number, number];

/** Linear red, green and blue. */
export function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255].map((each) => {
    const share = each / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
}

const luminance = ([red, green, blue]: Rgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** By WCAG: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Linear colors as seen without one kind of cone: Machado, Oliveira and Fernandes 2009, at full severity. */
export const SIGHTS = {
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

export const seen = (color: Rgb, sight: keyof typeof SIGHTS): Rgb =>
  SIGHTS[sight].map((row) =>
    Math.min(1, Math.max(0, row[0] * color[0] + row[1] * color[1] + row[2] * color[2])),
  ) as unknown as Rgb;

/** The themes with their colors in `map.css`. */
export const THEMES = (
  [
    ["light", DAY_CSS!],
    ["dark", NIGHT_CSS!],
  ] as const
).map(([theme, css]) => ({
  theme,
  colorNamed: (name: string) => rgbOf(new RegExp(`${name}: (#[0-9a-f]{6})`).exec(css)![1]!),
}));
