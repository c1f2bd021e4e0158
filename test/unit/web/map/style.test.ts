import { describe, expect, test } from "bun:test";
import {
  type Feature,
  featureFilter,
  type ICanonicalTileID,
  type LayerSpecification,
  validateStyleMin,
} from "@maplibre/maplibre-gl-style-spec";
import { WORLD_SIZE, worldX, worldY } from "../../../../src/web/geo/world.ts";
import type { BaseMap } from "../../../../src/web/map/base-map.ts";
import { PALETTES, type Palette } from "../../../../src/web/map/palette.ts";
import { mapStyle } from "../../../../src/web/map/style.ts";

const WORLD = {
  tiles: "/map/tiles/{z}/{x}/{y}?v=abc",
  minzoom: 0,
  maxzoom: 6,
  bounds: [-180, -85, 180, 85],
  areas: [[-180, -85, 180, 85]],
  credits: [{ text: "not shown: the style has links for it", url: null }],
} as const;

const STREETS = {
  tiles: "/map/streets/{z}/{x}/{y}?v=def",
  minzoom: 5,
  maxzoom: 15,
  bounds: [-71.2, 42.2, -70.9, 42.5],
  areas: [[-71.2, 42.2, -70.9, 42.5]],
  credits: [
    { text: `<b>"Protomaps" & 'friends'`, url: null },
    { text: " © ", url: "javascript:alert(1)" },
    { text: "OSM", url: 'https://osm.org/?"<' },
  ],
} as const;

const BOTH: BaseMap = { world: WORLD, streets: STREETS };
const ORIGIN = "https://example.org";

describe.each(["light", "dark"] as const)("by %s", (theme) => {
  test.each([null, STREETS])("the style is valid", (streets) => {
    expect(validateStyleMin(mapStyle(theme, { world: WORLD, streets }, ORIGIN))).toEqual([]);
  });

  test("every text can be read on land, water, parks and built ground: 4.5:1", () => {
    const palette = PALETTES[theme];
    const texts = ["countryText", "placeText", "smallText", "waterText"] as const;
    const grounds = [
      "land",
      "water",
      "park",
      "built",
      "building",
      "road",
      "motorway",
      "track",
      "halo",
    ] as const;
    const poor = texts.flatMap((text) =>
      grounds
        .filter((ground) => contrast(palette, text, ground) < 4.5)
        .map((ground) => `${text} on ${ground}`),
    );
    expect(poor).toEqual([]);
  });

  test("land can be told from water, and borders from land", () => {
    expect(contrast(PALETTES[theme], "land", "water")).toBeGreaterThan(1.1);
    expect(contrast(PALETTES[theme], "countryBorder", "land")).toBeGreaterThan(1.8);
  });
});

test("all comes from one origin, and no glyphs, sprites or other sources are asked for", () => {
  const style = mapStyle("light", BOTH, ORIGIN);
  expect(style.glyphs).toBeUndefined();
  expect(style.sprite).toBeUndefined();
  expect(Object.values(style.sources).map((source) => (source as { tiles: string[] }).tiles)).toEqual([
    ["https://example.org/map/tiles/{z}/{x}/{y}?v=abc"],
    ["https://example.org/map/streets/{z}/{x}/{y}?v=def"],
  ]);
});

test("the world's sources are credited with links; what the operator's file says is text", () => {
  const { world, streets } = mapStyle("light", BOTH, ORIGIN).sources as Record<
    string,
    { attribution: string }
  >;
  expect(world!.attribution).toContain(">Natural Earth</a>");
  expect(world!.attribution).toContain(">GeoNames</a>");
  expect(world!.attribution).toContain('href="https://creativecommons.org/licenses/by/4.0/"');
  expect(streets!.attribution).toBe(
    '&#60;b&#62;&#34;Protomaps&#34; &#38; &#39;friends&#39; © <a href="https://osm.org/?&#34;&#60;" ' +
      'target="_blank" rel="noopener noreferrer">OSM</a>',
  );
});

test("without streets the style has a dozen layers, with them all are there by other names", () => {
  const alone = mapStyle("light", { world: WORLD, streets: null }, ORIGIN).layers.map(({ id }) => id);
  expect(alone.length).toBeLessThanOrEqual(12);
  const ids = mapStyle("light", BOTH, ORIGIN).layers.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(alone));
});

test("streets hide the world's shapes, and all names come after all shapes", () => {
  const { layers } = mapStyle("light", BOTH, ORIGIN);
  const sourceOf = (layer: (typeof layers)[number]) => ("source" in layer ? layer.source : "none");
  const shapes = layers.filter(({ type }) => type !== "symbol");
  expect(layers.slice(0, shapes.length)).toEqual(shapes);
  expect(shapes.findLastIndex((layer) => sourceOf(layer) === "world")).toBeLessThan(
    shapes.findIndex((layer) => sourceOf(layer) === "streets"),
  );
});

test("streets show from the zoom on at which their bounds fill about a tile", () => {
  const zoomsWith = (streets: object) => {
    const style = mapStyle("light", { world: WORLD, streets: { ...STREETS, ...streets } }, ORIGIN);
    const { minzoom, maxzoom } = style.sources.streets as { minzoom: number; maxzoom: number };
    return [minzoom, maxzoom];
  };
  expect(zoomsWith({})).toEqual([9, 15]);
  expect(zoomsWith({ bounds: [-180, -85, 180, 85], minzoom: 0 })).toEqual([0, 15]);
  expect(zoomsWith({ bounds: [-180, -85, 180, 85], minzoom: 3 })).toEqual([3, 15]);
  expect(zoomsWith({ bounds: [5.9, 47.2, 15.1, 55.1], minzoom: 0 })).toEqual([4, 15]);
  expect(zoomsWith({ bounds: [1, 1, 1.00001, 1.00001], minzoom: 0 })).toEqual([15, 15]);
});

test("a place is named by one of the two maps: in the bounds of streets by theirs, elsewhere by the world's", () => {
  const namedAt = (longitude: number, latitude: number, zoom: number) =>
    mapStyle("light", BOTH, ORIGIN)
      .layers.filter(({ id }) => id.endsWith("-places"))
      .filter((layer) => shows(layer, longitude, latitude, zoom))
      .map(({ id }) => id);
  expect(namedAt(-71, 42.4, 12)).toEqual(["street-places"]);
  expect(namedAt(-71, 42.4, 9)).toEqual(["street-places"]);
  expect(namedAt(-71, 42.4, 8)).toEqual(["world-places"]);
  expect(namedAt(-72, 42.4, 12)).toEqual(["world-places"]);
});

/** Whether a layer names a place of those that are named from zoom 8 on. */
function shows(layer: LayerSpecification, longitude: number, latitude: number, zoom: number): boolean {
  const filter = "filter" in layer ? layer.filter : undefined;
  const scale = 2 ** zoom;
  const [x, y] = [worldX(longitude), worldY(latitude)].map((along) => (along / WORLD_SIZE) * scale) as [
    number,
    number,
  ];
  const [column, row] = [Math.floor(x), Math.floor(y)];
  const point = { x: Math.round((x - column) * 8192), y: Math.round((y - row) * 8192) };
  return featureFilter(filter, `layers.${layer.id}.filter`).filter(
    { zoom },
    { type: 1, properties: { kind: "locality", min_zoom: 8 }, geometry: [[point]] } as unknown as Feature,
    { z: zoom, x: column, y: row, key: "", wrap: 0 } as unknown as ICanonicalTileID,
  );
}

test("day and night have the same layers", () => {
  const ids = (theme: "light" | "dark") => mapStyle(theme, BOTH, ORIGIN).layers.map(({ id }) => id);
  expect(ids("dark")).toEqual(ids("light"));
});

function contrast(palette: Palette, one: keyof Palette, other: keyof Palette): number {
  const [dark, light] = [luminance(palette[one]), luminance(palette[other])].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

/** As WCAG computes it. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
