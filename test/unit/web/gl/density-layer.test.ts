import { expect, test } from "bun:test";
import type { MapLibreMap } from "maplibre-gl";
import { WORLD_SIZE, worldX, worldY } from "../../../../src/web/geo/world.ts";
import type { DensityCells, DensityGrid } from "../../../../src/web/gl/density-grid.ts";
import { DensityLayer, placeOf } from "../../../../src/web/gl/density-layer.ts";
import type { MapColors } from "../../../../src/web/gl/map-colors.ts";

/** A graphics card that takes everything, and counts what it is given and told to draw. */
function createCard() {
  const uploaded: number[] = [];
  const counts = { drawn: 0, deleted: 0 };
  const known: Record<string, unknown> = {
    texImage2D: (...values: unknown[]) => uploaded.push((values.at(-1) as Uint8Array).length),
    drawArrays: () => counts.drawn++,
    deleteTexture: () => counts.deleted++,
    getProgramParameter: (_: unknown, what: string) => (what === "LINK_STATUS" ? true : 0),
  };
  const gl = new Proxy(known, {
    get: (_, name: string) => known[name] ?? (/^[A-Z_\d]+$/.test(name) ? name : () => true),
  });
  return { gl: gl as unknown as WebGL2RenderingContext, uploaded, counts };
}

const MAP = {
  getCanvas: () => ({ clientWidth: 512, clientHeight: 512 }),
  getCenter: () => ({ lng: 0, lat: 0 }),
  project: () => ({ x: 256, y: 256 }),
  getZoom: () => 2,
} as unknown as MapLibreMap;

test("cells are sent to the graphics card once, and leave it when they are closed", () => {
  const { gl, uploaded, counts } = createCard();
  let cells: DensityCells | null = { zoom: 3, x: [1, 2], y: [3, 3], count: [4, 9] };
  const layer = new DensityLayer(() => ({ cells, colors: { density: [[1, 1, 1]] } as unknown as MapColors }));
  layer.onAdd(MAP, gl);
  layer.render(gl);
  layer.render(gl);
  expect([uploaded, counts]).toEqual([[6 * 5 * 2], { drawn: 2, deleted: 0 }]);
  cells = null;
  layer.render(gl);
  layer.render(gl);
  expect([uploaded.length, counts]).toEqual([1, { drawn: 2, deleted: 1 }]);
  cells = { zoom: 3, x: [], y: [], count: [] };
  layer.render(gl);
  expect([uploaded.length, counts.drawn]).toEqual([1, 2]);
});

test("a layer that is removed takes its cells off the graphics card", () => {
  const { gl, counts } = createCard();
  const cells = { zoom: 3, x: [1], y: [3], count: [4] };
  const layer = new DensityLayer(() => ({ cells, colors: { density: [[1, 1, 1]] } as unknown as MapColors }));
  layer.onAdd(MAP, gl);
  layer.render(gl);
  layer.onRemove(MAP, gl);
  expect(counts.deleted).toBe(1);
});

/** A camera over a map of two clip units for each quarter of the world. */
function cameraAt(latitude: number, longitude: number) {
  return {
    center: [worldX(longitude), worldY(latitude)],
    centerClip: [0, 0],
    clipPerUnit: [8 / WORLD_SIZE, -8 / WORLD_SIZE],
    copies: 0,
  } as const;
}

function gridFrom(west: number, columns: number): DensityGrid {
  return { west, north: 0, cellSize: WORLD_SIZE / 256, columns, rows: 256, texels: new Uint8Array() };
}

test("the grid lies around the camera, on whichever side of ±180° that is", () => {
  const across = gridFrom((WORLD_SIZE / 256) * 248, 16);
  for (const longitude of [179, -179]) {
    const { corner, reach } = placeOf(across, cameraAt(0, longitude));
    expect(corner[0]).toBeWithin(-0.3, -0.2);
    expect(corner[0] + reach[0]).toBeWithin(0.2, 0.3);
  }
});

test("a grid of the whole world is where the world is", () => {
  const whole = gridFrom(0, 256);
  for (const longitude of [-1, 0, 1]) {
    const { corner, reach, worldReach } = placeOf(whole, cameraAt(0, longitude));
    expect(corner[0]).toBeCloseTo(-4 - longitude / 45, 3);
    expect(corner[1]).toBeCloseTo(4, 3);
    expect(reach).toEqual([8, -8]);
    expect(worldReach).toBe(8);
  }
});
