import type { ThemeName } from "../shell/theme.ts";

/**
 * Colors of the map. They are muted, so that devices stand out. Every text has a contrast of 4.5:1 on land and on
 * water, which a test computes.
 */
export interface Palette {
  readonly water: string;
  readonly land: string;
  readonly park: string;
  readonly built: string;
  readonly building: string;
  readonly river: string;
  readonly countryBorder: string;
  readonly regionBorder: string;
  readonly road: string;
  readonly roadEdge: string;
  readonly motorway: string;
  readonly rail: string;
  readonly path: string;
  /** Where devices have been, in place of streets. */
  readonly track: string;
  readonly countryText: string;
  readonly placeText: string;
  readonly smallText: string;
  readonly waterText: string;
  /** The outline of letters. */
  readonly halo: string;
}

const DAY: Palette = {
  water: "#cbdde9",
  land: "#f5f3ee",
  park: "#e0ead6",
  built: "#ece9e2",
  building: "#e0dcd3",
  river: "#b4cede",
  countryBorder: "#a596ae",
  regionBorder: "#cdc5cf",
  road: "#ffffff",
  roadEdge: "#d3cdc1",
  motorway: "#f6dfae",
  rail: "#c2bcb3",
  path: "#d8d0c2",
  track: "#d5ccbd",
  countryText: "#5b4a6b",
  placeText: "#262e39",
  smallText: "#4a5360",
  waterText: "#33566f",
  halo: "#fbfaf7",
};

const NIGHT: Palette = {
  water: "#0e151d",
  land: "#1c232c",
  park: "#1d2a26",
  built: "#212933",
  building: "#2a333e",
  river: "#101923",
  countryBorder: "#5d5870",
  regionBorder: "#363c4a",
  road: "#384350",
  roadEdge: "#151b22",
  motorway: "#484135",
  rail: "#3a4350",
  path: "#303945",
  track: "#364251",
  countryText: "#c2b4d6",
  placeText: "#e3e9f1",
  smallText: "#b8c2cf",
  waterText: "#95b8d4",
  halo: "#141a21",
};

export const PALETTES: Readonly<Record<ThemeName, Palette>> = { light: DAY, dark: NIGHT };
