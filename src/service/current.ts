import type { AppDevices } from "../hot/app-devices.ts";
import type { Device } from "../hot/devices/device.ts";
import type { DeviceList } from "../hot/devices/device-list.ts";
import { ok, type Result } from "../lib/result.ts";
import { type MaybePromise, whenThere } from "../lib/schedule/maybe-promise.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, UserId } from "../model/ids.ts";
import type { NewestRecords } from "../model/newest-records.ts";
import { retentionStartMs } from "../time/retention.ts";
import { type Client, findDevice, isRetained, type QueryDependencies } from "./find-device.ts";

/*
 * Latest positions: of a device, of the devices whose latest report is a user's, of all devices of an app. Answers
 * about many devices are promised, others are there at once.
 */

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
  ofUser(
    appId: AppId,
    userId: UserId,
    query: UserCurrentQuery,
    client: Client,
  ): MaybePromise<DevicesFound | null>;
  ofApp(appId: AppId, query: AppCurrentQuery, client: Client): MaybePromise<AppCurrentAnswer>;
}

export function createCurrentQueries(dependencies: QueryDependencies): CurrentQueries {
  const { hot, clock, scheduler } = dependencies;
  return {
    ofDevice(appId, deviceId) {
      const found = findDevice(dependencies, appId, deviceId);
      if (!found.ok) return found;
      const { app, device } = found.value;
      return ok({ records: app.newestRecords, devices: [device.number] });
    },
    ofUser(appId, userId, { ageMsMax, accuracyMetersMax, limit }, { signal }) {
      const app = hot.findApp(appId);
      if (app === null) return null;
      const nowMs = clock.nowMs();
      const youngEnoughMs = ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax;
      const startMs = Math.max(retentionStartMs(nowMs), youngEnoughMs);
      const matches = (device: Device) => {
        if (!isRetained(device, startMs)) return false;
        if (accuracyMetersMax === null) return true;
        // A position without an accuracy has NaN, which is never greater.
        return !(app.newestAccuracyMeters(device) > accuracyMetersMax);
      };
      const list = app.users.currentDevices(hot.dictionary.findUser(userId));
      // By name, since the number of a text may be another's by then.
      const isTheirs = (device: Device) => device.currentUser === hot.dictionary.findUser(userId);
      const isListed = (device: Device) => isTheirs(device) && app.find(device.id) === device;
      const page = findPage(app, { list, isListed }, matches, { offset: 0, limit, countsAll: false });
      return whenThere(scheduler.runAtOnce(appId, signal, page), ({ found }) => found);
    },
    ofApp(appId, { afterMs, beforeMs, offset, limit }, { signal }) {
      const app = hot.findApp(appId);
      if (app === null) return { found: null, total: 0 };
      const startMs = retentionStartMs(clock.nowMs());
      const matches = (device: Device) => {
        const { newestMs } = device;
        if (newestMs < startMs || (afterMs !== null && newestMs <= afterMs)) return false;
        return beforeMs === null || newestMs < beforeMs;
      };
      const listed = { list: app.list, isListed: (device: Device) => app.find(device.id) === device };
      const page = findPage(app, listed, matches, { offset, limit, countsAll: true });
      return scheduler.runAtOnce(appId, signal, page);
    },
  };
}

interface ListedDevices {
  readonly list: DeviceList;
  /** Whether a device that was in the list is still in it. */
  readonly isListed: (device: Device) => boolean;
}

interface PageOptions {
  readonly offset: number;
  readonly limit: number;
  /** Whether to go on behind the page, for the total. */
  readonly countsAll: boolean;
}

interface PageFound {
  readonly found: DevicesFound;
  readonly total: number;
}

/**
 * Looks at each device once, a block a step. What was found early on may have another position by the end, which is
 * then the one that is shown, or left out where it doesn't match or is another's.
 */
function* findPage(
  app: AppDevices,
  { list, isListed }: ListedDevices,
  matches: (device: Device) => boolean,
  { offset, limit, countsAll }: PageOptions,
): Steps<PageFound> {
  const devices: Device[] = [];
  let total = 0;
  for (const block of list.blocks()) {
    for (const device of block) {
      if (!matches(device)) continue;
      if (total >= offset && devices.length < limit) devices.push(device);
      total++;
    }
    if (!countsAll && devices.length === limit) break;
    yield;
  }
  const still = devices.filter((device) => isListed(device) && matches(device));
  return {
    found: { records: app.newestRecords, devices: still.map(({ number }) => number) },
    total: total - (devices.length - still.length),
  };
}
