import { expect, test } from "bun:test";
import type { MapLibreMap } from "maplibre-gl";
import { fitPadding, MapCamera } from "../../../../src/web/map/map-camera.ts";
import { type Dot, tableOf } from "../gl/dot-fleet.ts";

const BUS: Dot = { latitude: 42.36, longitude: -71.06, timestamp: 0 };

/** A map that keeps what it is told. */
function createMap() {
  const told: unknown[] = [];
  const handlers = new Map<string, (event: object) => void>();
  let press = (_: { readonly key: string }) => {};
  const bounds = { getWest: () => 1, getSouth: () => 2, getEast: () => 3, getNorth: () => 4 };
  const fake = {
    on: (name: string, handler: (event: object) => void) => handlers.set(name, handler),
    getCanvas: () => ({ addEventListener: (_: string, listener: typeof press) => (press = listener) }),
    getCenter: () => ({ wrap: () => ({ lat: 10, lng: 20 }) }),
    getBounds: () => bounds,
    getZoom: () => 5,
    getContainer: () => ({ clientWidth: 1280 }),
    resize: () => {},
    easeTo: ({ center }: { readonly center: unknown }) => told.push(center),
    fitBounds: (corners: unknown) => told.push(corners),
  };
  const fire = (name: string, event: object = {}) => handlers.get(name)!(event);
  return { map: fake as unknown as MapLibreMap, told, fire, press: (key: string) => press({ key }) };
}

test("MapCamera shows all devices once, by itself, and says that nobody chose it", () => {
  const { map, told, fire } = createMap();
  const camera = new MapCamera(() => {});
  const heard: boolean[] = [];
  camera.onCamera((_, isChosen) => heard.push(isChosen));
  camera.beginWith(tableOf([]));
  camera.beginWith(tableOf([BUS]));
  camera.use(map);
  camera.beginWith(tableOf([BUS, { ...BUS, latitude: 50 }]));
  expect(told).toEqual([[-71.06, 42.36, -71.06, 42.36]]);
  fire("moveend");
  camera.fitAll(tableOf([BUS, { ...BUS, latitude: 50 }]));
  fire("moveend");
  expect(told).toHaveLength(2);
  expect(heard).toEqual([false, true]);
});

test("MapCamera begins with most devices, and fits all when the user wants that", () => {
  const { map, told } = createMap();
  const camera = new MapCamera(() => {});
  camera.use(map);
  const table = tableOf([...Array.from({ length: 40 }, () => BUS), { ...BUS, longitude: 40 }]);
  camera.beginWith(table);
  camera.fitAll(table);
  expect(told).toEqual([
    [-71.06, 42.36, -71.06, 42.36],
    [-71.06, 42.36, 40, 42.36],
  ]);
});

test("MapCamera goes where it was told before there was a map, and not where devices are", () => {
  const { map, told } = createMap();
  const camera = new MapCamera(() => {});
  camera.flyTo({ latitude: 1, longitude: 2 });
  camera.beginWith(tableOf([BUS]));
  camera.use(map);
  expect(told).toEqual([[2, 1]]);
});

test("MapCamera tells listeners of a move that waited for the map", () => {
  const { map, fire } = createMap();
  const camera = new MapCamera(() => {});
  const zooms: number[] = [];
  camera.onCamera(({ zoom }) => zooms.push(zoom));
  camera.beginWith(tableOf([BUS]));
  camera.use(Object.assign(map, { fitBounds: () => fire("moveend") }));
  expect(zooms).toEqual([5]);
});

test("MapCamera moves with a device only while it follows, and not during a zoom by hand", () => {
  const { map, told, fire } = createMap();
  const camera = new MapCamera(() => {});
  camera.use(map);
  camera.keepInMiddle({ latitude: 1, longitude: 1 }, 900);
  camera.follow(true);
  camera.keepInMiddle({ latitude: 2, longitude: 2 }, 900);
  camera.keepInMiddle({ latitude: 2, longitude: 2 }, 900);
  fire("zoomstart", { originalEvent: {} });
  camera.keepInMiddle({ latitude: 3, longitude: 3 }, 900);
  fire("zoomend");
  camera.keepInMiddle({ latitude: 4, longitude: 4 }, 900);
  expect(told).toEqual([
    [2, 2],
    [4, 4],
  ]);
});

test("MapCamera keeps a followed device in the middle when the map's size changes", () => {
  const { map, told, fire } = createMap();
  const camera = new MapCamera(() => {});
  camera.use(map);
  fire("resize");
  camera.follow(true);
  camera.keepInMiddle({ latitude: 2, longitude: 1 }, 900);
  fire("resize");
  camera.follow(false);
  fire("resize");
  expect(told).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test("MapCamera tells of the user's hand, and of nothing else that moves the map", () => {
  const { map, fire, press } = createMap();
  const camera = new MapCamera(() => {});
  let hands = 0;
  camera.onHand(() => hands++);
  camera.use(map);
  camera.flyTo({ latitude: 1, longitude: 2 });
  camera.follow(true);
  fire("zoomstart");
  press("+");
  expect(hands).toBe(0);
  fire("dragstart");
  press("ArrowUp");
  fire("zoomstart", { originalEvent: {} });
  expect(hands).toBe(3);
});

test("dragging, and arrow keys, end following", () => {
  const { map, fire, press } = createMap();
  const camera = new MapCamera(() => {});
  camera.use(map);
  camera.follow(true);
  press("+");
  expect(camera.isFollowing).toBe(true);
  press("ArrowLeft");
  expect(camera.isFollowing).toBe(false);
  camera.follow(true);
  fire("dragstart");
  expect(camera.isFollowing).toBe(false);
});

test("fitPadding() keeps what is fitted clear of the legend and the note, where the map has space for it", () => {
  expect(fitPadding(1280, 500)).toEqual({ top: 84, right: 56, bottom: 120, left: 56 });
  expect(fitPadding(1280, 400)).toEqual({ top: 56, right: 56, bottom: 56, left: 56 });
  expect(fitPadding(390, 366)).toEqual({ top: 56, right: 56, bottom: 120, left: 32 });
});
