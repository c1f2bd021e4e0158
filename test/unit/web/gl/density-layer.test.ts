import { expect, test } from "bun:test";
import type { MapLibreMap } from "maplibre-gl";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import {
  type DensityCells,
  DensityLayer,
  densitySquares,
  shading,
  squareSize,
} from "../../../../src/web/gl/density-layer.ts";
import type { MapColors } from "../../../../src/web/gl/map-colors.ts";
import * as fc from "../../../support/fast-check.ts";

/** A graphics card that takes everything, and counts what it is given and told to draw. */
function createCard() {
  const uploaded: number[] = [];
  const drawn: number[] = [];
  const known: Record<string, unknown> = {
    bufferData: (_: unknown, words: Uint32Array) => uploaded.push(words.length),
    drawArraysInstanced: (_: unknown, __: number, ___: number, count: number) => drawn.push(count),
    getProgramParameter: (_: unknown, what: string) => (what === "LINK_STATUS" ? true : 0),
  };
  const gl = new Proxy(known, {
    get: (_, name: string) => known[name] ?? (/^[A-Z_\d]+$/.test(name) ? name : () => true),
  });
  return { gl: gl as unknown as WebGL2RenderingContext, uploaded, drawn };
}

const MAP = {
  getCanvas: () => ({ clientWidth: 512, clientHeight: 512 }),
  getCenter: () => ({ lng: 0, lat: 0 }),
  project: () => ({ x: 256, y: 256 }),
  getZoom: () => 2,
} as unknown as MapLibreMap;

test("cells are sent to the graphics card once, and leave it with whoever closes them", () => {
  const { gl, uploaded, drawn } = createCard();
  let cells: DensityCells | null = { zoom: 3, x: [1, 2], y: [3, 3], count: [4, 9] };
  const layer = new DensityLayer(() => ({ cells, colors: { density: [[1, 1, 1]] } as unknown as MapColors }));
  layer.onAdd(MAP, gl);
  layer.render(gl);
  layer.render(gl);
  expect([uploaded, drawn]).toEqual([[6], [2, 2]]);
  cells = null;
  layer.render(gl);
  layer.render(gl);
  expect([uploaded, drawn]).toEqual([
    [6, 0],
    [2, 2],
  ]);
});

test("densitySquares() puts a cell where the places that it counts are drawn", () => {
  const places = fc.record({
    latitude: fc.double({ min: -85, max: 85, noNaN: true }),
    longitude: fc.double({ min: -180, max: 179.999, noNaN: true }),
    zoom: fc.integer({ min: 0, max: 16 }),
  });
  fc.assert(
    fc.property(places, ({ latitude, longitude, zoom }) => {
      const cells = 64 * 2 ** zoom;
      const sine = Math.sin((latitude * Math.PI) / 180);
      const x = Math.floor(((longitude + 180) / 360) * cells);
      const y = Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * cells);
      const [west, north] = densitySquares({ zoom, x: [x], y: [y], count: [1] });
      const size = squareSize(zoom);
      expect(worldX(longitude)).toBeWithin(west!, west! + size);
      expect(worldY(latitude)).toBeWithin(north!, north! + size);
    }),
  );
});

test("shading() grows with the count, from 0 to 1", () => {
  const counts = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 2, maxLength: 500 });
  fc.assert(
    fc.property(counts, (unsorted) => {
      const sorted = [...unsorted].sort((a, b) => a - b);
      const shades = sorted.map(shading(unsorted));
      for (const [index, shade] of shades.entries()) {
        expect(shade >= 0 && shade <= 1).toBe(true);
        expect(shade).toBeGreaterThanOrEqual(shades[index - 1] ?? 0);
      }
    }),
  );
});

test("shading() doesn't give the whole scale to one depot", () => {
  const streets = Array.from({ length: 999 }, (_, index) => 1 + (index % 100));
  const shadeOf = shading([...streets, 1_000_000]);
  expect(shadeOf(100)).toBe(1);
  expect(shadeOf(10)).toBeCloseTo(0.5);
  expect(shading([7, 7])(7)).toBe(0.5);
});
