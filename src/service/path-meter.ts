import { haversineMeters } from "../geo/distance.ts";
import type { Steps } from "../lib/in-turns.ts";
import { sortInSteps } from "../lib/sort-in-steps.ts";
import { compareUtf8 } from "../lib/utf8.ts";
import type { DeviceId } from "../model/ids.ts";

const STEP_DEVICES = 1024;

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
  *meters(): Steps<ReadonlyMap<DeviceId, number>> {
    const sorted = yield* sortInSteps([...this.#paths.keys()], compareUtf8);
    const meters = new Map<DeviceId, number>();
    for (const deviceId of sorted) {
      meters.set(deviceId, this.#paths.get(deviceId)!.meters);
      if (meters.size % STEP_DEVICES === 0) yield;
    }
    return meters;
  }
}

/** The path so far, and where it ends. */
interface Path {
  meters: number;
  latitude: number;
  longitude: number;
}
