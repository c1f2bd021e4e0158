import { numberAt } from "../hot/chunk.ts";
import { PageBuilder } from "../hot/page-builder.ts";
import { ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, UserId } from "../model/ids.ts";
import { numberIndex } from "../model/location-fields.ts";
import type { RecordPage } from "../model/record-page.ts";
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

export interface AppCurrentAnswer {
  readonly page: RecordPage;
  /** Matching devices before paging. */
  readonly total: number;
}

export interface CurrentQueries {
  ofDevice(appId: AppId, deviceId: string): Result<RecordPage, ServiceError>;
  ofUser(appId: AppId, userId: UserId, query: UserCurrentQuery): RecordPage;
  ofApp(appId: AppId, query: AppCurrentQuery): AppCurrentAnswer;
}

/** Latest positions: of a device, of the devices whose latest report is a user's, of all devices of an app. */
export function createCurrentQueries(dependencies: QueryDependencies): CurrentQueries {
  const { hot, clock } = dependencies;
  return {
    ofDevice(appId, deviceId) {
      const found = findDevice(dependencies, appId, deviceId);
      if (!found.ok) return found;
      const page = new PageBuilder(1, hot.dictionary);
      page.addNewest(found.value.app, found.value.device);
      return ok(page.build());
    },
    ofUser(appId, userId, { ageMsMax, accuracyMetersMax, limit }) {
      const nowMs = clock.nowMs();
      const oldestMs = Math.max(
        retentionStartMs(nowMs),
        ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax,
      );
      const page = new PageBuilder(limit, hot.dictionary);
      const app = hot.findApp(appId);
      if (app === null) return page.build();
      for (const device of app.currentDevices(hot.dictionary.findUser(userId))) {
        if (page.isFull) break;
        if (!isRetained(device, oldestMs)) continue;
        const newest = app.newest(device);
        // A position without an accuracy reads as NaN, which is never greater.
        if (accuracyMetersMax !== null && numberAt(newest.chunk, newest.row, ACCURACY) > accuracyMetersMax)
          continue;
        page.add(device, newest.chunk, newest.row);
      }
      return page.build();
    },
    ofApp(appId, { afterMs, beforeMs, offset, limit }) {
      const page = new PageBuilder(limit, hot.dictionary);
      let total = 0;
      const app = hot.findApp(appId);
      if (app === null) return { page: page.build(), total };
      for (const device of retainedDevices(app, clock.nowMs())) {
        const { newestMs } = device;
        if (afterMs !== null && newestMs <= afterMs) continue;
        if (beforeMs !== null && newestMs >= beforeMs) continue;
        if (total >= offset && !page.isFull) page.addNewest(app, device);
        total++;
      }
      return { page: page.build(), total };
    },
  };
}
