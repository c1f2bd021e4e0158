import { expect, test } from "bun:test";
import type { MapLibreMap } from "maplibre-gl";
import { type DensityCells, DensityLayer } from "../../../../src/web/gl/density-layer.ts";
import type { MapColors } from "../../../../src/web/gl/map-colors.ts";

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
