import { haversineMeters } from "../geo/distance.ts";
import { compareUtf8 } from "../lib/utf8.ts";
import type { DeviceId } from "../model/ids.ts";

/** Adds up the lengths of devices' paths, position by position in time order, wherever the positions come from. */
export class PathMeter {
  readonly #paths = new Map<DeviceId, Path>();

  add(deviceId: DeviceId, latitude: number, longitude: number): void {
    const path = this.#paths.get(deviceId);
    if (path === undefined) {
      this.#paths.set(deviceId, { meters: 0, latitude, longitude });
      return;
    }
    path.meters += haversineMeters(path.latitude, path.longitude, latitude, longitude);
    path.latitude = latitude;
    path.longitude = longitude;
  }

  /** Meters by device, in order of their ids. */
  meters(): ReadonlyMap<DeviceId, number> {
    const sorted = [...this.#paths].sort(([a], [b]) => compareUtf8(a, b));
    return new Map(sorted.map(([deviceId, { meters }]) => [deviceId, meters]));
  }
}

/** The path so far, and where it ends. */
interface Path {
  meters: number;
  latitude: number;
  longitude: number;
}
