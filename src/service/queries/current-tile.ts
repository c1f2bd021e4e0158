import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import { type Dot, DotGrid } from "../../map/dot-grid.ts";
import { LayerWriter, type Property } from "../../map/layer-writer.ts";
import { isShown, type Tile } from "../../map/tile.ts";
import type { GridPoint } from "../../model/geo/grid.ts";
import type { AppId } from "../../model/ids.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Caller, type QueryDependencies, shownRange } from "./find-device.ts";

/*
 * The positions of an app's devices as a map tile. Devices in one cell are one dot: the newest of them, and their
 * number.
 */

/** Null if the tile is empty. */
export type TileBytes = Uint8Array<ArrayBuffer> | null;

export type DrawCurrent = (
  appId: AppId,
  tile: Tile,
  view: View | null,
  caller: Caller,
) => MaybePromise<TileBytes>;

const PROPERTIES: readonly Property[] = [
  { name: "device_id", type: "text" },
  { name: "timestamp", type: "count" },
  { name: "speed", type: "number" },
  { name: "bearing", type: "number" },
  { name: "count", type: "count" },
];
const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");

/** A step takes about 0.1 ms. */
const STEP_DEVICES = 2048;
const STEP_FEATURES = 64;
/** This many devices or more are found by visiting all devices, in steps; fewer are found at once by the index. */
const NEAR_MAX = 65_536;

export function createDrawCurrent(dependencies: QueryDependencies): DrawCurrent {
  const { hot, scheduler } = dependencies;
  return function drawCurrent(appId, tile, view, { signal }) {
    const app = hot.findApp(appId);
    if (app === null) return null;
    const near = view === null ? app.positions.near(tile.boxes(), NEAR_MAX) : devicesOf(app, view);
    const range = shownRange(dependencies, view);
    return scheduler.runAtOnce(appId, signal, draw({ app, tile, view, range, near }));
  };
}

/** The input for drawing a tile. */
interface Sight {
  readonly app: AppDevices;
  readonly tile: Tile;
  /** The view of a share link; null for everything. */
  readonly view: View | null;
  /** The times of newest records, exact ones. */
  readonly range: TimeRange;
  /** Numbers of devices that may be in the tile; null for all. */
  readonly near: Uint32Array | null;
}

/** A blurred device may be in another tile than its real position, so all devices of the view are drawn. */
function devicesOf(app: AppDevices, { deviceIds }: View): Uint32Array {
  const devices = deviceIds.map((id) => app.find(id)).filter((device) => device !== null);
  return Uint32Array.from(devices, ({ number }) => number);
}

function* draw(sight: Sight): Steps<TileBytes> {
  const { app, near } = sight;
  const grid = new DotGrid((device, other) => isBefore(sight, device, other));
  const count = near?.length ?? app.table.numbersEnd;
  for (let from = 0; from < count; from += STEP_DEVICES) {
    addDots(sight, from, Math.min(count, from + STEP_DEVICES), grid);
    yield* grid.fit();
    yield;
  }
  if (grid.size === 0) return null;
  const layer = new LayerWriter("current", PROPERTIES);
  for (let cell = 0; cell < grid.size; cell++) {
    if (cell % STEP_FEATURES === STEP_FEATURES - 1) yield;
    addFeature(layer, sight, grid.dotOf(cell), grid.countOf(cell));
  }
  return layer.finish();
}

/** A separate function, because engines optimise loops in generators badly. */
function addDots({ app, tile, view, range, near }: Sight, from: number, to: number, grid: DotGrid): void {
  const { byDevice } = app.positions;
  for (let index = from; index < to; index++) {
    const device = near === null ? index : near[index]!;
    const timeMs = app.newestTimes.of(device);
    if (!(timeMs >= range.startMs && timeMs < range.endMs)) continue;
    const point = view?.pointOf(byDevice.latitudeOf(device), byDevice.longitudeOf(device));
    const lon = point === undefined ? byDevice.longitudeOf(device) : point.longitude;
    for (const world of tile.worlds) {
      const x = tile.unitX(lon, world);
      if (!isShown(x)) continue; // Tested first, because the latitude's coordinate needs a logarithm.
      const y = tile.unitY(point === undefined ? byDevice.latitudeOf(device) : point.latitude);
      if (isShown(y)) grid.add(x, y, device, world);
    }
  }
}

/** Where a device is drawn, in degrees. */
function pointOf({ app, view }: Sight, device: number): GridPoint {
  const latitude = app.positions.byDevice.latitudeOf(device);
  const longitude = app.positions.byDevice.longitudeOf(device);
  return view === null ? { latitude, longitude } : view.pointOf(latitude, longitude);
}

/** The time that is shown for the device. */
function timeOf({ app, view }: Sight, device: number): number {
  const timeMs = app.newestTimes.of(device);
  return view === null ? timeMs : view.timeOf(timeMs);
}

/** Whether a device is shown rather than another: it reported later, or at the same time with a lesser id. */
function isBefore(sight: Sight, device: number, other: number): boolean {
  const laterMs = timeOf(sight, device) - timeOf(sight, other);
  if (laterMs !== 0) return laterMs > 0;
  const { newestRecords } = sight.app; // A device that was removed since has no time of another one.
  return compareUtf8(newestRecords.deviceId(device), newestRecords.deviceId(other)) < 0;
}

/** Adds the device as it is now: since it was selected, it may have moved out of the tile, or have been removed. */
function addFeature(layer: LayerWriter, sight: Sight, { device, world }: Dot, count: number): void {
  const { app, tile, view } = sight;
  if (app.table.findByNumber(device) === null) return;
  const { latitude, longitude } = pointOf(sight, device);
  const { numbers } = app.newestRecords.pageOf(device);
  const isExact = view === null || view.isExact;
  layer.addPoint(Math.floor(tile.unitX(longitude, world)), Math.floor(tile.unitY(latitude)), [
    app.newestRecords.deviceId(device),
    timeOf(sight, device),
    isExact ? known(numbers[SPEED]!) : null,
    isExact ? known(numbers[BEARING]!) : null,
    count,
  ]);
}

function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
