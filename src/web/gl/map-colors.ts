/** Red, green and blue, 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number];

/** The colors of the map, from `style/colors.css` and `style/map.css`. */
export interface MapColors {
  /** The colors of dots, by age. */
  readonly fresh: Color;
  readonly aging: Color;
  readonly old: Color;
  /** The outline of dots. */
  readonly edge: Color;
  readonly accent: Color;
  readonly text: Color;
  /** From slow to fast. */
  readonly speeds: readonly Color[];
  /** From few to many. */
  readonly density: readonly Color[];
}

export const DENSITY_STEPS = 5;
const SPEED_STEPS = 5;

/** Reads the colors of the current theme. */
export function readMapColors(): MapColors {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => parseColor(style.getPropertyValue(name));
  return {
    fresh: color("--fresh"),
    aging: color("--aging"),
    old: color("--old"),
    edge: color("--map-edge"),
    accent: color("--accent"),
    text: color("--text"),
    speeds: Array.from({ length: SPEED_STEPS }, (_, step) => color(`--speed-${step + 1}`)),
    density: Array.from({ length: DENSITY_STEPS }, (_, step) => color(`--density-${step + 1}`)),
  };
}

/** Parses `#rrggbb`. */
function parseColor(text: string): Color {
  const digits = /^\s*#([0-9a-f]{6})\s*$/i.exec(text)?.[1];
  if (digits === undefined) throw new Error(`Cannot read a color: expected #rrggbb, found "${text}"`);
  const value = Number.parseInt(digits, 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function colorText([red, green, blue]: Color): string {
  return `rgb(${Math.round(red * 255)}, ${Math.round(green * 255)}, ${Math.round(blue * 255)})`;
}
