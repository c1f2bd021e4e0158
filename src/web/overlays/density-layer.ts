import type { CustomLayerInterface, MapLibreMap } from "maplibre-gl";
import { flatCamera, setCamera } from "../drawing/flat-camera.ts";
import { createProgram, type GlProgram } from "../drawing/gl-program.ts";
import { DENSITY_STEPS, type MapColors } from "../drawing/map-colors.ts";
import { type DensityCells, densitySquares, SQUARE_WORDS, squareSize } from "./density-shading.ts";

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
  readonly vertices: WebGLVertexArrayObject;
  readonly bytes: WebGLBuffer;
  /** What the graphics card has. */
  cells: DensityCells | null;
}

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
    const vertices = gl.createVertexArray();
    const bytes = gl.createBuffer();
    gl.bindVertexArray(vertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, bytes);
    for (const [location, words, offset] of [
      [0, 2, 0],
      [1, 1, 8],
    ] as const) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribIPointer(location, words, gl.UNSIGNED_INT, SQUARE_WORDS * 4, offset);
      gl.vertexAttribDivisor(location, 1);
    }
    gl.bindVertexArray(null);
    this.#resources = { map, program, vertices, bytes, cells: null };
  }

  onRemove(_map: MapLibreMap, gl: WebGL2RenderingContext): void {
    if (this.#resources === null) return;
    gl.deleteProgram(this.#resources.program.program);
    gl.deleteVertexArray(this.#resources.vertices);
    gl.deleteBuffer(this.#resources.bytes);
    this.#resources = null;
  }

  render(gl: WebGL2RenderingContext): void {
    const resources = this.#resources;
    const { cells, colors } = this.#scene();
    if (resources === null) return;
    const { map, program, vertices, bytes } = resources;
    if (resources.cells !== cells) {
      gl.bindBuffer(gl.ARRAY_BUFFER, bytes);
      gl.bufferData(gl.ARRAY_BUFFER, densitySquares(cells ?? NO_CELLS), gl.STATIC_DRAW);
      resources.cells = cells;
    }
    if (cells === null || cells.count.length === 0) return;
    gl.useProgram(program.program);
    gl.bindVertexArray(vertices);
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
