import { numberAt } from "../hot/chunk.ts";
import { ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, UserId } from "../model/ids.ts";
import { numberIndex } from "../model/location-fields.ts";
import type { NewestRecords } from "../model/newest-records.ts";
import { retentionStartMs } from "../time/retention.ts";
import { findDevice, isRetained, type QueryDependencies, retainedDevices } from "./find-device.ts";

const ACCURACY = numberIndex("horizontal_accuracy");

export interface UserCurrentQuery {
  /** Leaves out positions older than this. */
  readonly ageMsMax: number | null;
  /** Leaves out positions whose horizontal accuracy is greater. */
  readonly accuracyMetersMax: number | null;
  readonly limit: number;
}

export interface AppCurrentQuery {
  /** Both exclusive. */
  readonly afterMs: number | null;
  readonly beforeMs: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** Devices by number, to be looked up in `records` and good as long as those are. */
export interface DevicesFound {
  readonly records: NewestRecords;
  readonly devices: readonly number[];
}

export interface AppCurrentAnswer {
  /** Null where nobody ever reported for the app. */
  readonly found: DevicesFound | null;
  /** Matching devices before paging. */
  readonly total: number;
}

export interface CurrentQueries {
  ofDevice(appId: AppId, deviceId: string): Result<DevicesFound, ServiceError>;
  /** Null where nobody ever reported for the app. */
  ofUser(appId: AppId, userId: UserId, query: UserCurrentQuery): DevicesFound | null;
  ofApp(appId: AppId, query: AppCurrentQuery): AppCurrentAnswer;
}

/** Latest positions: of a device, of the devices whose latest report is a user's, of all devices of an app. */
export function createCurrentQueries(dependencies: QueryDependencies): CurrentQueries {
  const { hot, clock } = dependencies;
  return {
    ofDevice(appId, deviceId) {
      const found = findDevice(dependencies, appId, deviceId);
      if (!found.ok) return found;
      const { app, device } = found.value;
      return ok({ records: app.newestRecords, devices: [device.number] });
    },
    ofUser(appId, userId, { ageMsMax, accuracyMetersMax, limit }) {
      const nowMs = clock.nowMs();
      const oldestMs = Math.max(
        retentionStartMs(nowMs),
        ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax,
      );
      const app = hot.findApp(appId);
      if (app === null) return null;
      const devices: number[] = [];
      for (const device of app.currentDevices(hot.dictionary.findUser(userId))) {
        if (devices.length === limit) break;
        if (!isRetained(device, oldestMs)) continue;
        const newest = app.newest(device);
        // A position without an accuracy reads as NaN, which is never greater.
        if (accuracyMetersMax !== null && numberAt(newest.chunk, newest.row, ACCURACY) > accuracyMetersMax)
          continue;
        devices.push(device.number);
      }
      return { records: app.newestRecords, devices };
    },
    ofApp(appId, { afterMs, beforeMs, offset, limit }) {
      const app = hot.findApp(appId);
      if (app === null) return { found: null, total: 0 };
      const devices: number[] = [];
      let total = 0;
      for (const device of retainedDevices(app, clock.nowMs())) {
        const { newestMs } = device;
        if (afterMs !== null && newestMs <= afterMs) continue;
        if (beforeMs !== null && newestMs >= beforeMs) continue;
        if (total >= offset && devices.length < limit) devices.push(device.number);
        total++;
      }
      return { found: { records: app.newestRecords, devices }, total };
    },
  };
}
