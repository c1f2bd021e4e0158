import { flatCamera, GlLayer, type GlResources, type RowLayout, setCamera } from "./gl-layer.ts";
import { DENSITY_STEPS, type MapColors } from "./map-colors.ts";

/* The heatmap: squares of the map, darker for more positions. */

/** The number of positions of all devices, by cell of the map. */
export interface DensityCells {
  /** A cell is 1/64 of a tile of 256 pixels at this zoom. */
  readonly zoom: number;
  /** Column and row, counted from the map's north-west corner. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly count: readonly number[];
}

export interface DensityScene {
  readonly cells: DensityCells | null;
  readonly colors: MapColors;
}

const VERTEX = `#version 300 es
precision highp float;
precision highp int;

layout(location = 0) in uvec2 corner; // The north-west corner of a square.
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

/** Replaces cells that are no longer shown, so that no positions stay in memory or on the graphics card. */
const NO_CELLS: DensityCells = { zoom: 0, x: [], y: [], count: [] };

/** A square in the buffer: x and y of its north-west corner in units of `world.ts`, and its shade. */
const SQUARE_WORDS = 3;

const SQUARE_ROWS: RowLayout = {
  rowBytes: SQUARE_WORDS * 4,
  attributes: [
    [2, 0],
    [1, 8],
  ],
  per: "instance",
};

/** Draws all cells as squares, in one call. */
export class DensityLayer extends GlLayer<DensityCells | null> {
  readonly #scene: () => DensityScene;

  constructor(scene: () => DensityScene) {
    super("density", { vertex: VERTEX, fragment: FRAGMENT, layout: SQUARE_ROWS }, null);
    this.#scene = scene;
  }

  draw(gl: WebGL2RenderingContext, resources: GlResources<DensityCells | null>): void {
    const { cells, colors } = this.#scene();
    const { map, program, rows } = resources;
    if (resources.uploaded !== cells) {
      gl.bindBuffer(gl.ARRAY_BUFFER, rows.bytes);
      gl.bufferData(gl.ARRAY_BUFFER, densitySquares(cells ?? NO_CELLS), gl.STATIC_DRAW);
      resources.uploaded = cells;
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

/** The width of a cell in the world's units. */
export function squareSize(zoom: number): number {
  return 2 ** (32 - 6 - zoom);
}

/** All squares. Shades are from 0, the lightest color, to 1000, the darkest. */
export function densitySquares({ zoom, x, y, count }: DensityCells): Uint32Array {
  const size = squareSize(zoom);
  const shadeOf = shading(count);
  const words = new Uint32Array(count.length * SQUARE_WORDS);
  for (let cell = 0, at = 0; cell < count.length; cell++, at += SQUARE_WORDS) {
    words[at] = x[cell]! * size;
    words[at + 1] = y[cell]! * size;
    words[at + 2] = Math.round(1000 * shadeOf(count[cell]!));
  }
  return words;
}

/**
 * The counts of the lightest and the darkest color. The top 1% is darkest, so that one depot doesn't fill the scale.
 */
export function shadeRange(counts: readonly number[]): { readonly least: number; readonly most: number } {
  const sorted = Float64Array.from(counts).sort();
  return { least: sorted[0] ?? 1, most: sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 1 };
}

/** The shade of a count, 0 to 1, on a logarithmic scale, since a depot has a thousand times the count of a street. */
export function shading(counts: readonly number[]): (count: number) => number {
  const range = shadeRange(counts);
  const least = Math.log(range.least);
  const most = Math.log(range.most);
  if (most <= least) return () => 0.5;
  return (count) => Math.max(0, Math.min(1, (Math.log(count) - least) / (most - least)));
}
