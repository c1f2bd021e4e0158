import type { Archive } from "../../archive/archive.ts";
import type { View } from "../../auth/view.ts";
import type { AppId } from "../../model/ids.ts";
import { type FindDependencies, findDevice } from "./find-device.ts";

/*
 * What changes whenever an answer may, so that who has it need not be sent it again. Asked for in the same turn as the
 * answer and before it, since what comes in between would be in the answer and not in its version.
 */

/**
 * Each is another text whenever what is asked may be answered otherwise, as long as the process runs, and sometimes
 * where it is not. An answer that depends on more, as on the time, must not go by these alone.
 */
export interface Versions {
  /** Of the newest records of an app's devices, or of those that a view shows. */
  ofNewest(appId: AppId, view?: View | null): string;
  /** Of all records of a device. */
  ofDevice(appId: AppId, deviceId: string): string;
  /** Of all records of an app. */
  ofRecords(appId: AppId): string;
}

export interface VersionDependencies extends FindDependencies {
  /** Open by the time of the first query. */
  readonly archive: () => Pick<Archive, "version">;
}

export function createVersions(dependencies: VersionDependencies): Versions {
  const { hot, clock, retention, archive } = dependencies;
  // Records leave answers at midnight, or where the retention is set otherwise, though nothing touches them.
  const edge = () => retention.startMs(clock.nowMs());
  const touched = (appId: AppId) => hot.findApp(appId)?.touches.version ?? NOBODY;
  const touchedAt = (appId: AppId, deviceId: string) => {
    const app = hot.findApp(appId);
    const device = app?.find(deviceId) ?? null;
    return device === null ? NOBODY : app!.touches.sequenceOf(device.number);
  };
  // What came before a link begins is none of its business, nor is when it came.
  const shownAt = (appId: AppId, deviceId: string, view: View) => {
    const found = findDevice(dependencies, appId, deviceId, view);
    return found.ok ? found.value.app.touches.sequenceOf(found.value.device.number) : NOBODY;
  };
  return {
    ofNewest(appId, view = null) {
      // By its devices alone, or who looks at them would learn when others report.
      const shown =
        view === null ? touched(appId) : view.deviceIds.map((id) => shownAt(appId, id, view)).join();
      return [edge(), shown].join(" ");
    },
    ofDevice: (appId, deviceId) => [edge(), archive().version, touchedAt(appId, deviceId)].join(" "),
    ofRecords: (appId) => [edge(), archive().version, touched(appId)].join(" "),
  };
}

/** Who comes after that has been touched by an entry, so that what they have is never taken for what was before. */
const NOBODY = "nobody";
