import { describe, expect, test } from "bun:test";
import { DENSITY_OPACITY } from "../../../../src/web/gl/density-layer.ts";
import { DENSITY_STEPS } from "../../../../src/web/gl/map-colors.ts";
import { PALETTES } from "../../../../src/web/map/palette.ts";
import { contrast, type Rgb, rgbOf, SIGHTS, seen, THEMES } from "../map/theme-colors.ts";

describe.each(THEMES)("the colors of the heatmap by $theme", ({ theme, colorNamed }) => {
  const colors = Array.from({ length: DENSITY_STEPS }, (_, step) => colorNamed(`--density-${step + 1}`));

  test.each(["land", "water"] as const)("stand out from %s by 3:1", (ground) => {
    const below = rgbOf(PALETTES[theme][ground]);
    const ratios = colors.map((color) => contrast(over(color, below), below));
    expect(ratios.filter((ratio) => ratio < 3)).toEqual([]);
    expect(ratios).toEqual([...ratios].sort((a, b) => a - b));
  });

  test.each(Object.keys(SIGHTS) as (keyof typeof SIGHTS)[])("differ in lightness alone: %s", (sight) => {
    const steps = colors
      .slice(1)
      .map((color, step) => contrast(seen(color, sight), seen(colors[step]!, sight)));
    expect(steps.filter((step) => step < 1.15)).toEqual([]);
  });
});

/** Browsers blend the gamma-encoded values. */
function over(color: Rgb, below: Rgb): Rgb {
  const blended = color.map(
    (value, index) => DENSITY_OPACITY * encoded(value) + (1 - DENSITY_OPACITY) * encoded(below[index]!),
  );
  const hex = blended.map((value) =>
    Math.round(255 * value)
      .toString(16)
      .padStart(2, "0"),
  );
  return rgbOf(`#${hex.join("")}`);
}

function encoded(linear: number): number {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
}
