import type { MapLibreMap } from "maplibre-gl";
import { WORLD_SIZE } from "../geo/world.ts";
import { DOT_BYTES, DOT_WORDS, type DotBuffer, type DotView, isDrawn } from "./dot-buffer.ts";
import { DOT_FRAGMENT, DOT_VERTEX } from "./dot-shader.ts";
import type { Fade } from "./fade.ts";
import {
  type FlatCamera,
  flatCamera,
  GlLayer,
  type GlProgram,
  type GlResources,
  type RowLayout,
  setCamera,
  worldPixels,
} from "./gl-layer.ts";
import type { GlidePace } from "./glide-pace.ts";
import type { MapColors } from "./map-colors.ts";

/** The input of a frame. */
export interface DotScene {
  readonly buffer: DotBuffer;
  readonly colors: MapColors;
  readonly chosenRow: number | null;
  readonly pace: GlidePace;
  /** How much of the color of dots is left under the heatmap. */
  readonly fade: Fade;
  /** Unix ms, for the ages of dots. */
  readonly nowMs: number;
}

/** `uploaded` is the capacity of the buffer on the graphics card, in rows. */
type Resources = GlResources<number>;

/** No dot is larger than twice this. */
const DOT_PIXELS = 24;
/** At most this many visible dots have their full size. */
const ROOMY_COUNT = 200;
const SAMPLES_MAX = 2048;

const DOT_ROWS: RowLayout = {
  rowBytes: DOT_BYTES,
  attributes: [
    [2, 0],
    [2, 8],
    [3, 16],
  ],
  per: "vertex",
};

/** Draws every device in one call, below the names of places. The shader moves gliding dots. */
export class DotsLayer extends GlLayer<number> {
  readonly #scene: () => DotScene;

  constructor(scene: () => DotScene) {
    super("dots", { vertex: DOT_VERTEX, fragment: DOT_FRAGMENT, layout: DOT_ROWS }, 0);
    this.#scene = scene;
  }

  draw(gl: WebGL2RenderingContext, resources: Resources): void {
    const scene = this.#scene();
    if (scene.buffer.size === 0) return;
    const { map, program } = resources;
    gl.useProgram(program.program);
    gl.bindVertexArray(resources.rows.vertices);
    upload(gl, resources, scene.buffer);
    const nowMs = performance.now();
    const camera = flatCamera(map);
    setCamera(gl, program, camera);
    setLook(gl, program, scene, nowMs, dotScale(seenCount(scene.buffer, camera)));
    gl.uniform1f(program.uniforms.fade!, scene.fade.valueAt(nowMs));
    drawDots(gl, program, scene, camera, nowMs);
    gl.bindVertexArray(null);
    const isGliding = scene.buffer.isGlideSeen(dotViewOf(map, camera), nowMs);
    scene.pace.frame(nowMs, isGliding);
    if (isGliding || scene.fade.isMoving(nowMs)) map.triggerRepaint();
  }
}

/** Uploads changed rows, or all of them if the capacity has changed. */
function upload(gl: WebGL2RenderingContext, resources: Resources, buffer: DotBuffer): void {
  gl.bindBuffer(gl.ARRAY_BUFFER, resources.rows.bytes);
  const spans = buffer.takeStale();
  const capacity = buffer.words.length / DOT_WORDS;
  if (resources.uploaded !== capacity) {
    gl.bufferData(gl.ARRAY_BUFFER, buffer.words, gl.DYNAMIC_DRAW);
    resources.uploaded = capacity;
    return;
  }
  for (const { start, end } of spans)
    gl.bufferSubData(
      gl.ARRAY_BUFFER,
      start * DOT_BYTES,
      buffer.words,
      start * DOT_WORDS,
      (end - start) * DOT_WORDS,
    );
}

function setLook(
  gl: WebGL2RenderingContext,
  { uniforms }: GlProgram,
  { buffer, colors, nowMs: unixMs }: DotScene,
  nowMs: number,
  scale: number,
): void {
  gl.uniform1ui(uniforms.nowMs!, nowMs);
  gl.uniform1ui(uniforms.nowSeconds!, unixMs / 1000);
  gl.uniform1f(uniforms.glideMs!, buffer.glideMs);
  gl.uniform1f(uniforms.pixelRatio!, devicePixelRatio);
  gl.uniform1f(uniforms.scale!, scale);
  gl.uniform3fv(uniforms.colors!, [...colors.fresh, ...colors.aging, ...colors.old]);
  gl.uniform3f(uniforms.edge!, ...colors.edge);
  gl.uniform3f(uniforms.accent!, ...colors.accent);
}

function drawDots(
  gl: WebGL2RenderingContext,
  { uniforms }: GlProgram,
  { buffer, fade }: DotScene,
  { copies }: FlatCamera,
  nowMs: number,
): void {
  // In front of everything that MapLibre has drawn.
  gl.depthRange(0, 0.5);
  // Of faded dots that overlap only one is drawn: together they would hide the heatmap.
  gl.depthFunc(fade.valueAt(nowMs) < 1 ? gl.LESS : gl.LEQUAL);
  gl.depthMask(true);
  gl.enable(gl.DEPTH_TEST);
  gl.uniform1i(uniforms.isChosen!, 0);
  for (let copy = -copies; copy <= copies; copy++) {
    gl.uniform1f(uniforms.copy!, copy);
    gl.drawArrays(gl.POINTS, 0, buffer.size);
  }
  gl.clear(gl.DEPTH_BUFFER_BIT); // Or the dots would hide circles that MapLibre draws over them.
}

/** Draws the chosen device again, larger and over everything else. Its buffer has one row. */
export class ChosenDotLayer extends GlLayer<null> {
  readonly #scene: () => DotScene;

  constructor(scene: () => DotScene) {
    super("chosen-dot", { vertex: DOT_VERTEX, fragment: DOT_FRAGMENT, layout: DOT_ROWS }, null);
    this.#scene = scene;
  }

  draw(gl: WebGL2RenderingContext, { map, program, rows }: GlResources<null>): void {
    const scene = this.#scene();
    const { buffer, chosenRow } = scene;
    if (chosenRow === null || chosenRow >= buffer.size) return;
    gl.useProgram(program.program);
    gl.bindVertexArray(rows.vertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, rows.bytes);
    gl.bufferData(gl.ARRAY_BUFFER, buffer.words, gl.STREAM_DRAW, chosenRow * DOT_WORDS, DOT_WORDS);
    const camera = flatCamera(map);
    setCamera(gl, program, camera);
    setLook(gl, program, scene, performance.now(), dotScale(seenCount(buffer, camera)));
    gl.disable(gl.DEPTH_TEST);
    gl.uniform1i(program.uniforms.isChosen!, 1);
    for (let copy = -camera.copies; copy <= camera.copies; copy++) {
      gl.uniform1f(program.uniforms.copy!, copy);
      gl.drawArrays(gl.POINTS, 0, 1);
    }
    gl.bindVertexArray(null);
  }
}

/** The visible part of the world. The camera's center may differ from the middle of the canvas. */
export function dotViewOf(map: MapLibreMap, { center, centerClip, clipPerUnit }: FlatCamera): DotView {
  const pixel = WORLD_SIZE / worldPixels(map);
  const reachX = (1 + Math.abs(centerClip[0])) / clipPerUnit[0];
  const reachY = (1 + Math.abs(centerClip[1])) / -clipPerUnit[1];
  return { center, reach: [reachX + DOT_PIXELS * pixel, reachY + DOT_PIXELS * pixel], pixel };
}

/** Estimates the number of visible dots from a sample. */
export function seenCount({ words, size }: DotBuffer, { center, clipPerUnit }: FlatCamera): number {
  const step = Math.ceil(size / SAMPLES_MAX);
  const reachX = 1 / clipPerUnit[0];
  const reachY = -1 / clipPerUnit[1];
  let seen = 0;
  for (let at = 2; at < size * DOT_WORDS; at += step * DOT_WORDS) {
    const isSeen =
      Math.abs((words[at]! - center[0]) | 0) <= reachX && Math.abs(words[at + 1]! - center[1]) <= reachY;
    if (isSeen && isDrawn(words[at + 4]!)) seen++;
  }
  return seen * step;
}

/** Dots shrink if many are visible: down to a third for 200,000. */
export function dotScale(seenCount: number): number {
  const crowd =
    Math.log10(Math.max(seenCount, ROOMY_COUNT) / ROOMY_COUNT) / Math.log10(200_000 / ROOMY_COUNT);
  return 1 - 0.65 * Math.min(1, crowd);
}
