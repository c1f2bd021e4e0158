import { expect, test } from "bun:test";
import type { BaseMap } from "../../../../src/web/map/base-map.ts";
import type { Camera, CameraListener } from "../../../../src/web/map/map-camera.ts";
import { placeWithoutStreets, StreetsHint } from "../../../../src/web/map/streets-hint.ts";

const WORLD: BaseMap["world"] = {
  tiles: "",
  minzoom: 0,
  maxzoom: 6,
  bounds: [-180, -85, 180, 85],
  areas: [[-180, -85, 180, 85]],
  credits: [],
};
const WITHOUT: BaseMap = { world: WORLD, streets: null };
const BOSTON: BaseMap = { world: WORLD, streets: { ...WORLD, areas: [[-71.2, 42.2, -70.9, 42.5]] } };

function cameraAt(latitude: number, longitude: number, zoom: number): Camera {
  return { latitude, longitude, zoom, bounds: { west: 0, south: 0, east: 0, north: 0 } };
}

test("streets are missing at city level, where no file covers the middle of the map", () => {
  expect(placeWithoutStreets(cameraAt(42.3, -71, 10.9), WITHOUT)).toBeNull();
  expect(placeWithoutStreets(cameraAt(42.3, -71, 11), WITHOUT)).toEqual({ latitude: 42.3, longitude: -71 });
  expect(placeWithoutStreets(cameraAt(42.3, -71, 11), BOSTON)).toBeNull();
  expect(placeWithoutStreets(cameraAt(53.4, -3, 11), BOSTON)).toEqual({ latitude: 53.4, longitude: -3 });
});

test("the hint comes and goes with the camera, and never again once it is closed", () => {
  let look: CameraListener = () => undefined;
  let changes = 0;
  const map = { baseMap: null as BaseMap | null, onCamera: (listener: CameraListener) => (look = listener) };
  const hint = new StreetsHint(map, () => changes++);
  look(cameraAt(53.4, -3, 14), false);
  expect([hint.place, changes]).toEqual([null, 0]);
  map.baseMap = WITHOUT;
  look(cameraAt(53.4, -3, 4), false);
  expect([hint.place, changes]).toEqual([null, 0]);
  look(cameraAt(53.4, -3, 14), false);
  expect([hint.place, changes]).toEqual([{ latitude: 53.4, longitude: -3 }, 1]);
  look(cameraAt(53.4, -3, 4), true);
  expect([hint.place, changes]).toEqual([null, 2]);
  look(cameraAt(53.4, -3, 14), true);
  hint.close();
  look(cameraAt(53.4, -3, 15), true);
  expect([hint.place, changes]).toEqual([null, 4]);
});
