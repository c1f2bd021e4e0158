import type { MapLibreMap } from "maplibre-gl";
import { WORLD_SIZE, worldX, worldY } from "../geo/world.ts";
import type { GlProgram } from "./gl-program.ts";

/** The world's width in CSS pixels at zoom 0, to MapLibre. */
const WORLD_PIXELS = 512;

/** Where the map looks, for the shaders of our own layers. It never tilts or turns: a scale and a place are all. */
export interface FlatCamera {
  /** What the map's middle shows, by `world.ts`. */
  readonly center: readonly [x: number, y: number];
  /** Where that is drawn, in clip space. */
  readonly centerClip: readonly [x: number, y: number];
  readonly clipPerUnit: readonly [x: number, y: number];
  /** Of the world, that the map shows to either side of the middle one. */
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
