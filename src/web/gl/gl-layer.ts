import type { CustomLayerInterface, MapLibreMap } from "maplibre-gl";
import { WORLD_PIXELS, WORLD_SIZE, worldX, worldY } from "../geo/world.ts";

/*
 * What our own map layers share: a shader program, the rows that it reads, and the camera. Uniforms are not in blocks:
 * MapLibre draws wrongly after a layer that binds a block (maplibre-gl-js#8413).
 */

/** A layer's resources on the graphics card. */
export interface GlResources<Uploaded> {
  readonly map: MapLibreMap;
  readonly program: GlProgram;
  readonly rows: GlRows;
  /** Identifies the last upload. Each layer chooses its type. */
  uploaded: Uploaded;
}

export interface GlProgram {
  readonly program: WebGLProgram;
  readonly uniforms: Readonly<Record<string, WebGLUniformLocation>>;
}

/** Rows of unsigned integers, which the program reads. */
export interface GlRows {
  readonly vertices: WebGLVertexArrayObject;
  readonly bytes: WebGLBuffer;
}

export interface RowLayout {
  readonly rowBytes: number;
  /** In the order of their locations in the program: the number of words, and the offset in bytes. */
  readonly attributes: readonly (readonly [words: number, offset: number])[];
  /** Whether a row is a vertex or an instance. */
  readonly per: "vertex" | "instance";
}

/** The shaders of a layer, and the rows that they read. */
export interface GlLook {
  readonly vertex: string;
  readonly fragment: string;
  readonly layout: RowLayout;
}

/** A layer of one program over one list of rows. After a loss of the WebGL context MapLibre adds it again. */
export abstract class GlLayer<Uploaded> implements CustomLayerInterface {
  readonly type = "custom";
  readonly id: string;
  readonly #look: GlLook;
  readonly #nothing: Uploaded;
  #resources: GlResources<Uploaded> | null = null;

  /** `nothing` is the value of `uploaded` before the first upload. */
  constructor(id: string, look: GlLook, nothing: Uploaded) {
    this.id = id;
    this.#look = look;
    this.#nothing = nothing;
  }

  abstract draw(gl: WebGL2RenderingContext, resources: GlResources<Uploaded>): void;

  onAdd(map: MapLibreMap, gl: WebGL2RenderingContext): void {
    const { vertex, fragment, layout } = this.#look;
    const program = createProgram(gl, vertex, fragment);
    this.#resources = { map, program, rows: createRows(gl, layout), uploaded: this.#nothing };
  }

  onRemove(_map: MapLibreMap, gl: WebGL2RenderingContext): void {
    if (this.#resources === null) return;
    const { program, rows, uploaded } = this.#resources;
    this.leave(gl, uploaded);
    gl.deleteProgram(program.program);
    gl.deleteVertexArray(rows.vertices);
    gl.deleteBuffer(rows.bytes);
    this.#resources = null;
  }

  /** Deletes what `uploaded` has on the graphics card beside the rows. */
  protected leave(_gl: WebGL2RenderingContext, _uploaded: Uploaded): void {}

  render(gl: WebGL2RenderingContext): void {
    if (this.#resources !== null) this.draw(gl, this.#resources);
  }
}

function createProgram(gl: WebGL2RenderingContext, vertex: string, fragment: string): GlProgram {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`Cannot link a shader: ${gl.getProgramInfoLog(program)}`);
  const uniforms: Record<string, WebGLUniformLocation> = {};
  const count = (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) as number | null) ?? 0;
  for (let index = 0; index < count; index++) {
    const name = gl.getActiveUniform(program, index)!.name.replace("[0]", "");
    uniforms[name] = gl.getUniformLocation(program, name)!;
  }
  return { program, uniforms };
}

function compile(gl: WebGL2RenderingContext, type: number, source: string): WebGLShader {
  const shader = gl.createShader(type)!;
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
    throw new Error(`Cannot compile a shader: ${gl.getShaderInfoLog(shader)}`);
  return shader;
}

function createRows(gl: WebGL2RenderingContext, { rowBytes, attributes, per }: RowLayout): GlRows {
  const rows = { vertices: gl.createVertexArray(), bytes: gl.createBuffer() };
  gl.bindVertexArray(rows.vertices);
  gl.bindBuffer(gl.ARRAY_BUFFER, rows.bytes);
  for (const [location, [words, offset]] of attributes.entries()) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribIPointer(location, words, gl.UNSIGNED_INT, rowBytes, offset);
    gl.vertexAttribDivisor(location, per === "instance" ? 1 : 0);
  }
  gl.bindVertexArray(null);
  return rows;
}

/** The camera for our shaders. The map never tilts or rotates, so a position and a scale are enough. */
export interface FlatCamera {
  /** The center, in units of `world.ts`. */
  readonly center: readonly [x: number, y: number];
  /** The center in clip space. */
  readonly centerClip: readonly [x: number, y: number];
  readonly clipPerUnit: readonly [x: number, y: number];
  /** How many copies of the world are visible on each side of the middle one. */
  readonly copies: number;
}

export function flatCamera(map: MapLibreMap): FlatCamera {
  const { clientWidth: width, clientHeight: height } = map.getCanvas();
  const center = map.getCenter();
  const at = map.project(center);
  const pixels = worldPixels(map);
  return {
    center: [worldX(center.lng), worldY(center.lat)],
    centerClip: [(2 * at.x) / width - 1, 1 - (2 * at.y) / height],
    clipPerUnit: [(2 * pixels) / width / WORLD_SIZE, (-2 * pixels) / height / WORLD_SIZE],
    copies: Math.max(0, Math.ceil((width / pixels - 1) / 2)),
  };
}

/** The world's width on the map, in CSS pixels. */
export function worldPixels(map: MapLibreMap): number {
  return WORLD_PIXELS * 2 ** map.getZoom();
}

export function setCamera(gl: WebGL2RenderingContext, { uniforms }: GlProgram, camera: FlatCamera): void {
  gl.uniform2ui(uniforms.center!, ...camera.center);
  gl.uniform2f(uniforms.centerClip!, ...camera.centerClip);
  gl.uniform2f(uniforms.clipPerUnit!, ...camera.clipPerUnit);
}
