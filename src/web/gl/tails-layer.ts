import type { DotBuffer } from "./dot-buffer.ts";
import { dotScale, seenCount } from "./dots-layer.ts";
import type { Fade } from "./fade.ts";
import { flatCamera, GlLayer, type GlResources, type RowLayout, setCamera } from "./gl-layer.ts";
import { type GlidePace, MANY_DOTS } from "./glide-pace.ts";
import type { MapColors } from "./map-colors.ts";
import { SHARE_WHOLE, TAIL_BYTES, TAIL_DIM, TAIL_MS, TAIL_WORDS, type TailBuffer } from "./tail-buffer.ts";

/* The tails of moving dots: their last two minutes, thinner and fainter with age. */

/** The input of a frame. */
export interface TailScene {
  readonly tails: TailBuffer;
  readonly dots: DotBuffer;
  readonly colors: MapColors;
  readonly pace: GlidePace;
  /** Whether circles stand for dots, whose tails would be dust around them. */
  readonly hasClusters: boolean;
  /** Tails fade under the heatmap as dots do. */
  readonly fade: Fade;
  /** Unix ms, for the ages of tails. */
  readonly nowMs: number;
}

const VERTEX = `#version 300 es
precision highp float;
precision highp int;

layout(location = 0) in uvec2 from;
layout(location = 1) in uvec2 to;
layout(location = 2) in uvec4 when; // Words 4 to 7 of tail-buffer.ts.

uniform uvec2 center;
uniform vec2 centerClip;
uniform vec2 clipPerUnit;
uniform float copy;
uniform uint nowMs;
uniform uint unixMs;
uniform float glideMs;
uniform vec2 pixels; // Half the size of the canvas, in CSS pixels.
uniform float widest; // Half the width at the dot, in CSS pixels.

out float youth; // 1 at the dot, 0 at the end of the tail.
out float across; // CSS pixels from the middle.
out float halfWidth;
flat out float strength;

vec2 offsetOf(uvec2 place) {
  float south = place.y >= center.y ? float(place.y - center.y) : -float(center.y - place.y);
  return vec2(float(int(place.x - center.x)) + copy * 4294967296.0, south);
}

float youthAt(uint ms) {
  return 1.0 - float(int(unixMs - ms)) / ${TAIL_MS.toFixed(1)};
}

void main() {
  float glided = 1.0;
  if (glideMs > 0.0) glided = clamp(float(int(nowMs - when.z)) / glideMs, 0.0, 1.0);
  float reached = mix(float(when.w & ${SHARE_WHOLE}u) / ${SHARE_WHOLE.toFixed(1)}, 1.0, glided);
  // Differences of integers are exact at any zoom. Those of x wrap around the world; those of y must not.
  vec2 way = vec2(float(int(to.x - from.x)), to.y >= from.y ? float(to.y - from.y) : -float(from.y - to.y));
  float along = float(gl_VertexID >> 1) * reached;
  vec2 middle = centerClip + (offsetOf(from) + way * along) * clipPerUnit;
  vec2 direction = way * clipPerUnit * pixels;
  float size = length(direction);
  float newest = youthAt(when.y);
  if (newest <= 0.0 || size == 0.0) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  youth = min(1.0, mix(youthAt(when.x), newest, float(gl_VertexID >> 1)));
  halfWidth = widest * (0.3 + 0.7 * max(youth, 0.0));
  float side = float(gl_VertexID & 1) * 2.0 - 1.0;
  across = side * (halfWidth + 0.7);
  vec2 normal = vec2(-direction.y, direction.x) / size;
  gl_Position = vec4(middle + normal * across / pixels, 0.0, 1.0);
  strength = (when.w & ${TAIL_DIM}u) == 0u ? 0.75 : 0.2;
}`;

const FRAGMENT = `#version 300 es
precision highp float;

in float youth;
in float across;
in float halfWidth;
flat in float strength;

uniform vec3 tint;
uniform float fade;

out vec4 color;

void main() {
  float inside = clamp(halfWidth + 0.5 - abs(across), 0.0, 1.0);
  color = vec4(tint, 1.0) * inside * strength * max(youth, 0.0) * fade;
}`;

const SEGMENT_ROWS: RowLayout = {
  rowBytes: TAIL_BYTES,
  attributes: [
    [2, 0],
    [2, 8],
    [4, 16],
  ],
  per: "instance",
};

/** Half the width of a tail at a dot of full size, in CSS pixels. */
const HALF_WIDTH = 2.2;

/** `uploaded` is the list of segments on the graphics card. */
type Resources = GlResources<Uint32Array | null>;

/** Draws the tails of all dots in one call. */
export class TailsLayer extends GlLayer<Uint32Array | null> {
  readonly #scene: () => TailScene;

  constructor(scene: () => TailScene) {
    super("tails", { vertex: VERTEX, fragment: FRAGMENT, layout: SEGMENT_ROWS }, null);
    this.#scene = scene;
  }

  draw(gl: WebGL2RenderingContext, resources: Resources): void {
    const { tails, dots, colors, pace, hasClusters, fade, nowMs } = this.#scene();
    tails.fade(nowMs);
    const isTooSlow = dots.size > MANY_DOTS && pace.isSlow(performance.now());
    if (hasClusters || isTooSlow) return;
    upload(gl, resources, tails);
    if (tails.isEmpty) return;
    const { map, program, rows } = resources;
    const { uniforms } = program;
    const { clientWidth: width, clientHeight: height } = map.getCanvas();
    const camera = flatCamera(map);
    gl.useProgram(program.program);
    gl.bindVertexArray(rows.vertices);
    gl.disable(gl.DEPTH_TEST);
    setCamera(gl, program, camera);
    gl.uniform1ui(uniforms.nowMs!, performance.now());
    gl.uniform1ui(uniforms.unixMs!, nowMs >>> 0);
    gl.uniform1f(uniforms.glideMs!, dots.glideMs);
    gl.uniform2f(uniforms.pixels!, width / 2, height / 2);
    gl.uniform1f(uniforms.widest!, HALF_WIDTH * dotScale(seenCount(dots, camera)));
    gl.uniform1f(uniforms.fade!, fade.valueAt(performance.now()));
    gl.uniform3f(uniforms.tint!, ...colors.fresh);
    for (let copy = -camera.copies; copy <= camera.copies; copy++) {
      gl.uniform1f(uniforms.copy!, copy);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, tails.size);
    }
    gl.bindVertexArray(null);
  }
}

/** Uploads changed segments, or all of them if their list was replaced. */
function upload(gl: WebGL2RenderingContext, resources: Resources, tails: TailBuffer): void {
  gl.bindBuffer(gl.ARRAY_BUFFER, resources.rows.bytes);
  const spans = tails.takeStale();
  const { words } = tails;
  if (resources.uploaded !== words) {
    gl.bufferData(gl.ARRAY_BUFFER, words, gl.DYNAMIC_DRAW);
    resources.uploaded = words;
    return;
  }
  for (const { start, end } of spans)
    gl.bufferSubData(
      gl.ARRAY_BUFFER,
      start * TAIL_BYTES,
      words,
      start * TAIL_WORDS,
      (end - start) * TAIL_WORDS,
    );
}
