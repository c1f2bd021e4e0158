import type { View } from "../../auth/view.ts";
import type { AppDevices } from "../../hot/app-devices.ts";
import type { Device } from "../../hot/devices/device.ts";
import type { DeviceList, ListedDevices } from "../../hot/devices/device-list.ts";
import { NO_DEVICE } from "../../hot/devices/device-table.ts";
import { type DevicePage, NewestPage } from "../../hot/scan/newest-page.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type MaybePromise, mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import { type Steps, thenDo } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Caller, type QueryDependencies, type Show, shownRange } from "./find-device.ts";

/*
 * Latest positions: of a device, of the devices whose latest report is a user's, of all devices of an app. Answers
 * about many devices are promises, others are returned directly.
 */

export interface UserCurrentQuery {
  /** Excludes older positions. */
  readonly ageMsMax: number | null;
  /** Excludes positions with a greater horizontal accuracy. */
  readonly accuracyMetersMax: number | null;
  readonly limit: number;
}

export interface AppCurrentQuery {
  /** Both exclusive. */
  readonly afterMs: number | null;
  readonly beforeMs: number | null;
  readonly offset: number;
  readonly limit: number;
  /** The view of a share link; null for everything. */
  readonly view: View | null;
}

/** Devices by number, to be looked up in `records`; valid as long as those are. */
export interface DeviceMatches {
  readonly records: NewestRecords;
  readonly devices: readonly number[];
}

export interface AppCurrentAnswer {
  /** Null if the app never had a report. */
  readonly page: DeviceMatches | null;
  /** Matching devices before paging. */
  readonly total: number;
}

export interface CurrentQueries {
  ofDevice(appId: AppId, deviceId: string, view: View | null): Result<DeviceMatches, ServiceError>;
  /** Null if the app never had a report. */
  ofUser<Shown>(
    appId: AppId,
    userId: UserId,
    query: UserCurrentQuery,
    caller: Caller,
    show: Show<DeviceMatches | null, Shown>,
  ): MaybePromise<Shown>;
  ofApp<Shown>(
    appId: AppId,
    query: AppCurrentQuery,
    caller: Caller,
    show: Show<AppCurrentAnswer, Shown>,
  ): MaybePromise<Shown>;
}

export function createCurrentQueries(dependencies: QueryDependencies): CurrentQueries {
  const { hot, clock, retention, scheduler } = dependencies;
  return {
    ofDevice(appId, deviceId, view) {
      const app = view?.showsDevice(deviceId) === false ? null : hot.findApp(appId);
      const device = app?.table.numberOf(deviceId) ?? NO_DEVICE;
      const { startMs } = shownRange(dependencies, view);
      // The time is in a column, while the record itself is several cache misses away.
      if (app === null || device === NO_DEVICE || app.newestTimes.of(device) < startMs) {
        return fail({ kind: "device_not_found", deviceId });
      }
      return ok({ records: app.newestRecords, devices: [device] });
    },
    ofUser(appId, userId, { ageMsMax, accuracyMetersMax, limit }, { signal }, show) {
      const app = hot.findApp(appId);
      if (app === null) return show(null);
      const nowMs = clock.nowMs();
      const youngEnoughMs = ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax;
      const range = { startMs: Math.max(retention.startMs(nowMs), youngEnoughMs), endMs: NEVER_MS };
      const list = app.users.currentDevices(() => hot.dictionary.findUser(userId));
      // Looked up by name, because the number of a text may have been reused by then.
      const isTheirs = (device: Device) => device.currentUser === hot.dictionary.findUser(userId);
      const page = new NewestPage(app, { range, accuracyMetersMax, offset: 0, limit });
      const selection = findPage(list, page, false, isTheirs);
      const answer = ({ devices }: DevicePage) => show({ records: app.newestRecords, devices });
      return mapMaybe(scheduler.runAtOnce(appId, signal, thenDo(selection, answer)), (result) => result);
    },
    ofApp(appId, { afterMs, beforeMs, offset, limit, view }, { signal }, show) {
      const app = hot.findApp(appId);
      if (app === null) return show({ page: null, total: 0 });
      const retainedMs = retention.startMs(clock.nowMs());
      const startMs = afterMs === null ? retainedMs : Math.max(retainedMs, afterMs + 1);
      const range = { startMs, endMs: beforeMs ?? NEVER_MS };
      if (view !== null) {
        const devices = findShown(app, view, range);
        const shownPage = { records: app.newestRecords, devices: devices.slice(offset, offset + limit) };
        return show({ page: shownPage, total: devices.length });
      }
      const page = new NewestPage(app, { range, accuracyMetersMax: null, offset, limit });
      const selection = findPageOfApp(app.list, page);
      const answer = ({ devices, total }: DevicePage) =>
        show({ page: { records: app.newestRecords, devices }, total });
      return mapMaybe(scheduler.runAtOnce(appId, signal, thenDo(selection, answer)), (result) => result);
    },
  };
}

/** Devices of a view with a newest record in a range, by number. They are few enough to need no steps. */
export function findShown(app: AppDevices, view: View, range: TimeRange): readonly number[] {
  const { startMs, endMs } = view.rangeOf(range);
  return view.deviceIds.flatMap((id) => {
    const device = app.find(id);
    return device !== null && device.newestMs >= startMs && device.newestMs < endMs ? [device.number] : [];
  });
}

const NEVER_MS = Number.POSITIVE_INFINITY;

/** The most devices that a step visits; 0.1 ms at most. */
const STEP_LOOKS = 16_384;
/** The cost of a block that can be skipped. */
const BLOCK_LOOKS = 16;

/** The page and the total of an app's devices. Mostly all of them match, which a walk finds out once. */
function* findPageOfApp(list: DeviceList, page: NewestPage): Steps<DevicePage> {
  while (!list.sortPending()) yield;
  const known = page.ofAll(list);
  if (known !== null) return known;
  const counted = yield* findPage(list, page, true, () => true);
  page.note(list, counted);
  return counted;
}

/**
 * Walks a list until the page is full, or to its end for the total. A device may move after it was selected; then its
 * new position is shown, or it is dropped if that doesn't match or belongs to another user.
 */
function* findPage(
  list: ListedDevices,
  page: NewestPage,
  countsAll: boolean,
  isListed: (device: Device) => boolean,
): Steps<DevicePage> {
  while (!list.sortPending()) yield;
  const next = list.reader();
  let looks = 0;
  for (let block = next(); block !== null && (countsAll || !page.isFull); block = next()) {
    looks += BLOCK_LOOKS + page.add(block);
    if (looks < STEP_LOOKS) continue;
    looks = 0;
    page.hold();
    yield;
  }
  return page.build(isListed);
}
