import type { Map as MapLibreMap, Marker } from "maplibre-gl";
import type { Page } from "playwright-core";
import type { Bounds } from "../../../../src/web/geo/bounds.ts";
import type { MapView } from "../../../../src/web/map/map-view.ts";
import { askPart, type PartName } from "./parts.ts";

const MAP_VIEW: PartName<MapView> = ["map/map-view.ts", "MapView"];

export interface Camera {
  readonly latitude: number;
  readonly longitude: number;
  readonly zoom: number;
}

/** What the map shows; null while there is none. */
export function cameraOf(page: Page): Promise<(Camera & { readonly bounds: Bounds }) | null> {
  return askPart(page, MAP_VIEW, ({ camera }) => camera, null);
}

/** Moves the map at once. */
export async function lookAt(page: Page, camera: Camera): Promise<void> {
  await askPart(page, MAP_VIEW, (view, target) => view.flyTo(target, false), camera);
}

const MAPLIBRE: PartName<MapLibreMap> = ["maplibre-gl", "Map"];

/** Resolves once nothing on the map moves, fades or is loaded any more. */
export async function rest(page: Page): Promise<void> {
  await askPart(
    page,
    MAPLIBRE,
    (map) =>
      new Promise<null>((resolve) => {
        map.once("idle", () => resolve(null));
        map.triggerRepaint();
      }),
    null,
  );
}

/** What a layer of MapLibre shows in the view, without what it hides for lack of room. */
export function shownIn(page: Page, layer: string): Promise<readonly Feature[]> {
  return askPart(
    page,
    MAPLIBRE,
    (map, id) =>
      map
        .queryRenderedFeatures({ layers: [id] })
        .map(({ geometry, properties }) => ({ geometry: geometry as Feature["geometry"], properties })),
    layer,
  );
}

/** The names of all layers, the lowest first. */
export function layersOf(page: Page): Promise<readonly string[]> {
  return askPart(page, MAPLIBRE, (map) => map.getLayersOrder(), null);
}

const MARKER: PartName<Marker> = ["maplibre-gl", "Marker", true];

export interface Feature {
  readonly geometry: { readonly type: string; readonly coordinates: readonly unknown[] };
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** What is drawn over the map, by name: as it was given to MapLibre. */
export function drawnOver(page: Page): Promise<Readonly<Record<string, readonly Feature[]>>> {
  return askPart(
    page,
    MAPLIBRE,
    (map) =>
      Object.fromEntries(
        Object.entries(map.getStyle().sources).flatMap(([name, source]) =>
          source.type === "geojson"
            ? [[name, (source.data as unknown as { features: Feature[] }).features]]
            : [],
        ),
      ),
    null,
  );
}

/** Where the head of the playback is. */
export function headOf(page: Page): Promise<{ readonly longitude: number; readonly latitude: number }> {
  return askPart(
    page,
    MARKER,
    (marker) => {
      const { lng, lat } = marker.getLngLat();
      return { longitude: lng, latitude: lat };
    },
    null,
  );
}

/** Whether the map shows something of a layer. */
export function isDrawn(page: Page, layer: string): Promise<boolean> {
  return askPart(page, MAPLIBRE, (map, id) => map.queryRenderedFeatures({ layers: [id] }).length > 0, layer);
}

export interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** Where on the page a place is shown. */
export async function pixelOf(page: Page, latitude: number, longitude: number): Promise<Pixel> {
  const camera = (await cameraOf(page))!;
  const box = (await page.locator(".map-canvas canvas").boundingBox())!;
  const worldPixels = 512 * 2 ** camera.zoom;
  const x = worldPixels * (worldX(longitude) - worldX(camera.longitude));
  const y = worldPixels * (worldY(latitude) - worldY(camera.latitude));
  return { x: box.x + box.width / 2 + x, y: box.y + box.height / 2 + y };
}

const AROUND_PIXELS = 8;

/** A picture of a few pixels, which is another where a dot came or went. */
export async function pictureAt(page: Page, { x, y }: Pixel): Promise<string> {
  const size = 2 * AROUND_PIXELS;
  const clip = { x: x - AROUND_PIXELS, y: y - AROUND_PIXELS, width: size, height: size };
  return (await page.screenshot({ clip })).toString("base64");
}

function worldX(longitude: number): number {
  return (longitude + 180) / 360;
}

function worldY(latitude: number): number {
  const sin = Math.sin((latitude * Math.PI) / 180);
  return 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI);
}
