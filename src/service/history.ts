import type { Device } from "../hot/device.ts";
import { PageBuilder } from "../hot/page-builder.ts";
import { type RecordFilter, Slice } from "../hot/slice.ts";
import { fillPage, type Order } from "../hot/timeline.ts";
import { ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { RecordPage } from "../model/record-page.ts";
import type { TimeRange } from "../time/range.ts";
import { retentionStartMs } from "../time/retention.ts";
import { findDevice, type QueryDependencies, retainedDevices } from "./find-device.ts";

export interface HistoryQuery {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Leaves out records whose horizontal accuracy is greater. */
  readonly accuracyMetersMax: number | null;
  readonly withDistance: boolean;
}

export interface HistoryAnswer {
  readonly page: RecordPage;
  /** Matching records before paging. */
  readonly total: number;
  /** Devices with a matching record. */
  readonly devicesMatching: number;
  /** Devices that were asked. */
  readonly devicesQueried: number;
  /** Length of each device's path in meters, in order of device ids; null where it was not asked for. */
  readonly pathMeters: ReadonlyMap<DeviceId, number> | null;
  readonly bytesRead: number;
  readonly source: "hot";
}

export interface HistoryQueries {
  ofDevice(appId: AppId, deviceId: string, query: HistoryQuery): Result<HistoryAnswer, ServiceError>;
  ofUser(appId: AppId, userId: UserId, query: HistoryQuery): HistoryAnswer;
  ofApp(appId: AppId, query: HistoryQuery): HistoryAnswer;
}

/** Where devices were: one device, the reports made under a user, a whole app. */
export function createHistoryQueries(dependencies: QueryDependencies): HistoryQueries {
  const { hot, clock } = dependencies;

  function answer(devices: readonly Device[], query: HistoryQuery, user: number | null): HistoryAnswer {
    const startMs = Math.max(query.range.startMs, retentionStartMs(clock.nowMs()));
    const range = { startMs, endMs: Math.max(startMs, query.range.endMs) };
    const filter: RecordFilter = { accuracyMetersMax: query.accuracyMetersMax, user };
    const slices: Slice[] = [];
    let total = 0;
    for (const device of devices) {
      const slice = new Slice(device, range, filter, hot.dictionary);
      const matching = slice.count(slice.from, slice.to);
      if (matching > 0) slices.push(slice);
      total += matching;
    }
    const rowsAhead = Math.max(0, total - query.offset);
    const page = new PageBuilder(Math.min(query.limit, rowsAhead), hot.dictionary);
    if (rowsAhead > 0) fillPage(page, slices, query.order, query.offset);
    const pathMeters = query.withDistance
      ? new Map(slices.map((slice) => [slice.device.id, slice.pathMeters()]))
      : null;
    return {
      page: page.build(),
      total,
      devicesMatching: slices.length,
      devicesQueried: devices.length,
      pathMeters,
      bytesRead: slices.reduce((bytes, slice) => bytes + slice.bytesRead, 0),
      source: "hot",
    };
  }

  return {
    ofDevice(appId, deviceId, query) {
      const found = findDevice(dependencies, appId, deviceId);
      return found.ok ? ok(answer([found.value], query, null)) : found;
    },
    ofUser(appId, userId, query) {
      const user = hot.dictionary.findUser(userId);
      return answer(hot.findApp(appId)?.heldDevices(user) ?? [], query, user);
    },
    ofApp: (appId, query) => answer(retainedDevices(hot.findApp(appId), clock.nowMs()), query, null),
  };
}
