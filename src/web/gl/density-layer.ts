import { WORLD_SIZE } from "../geo/world.ts";
import { type DensityCells, type DensityGrid, densityGrid } from "./density-grid.ts";
import { type FlatCamera, flatCamera, GlLayer, type GlResources, type RowLayout } from "./gl-layer.ts";
import { DENSITY_STEPS, type MapColors } from "./map-colors.ts";

/* The heatmap: smooth spots on the map, in colors from few positions to many. */

export interface DensityScene {
  readonly cells: DensityCells | null;
  readonly colors: MapColors;
}

const VERTEX = `#version 300 es
precision highp float;

uniform vec2 corner; // The north-west corner of the grid in clip space.
uniform vec2 reach; // The grid's width and height in clip space.
uniform vec2 size; // Columns and rows.

out vec2 at; // In cells.

void main() {
  vec2 within = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(corner + within * reach, 0.0, 1.0);
  at = within * size;
}`;

const FRAGMENT = `#version 300 es
precision highp float;

in vec2 at;

uniform vec2 size;
uniform sampler2D cells;
uniform vec3 steps[${DENSITY_STEPS}];

out vec4 color;

/** A cubic B-spline over 4 by 4 cells. Linear filtering weighs two cells at once, so four samples are enough. */
vec2 smoothed() {
  vec2 place = at - 0.5;
  vec2 part = fract(place);
  vec2 cell = floor(place) + 0.5;
  vec2 square = part * part;
  vec2 cube = square * part;
  vec2 w0 = (1.0 - 3.0 * part + 3.0 * square - cube) / 6.0;
  vec2 w1 = (4.0 - 6.0 * square + 3.0 * cube) / 6.0;
  vec2 w3 = cube / 6.0;
  vec2 before = w0 + w1;
  vec2 after = 1.0 - before;
  vec2 near = (cell - 1.0 + w1 / before) / size;
  vec2 far = (cell + 1.0 + w3 / after) / size;
  vec2 north = before.x * texture(cells, near).rg + after.x * texture(cells, vec2(far.x, near.y)).rg;
  vec2 south = before.x * texture(cells, vec2(near.x, far.y)).rg + after.x * texture(cells, far).rg;
  return before.y * north + after.y * south;
}

void main() {
  vec2 sum = smoothed(); // The shade is an average of cells with positions, so that a lonely cell has its own color.
  float place = clamp(sum.r / max(sum.g, 0.001), 0.0, 1.0) * ${DENSITY_STEPS - 1}.0;
  int step = min(int(place), ${DENSITY_STEPS - 2});
  float alpha = OPACITY * smoothstep(0.02, 0.42, sum.g);
  color = vec4(mix(steps[step], steps[step + 1], place - float(step)), 1.0) * alpha;
}`;

/** Lets the coasts and rivers below shine through a little. A test computes that the colors stand out all the same. */
export const DENSITY_OPACITY = 0.9;

/** The four corners have no data of their own. */
const NO_ROWS: RowLayout = { rowBytes: 0, attributes: [], per: "vertex" };

/** The cells on the graphics card. */
interface Uploaded {
  readonly cells: DensityCells;
  readonly grid: DensityGrid;
  readonly texture: WebGLTexture;
}

/** Draws all cells as one picture. */
export class DensityLayer extends GlLayer<Uploaded | null> {
  readonly #scene: () => DensityScene;

  constructor(scene: () => DensityScene) {
    const fragment = FRAGMENT.replace("OPACITY", DENSITY_OPACITY.toFixed(2));
    super("density", { vertex: VERTEX, fragment, layout: NO_ROWS }, null);
    this.#scene = scene;
  }

  draw(gl: WebGL2RenderingContext, resources: GlResources<Uploaded | null>): void {
    const { cells, colors } = this.#scene();
    const { map, program, rows } = resources;
    if ((resources.uploaded?.cells ?? null) !== cells) {
      this.leave(gl, resources.uploaded); // No positions stay on the graphics card once they are not shown.
      resources.uploaded = cells === null ? null : upload(gl, cells);
    }
    if (resources.uploaded === null) return;
    const { grid, texture } = resources.uploaded;
    const { uniforms } = program;
    gl.useProgram(program.program);
    gl.bindVertexArray(rows.vertices);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.uniform1i(uniforms.cells!, 0);
    gl.uniform2f(uniforms.size!, grid.columns, grid.rows);
    gl.uniform3fv(uniforms.steps!, colors.density.flat());
    const camera = flatCamera(map);
    const { corner, reach, worldReach } = placeOf(grid, camera);
    gl.uniform2f(uniforms.reach!, ...reach);
    for (let copy = -camera.copies; copy <= camera.copies; copy++) {
      gl.uniform2f(uniforms.corner!, corner[0] + copy * worldReach, corner[1]);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.bindVertexArray(null);
  }

  protected override leave(gl: WebGL2RenderingContext, uploaded: Uploaded | null): void {
    if (uploaded !== null) gl.deleteTexture(uploaded.texture);
  }
}

function upload(gl: WebGL2RenderingContext, cells: DensityCells): Uploaded | null {
  const grid = densityGrid(cells);
  if (grid === null) return null;
  const texture = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  // MapLibre leaves these as its own pictures need them.
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  const { columns, rows, texels } = grid;
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG8, columns, rows, 0, gl.RG, gl.UNSIGNED_BYTE, texels);
  for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
    gl.texParameteri(gl.TEXTURE_2D, filter, gl.LINEAR);
  for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
    gl.texParameteri(gl.TEXTURE_2D, wrap, gl.CLAMP_TO_EDGE);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
  return { cells, grid, texture };
}

/** Where the grid is in clip space: the copy whose middle is nearest to the camera's. */
export function placeOf(
  { west, north, cellSize, columns, rows }: DensityGrid,
  { center, centerClip, clipPerUnit }: FlatCamera,
) {
  const [width, height] = [columns * cellSize, rows * cellSize];
  const fromMiddle = west + width / 2 - center[0];
  const shift = Math.round(fromMiddle / WORLD_SIZE) * WORLD_SIZE;
  const [perX, perY] = clipPerUnit;
  return {
    corner: [
      centerClip[0] + (west - shift - center[0]) * perX,
      centerClip[1] + (north - center[1]) * perY,
    ] as const,
    reach: [width * perX, height * perY] as const,
    worldReach: WORLD_SIZE * perX,
  };
}
