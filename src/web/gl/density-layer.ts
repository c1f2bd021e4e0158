import type { CustomLayerInterface, MapLibreMap } from "maplibre-gl";
import { type DensityCells, densitySquares, SQUARE_WORDS, squareSize } from "./density-shading.ts";
import { flatCamera, setCamera } from "./flat-camera.ts";
import { createProgram, type GlProgram } from "./gl-program.ts";
import { createRows, deleteRows, type GlRows, type RowLayout } from "./gl-rows.ts";
import { DENSITY_STEPS, type MapColors } from "./map-colors.ts";

/* Where all were: squares of the map, darker where more was reported. */

const VERTEX = `#version 300 es
precision highp float;
precision highp int;

layout(location = 0) in uvec2 corner; // Of a square, the north-western one.
layout(location = 1) in uint shade;

uniform uvec2 center;
uniform vec2 centerClip;
uniform vec2 clipPerUnit;
uniform float copy;
uniform float size;

flat out float shadeAt;

void main() {
  float south = corner.y >= center.y ? float(corner.y - center.y) : -float(center.y - corner.y);
  vec2 offset = vec2(float(int(corner.x - center.x)) + copy * 4294967296.0, south);
  vec2 within = vec2(gl_VertexID & 1, gl_VertexID >> 1) * size;
  gl_Position = vec4(centerClip + (offset + within) * clipPerUnit, 0.0, 1.0);
  shadeAt = float(shade) / 1000.0;
}`;

const FRAGMENT = `#version 300 es
precision highp float;

flat in float shadeAt;

uniform vec3 steps[${DENSITY_STEPS}];

out vec4 color;

void main() {
  float place = shadeAt * ${DENSITY_STEPS - 1}.0;
  int step = min(int(place), ${DENSITY_STEPS - 2});
  color = vec4(mix(steps[step], steps[step + 1], place - float(step)), 1.0) * 0.9;
}`;

/** In place of what was shown: it stays neither here nor on the graphics card. */
const NO_CELLS: DensityCells = { zoom: 0, x: [], y: [], count: [] };

interface Resources {
  readonly map: MapLibreMap;
  readonly program: GlProgram;
  readonly rows: GlRows;
  /** What the graphics card has. */
  cells: DensityCells | null;
}

const SQUARE_ROWS: RowLayout = {
  rowBytes: SQUARE_WORDS * 4,
  attributes: [
    [2, 0],
    [1, 8],
  ],
  per: "instance",
};

/** Draws where all were, as squares, in one call. */
export class DensityLayer implements CustomLayerInterface {
  readonly id = "density";
  readonly type = "custom";
  readonly #scene: () => { readonly cells: DensityCells | null; readonly colors: MapColors };
  #resources: Resources | null = null;

  constructor(scene: () => { readonly cells: DensityCells | null; readonly colors: MapColors }) {
    this.#scene = scene;
  }

  onAdd(map: MapLibreMap, gl: WebGL2RenderingContext): void {
    const program = createProgram(gl, VERTEX, FRAGMENT);
    const rows = createRows(gl, SQUARE_ROWS);
    this.#resources = { map, program, rows, cells: null };
  }

  onRemove(_map: MapLibreMap, gl: WebGL2RenderingContext): void {
    if (this.#resources === null) return;
    gl.deleteProgram(this.#resources.program.program);
    deleteRows(gl, this.#resources.rows);
    this.#resources = null;
  }

  render(gl: WebGL2RenderingContext): void {
    const resources = this.#resources;
    const { cells, colors } = this.#scene();
    if (resources === null) return;
    const { map, program, rows } = resources;
    if (resources.cells !== cells) {
      gl.bindBuffer(gl.ARRAY_BUFFER, rows.bytes);
      gl.bufferData(gl.ARRAY_BUFFER, densitySquares(cells ?? NO_CELLS), gl.STATIC_DRAW);
      resources.cells = cells;
    }
    if (cells === null || cells.count.length === 0) return;
    gl.useProgram(program.program);
    gl.bindVertexArray(rows.vertices);
    const camera = flatCamera(map);
    setCamera(gl, program, camera);
    gl.uniform1f(program.uniforms.size!, squareSize(cells.zoom));
    gl.uniform3fv(program.uniforms.steps!, colors.density.flat());
    for (let copy = -camera.copies; copy <= camera.copies; copy++) {
      gl.uniform1f(program.uniforms.copy!, copy);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, cells.count.length);
    }
    gl.bindVertexArray(null);
  }
}
