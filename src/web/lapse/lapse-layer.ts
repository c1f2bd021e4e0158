import type { MapLibreMap } from "maplibre-gl";
import {
  type FlatCamera,
  flatCamera,
  GlLayer,
  type GlProgram,
  type GlResources,
  type RowLayout,
  setCamera,
} from "../gl/gl-layer.ts";
import type { Color } from "../gl/map-colors.ts";
import { type Chunk, PIECE_BYTES, PIECE_KINDS, piecesWithin } from "./movements.ts";

/* Draws a moment of a time lapse: a dot for each device, and its trail. The shader finds where they are. */

/** The input of a frame. */
export interface LapseScene {
  readonly chunks: readonly Chunk[];
  /** Ms since the start of the range. */
  readonly clockMs: number;
  /** How long a trail is. */
  readonly trailMs: number;
}

const VERTEX = `#version 300 es
precision highp float;
precision highp int;

layout(location = 0) in uvec2 from;
layout(location = 1) in uvec2 to;
layout(location = 2) in uvec3 when; // Words 4 to 6 of movements.ts.

uniform uvec2 center;
uniform vec2 centerClip;
uniform vec2 clipPerUnit;
uniform float copy;
uniform int clockMs;
uniform int trailMs;
uniform bool isTrail;
uniform float scale;
uniform vec2 pixels; // Half the size of the canvas, in CSS pixels.

out vec2 at; // CSS pixels from the middle of the dot or the trail.
out float youth; // 1 at the dot, 0 at the end of the trail.
flat out uint kind;

const float DOT = 8.0; // Half the width of its square.
const float TRAIL = 2.2;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);

vec2 offsetOf(uvec2 place) {
  float south = place.y >= center.y ? float(place.y - center.y) : -float(center.y - place.y);
  return vec2(float(int(place.x - center.x)) + copy * 4294967296.0, south);
}

void main() {
  int startMs = int(when.x);
  int endMs = int(when.y);
  kind = when.z;
  // Differences of integers are exact at any zoom. Those of x wrap around the world; those of y must not.
  vec2 way = vec2(float(int(to.x - from.x)), to.y >= from.y ? float(to.y - from.y) : -float(from.y - to.y));
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  float lengthMs = float(endMs - startMs);
  if (!isTrail) {
    youth = 1.0;
    at = (corner * 2.0 - 1.0) * DOT;
    vec2 middle = centerClip + (offsetOf(from) + way * (float(clockMs - startMs) / lengthMs)) * clipPerUnit;
    bool isThere = startMs <= clockMs && clockMs < endMs;
    gl_Position = isThere ? vec4(middle + at * scale / pixels, 0.0, 1.0) : NOWHERE;
    return;
  }
  int firstMs = max(startMs, clockMs - trailMs);
  int lastMs = min(endMs, clockMs);
  vec2 direction = way * clipPerUnit * pixels;
  float size = length(direction);
  if (kind != ${PIECE_KINDS.moving}u || firstMs >= lastMs || size == 0.0) {
    gl_Position = NOWHERE;
    return;
  }
  int ms = corner.y == 0.0 ? firstMs : lastMs;
  youth = 1.0 - float(clockMs - ms) / float(trailMs);
  float across = (corner.x * 2.0 - 1.0) * TRAIL;
  at = vec2(across, 0.0);
  vec2 middle = centerClip + (offsetOf(from) + way * (float(ms - startMs) / lengthMs)) * clipPerUnit;
  gl_Position = vec4(middle + vec2(-direction.y, direction.x) / size * across / pixels, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;

in vec2 at;
in float youth;
flat in uint kind;

uniform bool isTrail;
uniform vec3 colors[3]; // By kind.
uniform float pixelRatio; // Of the dot's own pixels.

out vec4 color;

float within(float outside) {
  return clamp(0.5 - outside * pixelRatio, 0.0, 1.0);
}

void main() {
  vec3 tint = colors[kind];
  if (isTrail) {
    float width = 0.5 + 1.2 * youth;
    // Light that adds up where trails cross.
    color = vec4(tint, 0.35) * within(abs(at.x) - width) * youth * youth * 0.8;
    return;
  }
  float distance = length(at);
  float strength = kind == ${PIECE_KINDS.moving}u ? 1.0 : kind == ${PIECE_KINDS.standing}u ? 0.75 : 0.35;
  float radius = kind == ${PIECE_KINDS.moving}u ? 3.3 : 2.1;
  color = vec4(tint, 1.0) * strength * within(distance - radius);
  if (kind == ${PIECE_KINDS.moving}u) color += vec4(tint, 0.0) * 0.35 * max(0.0, 1.0 - distance / 8.0);
}`;

/** Dots are smaller on a map of a continent. */
function dotScaleAt(zoom: number): number {
  return Math.max(0.6, Math.min(1.1, 0.6 + (zoom - 5) * 0.15));
}

const ATTRIBUTES: RowLayout["attributes"] = [
  [2, 0],
  [2, 8],
  [3, 16],
];
const PIECE_ROWS: RowLayout = { rowBytes: PIECE_BYTES, attributes: ATTRIBUTES, per: "instance" };

/** The map of a time lapse is always dark, so these colors belong to no theme. */
const COLORS: readonly Color[] = [
  [1, 0.82, 0.45],
  [0.45, 0.68, 0.86],
  [0.5, 0.56, 0.64],
];

type Resources = GlResources<null>;

export class LapseLayer extends GlLayer<null> {
  readonly #scene: () => LapseScene;
  readonly #uploaded = new Map<Chunk, WebGLBuffer>();

  constructor(scene: () => LapseScene) {
    super("lapse", { vertex: VERTEX, fragment: FRAGMENT, layout: PIECE_ROWS }, null);
    this.#scene = scene;
  }

  override onRemove(map: MapLibreMap, gl: WebGL2RenderingContext): void {
    for (const buffer of this.#uploaded.values()) gl.deleteBuffer(buffer);
    this.#uploaded.clear();
    super.onRemove(map, gl);
  }

  override onAdd(map: MapLibreMap, gl: WebGL2RenderingContext): void {
    this.#uploaded.clear(); // After a loss of the context they are gone.
    super.onAdd(map, gl);
  }

  draw(gl: WebGL2RenderingContext, { map, program, rows }: Resources): void {
    const scene = this.#scene();
    const { clientWidth: width, clientHeight: height } = map.getCanvas();
    const { uniforms } = program;
    const camera = flatCamera(map);
    this.#deleteOthers(gl, scene.chunks);
    gl.useProgram(program.program);
    gl.bindVertexArray(rows.vertices);
    gl.disable(gl.DEPTH_TEST);
    setCamera(gl, program, camera);
    gl.uniform1i(uniforms.clockMs!, scene.clockMs);
    gl.uniform1i(uniforms.trailMs!, scene.trailMs);
    gl.uniform2f(uniforms.pixels!, width / 2, height / 2);
    const scale = dotScaleAt(map.getZoom());
    gl.uniform1f(uniforms.scale!, scale);
    gl.uniform1f(uniforms.pixelRatio!, devicePixelRatio * scale);
    gl.uniform3fv(uniforms.colors!, COLORS.flat());
    this.#drawPieces(gl, program, camera, scene, scene.trailMs);
    this.#drawPieces(gl, program, camera, scene, 0);
    gl.bindVertexArray(null);
  }

  /** Draws the trails of this length; the dots if it is 0. */
  #drawPieces(
    gl: WebGL2RenderingContext,
    { uniforms }: GlProgram,
    { copies }: FlatCamera,
    { chunks, clockMs }: LapseScene,
    trailMs: number,
  ): void {
    gl.uniform1i(uniforms.isTrail!, trailMs > 0 ? 1 : 0);
    for (const chunk of chunks) {
      if (chunk.startMs > clockMs || chunk.endMs < clockMs - trailMs) continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.#bufferOf(gl, chunk));
      for (const pieceClass of chunk.classes) {
        const { first, count } = piecesWithin(chunk, pieceClass, clockMs - trailMs, clockMs);
        if (count === 0) continue;
        for (const [location, [words, offset]] of ATTRIBUTES.entries())
          gl.vertexAttribIPointer(
            location,
            words,
            gl.UNSIGNED_INT,
            PIECE_BYTES,
            first * PIECE_BYTES + offset,
          );
        for (let copy = -copies; copy <= copies; copy++) {
          gl.uniform1f(uniforms.copy!, copy);
          gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
        }
      }
    }
  }

  /** Deletes the buffers of chunks that are not shown any more: those of an earlier range. */
  #deleteOthers(gl: WebGL2RenderingContext, chunks: readonly Chunk[]): void {
    const range = new Set(chunks);
    for (const [chunk, buffer] of this.#uploaded) {
      if (range.has(chunk)) continue;
      gl.deleteBuffer(buffer);
      this.#uploaded.delete(chunk);
    }
  }

  #bufferOf(gl: WebGL2RenderingContext, chunk: Chunk): WebGLBuffer {
    let buffer = this.#uploaded.get(chunk);
    if (buffer === undefined) {
      buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, chunk.words, gl.STATIC_DRAW);
      this.#uploaded.set(chunk, buffer);
    }
    return buffer;
  }
}
