import type { Archive } from "../../archive/archive.ts";
import type { View } from "../../auth/view.ts";
import type { AppId } from "../../model/ids.ts";
import { type FindDependencies, findDevice } from "./find-device.ts";

/*
 * Versions for entity tags. A version is read in the same turn as the answer and before it; otherwise a change in
 * between would be in the answer but not in its version.
 */

/**
 * A version changes whenever the answer may, and sometimes although it doesn't, while the process runs. If an answer
 * also depends on other values, such as the time, its tag must include them.
 */
export interface Versions {
  /** The version of the newest records of an app's devices, or of a view's devices. */
  ofNewest(appId: AppId, view?: View | null): string;
  /** The version of all records of a device. */
  ofDevice(appId: AppId, deviceId: string): string;
  /** The version of all records of an app. */
  ofRecords(appId: AppId): string;
}

export interface VersionDependencies extends FindDependencies {
  /** Open by the time of the first query. */
  readonly archive: () => Pick<Archive, "version">;
}

export function createVersions(dependencies: VersionDependencies): Versions {
  const { hot, clock, retention, archive } = dependencies;
  // Records expire at midnight, or when the retention changes, without any report.
  const edge = () => retention.startMs(clock.nowMs());
  // An erasure masks archived records of devices that memory does not know it is about.
  const archived = () => `${archive().version} ${hot.erasures.added}`;
  const touched = (appId: AppId) => hot.findApp(appId)?.touches.version ?? NO_DEVICE;
  const touchedAt = (appId: AppId, deviceId: string) => {
    const app = hot.findApp(appId);
    const device = app?.find(deviceId) ?? null;
    return device === null ? NO_DEVICE : app!.touches.sequenceOf(device.number);
  };
  // A link must not reveal whether or when there were reports before its start.
  const shownAt = (appId: AppId, deviceId: string, view: View) => {
    const match = findDevice(dependencies, appId, deviceId, view);
    return match.ok ? match.value.app.touches.sequenceOf(match.value.device.number) : NO_DEVICE;
  };
  return {
    ofNewest(appId, view = null) {
      // By the link's devices only, because others' reports must not show.
      const version =
        view === null ? touched(appId) : view.deviceIds.map((id) => shownAt(appId, id, view)).join();
      return [edge(), version].join(" ");
    },
    ofDevice: (appId, deviceId) => [edge(), archived(), touchedAt(appId, deviceId)].join(" "),
    ofRecords: (appId) => [edge(), archived(), touched(appId)].join(" "),
  };
}

/** Any device that appears later has a sequence, so this text never equals a later version. */
const NO_DEVICE = "none";
