import type { AppDevices } from "../../hot/app-devices.ts";
import type { DeviceProfiles } from "../../hot/device-profiles.ts";
import { NO_DEVICE } from "../../hot/devices/device-table.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import { mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceProfile } from "../../model/device-profile.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { Caller, QueryDependencies } from "./find-device.ts";

/* The devices of an app: those that have reported within the retention, and those that have a profile. */

export interface DeviceListQuery {
  /** Only devices whose id or name contains this, in any case; null for all. */
  readonly text: string | null;
  /** Only devices with this tag; null for all. */
  readonly tag: string | null;
  readonly offset: number;
  readonly limit: number;
}

export interface ListedDevice {
  readonly deviceId: DeviceId;
  /** The time of its newest record; null if there is none within the retention. */
  readonly lastSeenMs: number | null;
  readonly profile: DeviceProfile | null;
}

export interface DeviceListAnswer {
  /** By device id (UTF-8 bytes). */
  readonly devices: readonly ListedDevice[];
  /** Matching devices before paging. */
  readonly total: number;
}

export type ListDevices = (
  appId: AppId,
  query: DeviceListQuery,
  caller: Caller,
) => MaybePromise<DeviceListAnswer>;

/** Devices looked at in a step, in some tenths of a millisecond. */
const STEP_DEVICES = 512;

export function createListDevices({ hot, clock, retention, scheduler }: QueryDependencies): ListDevices {
  return function listDevices(appId, query, { signal }) {
    const retainedMs = retention.startMs(clock.nowMs());
    const app = hot.findApp(appId);
    const steps = findDevices(app, hot.profiles, appId, retainedMs, query);
    return mapMaybe(scheduler.runAtOnce(appId, signal, steps), (found) => found);
  };
}

function* findDevices(
  app: AppDevices | null,
  profiles: DeviceProfiles,
  appId: AppId,
  retainedMs: number,
  query: DeviceListQuery,
): Steps<DeviceListAnswer> {
  const matches = matcherOf(query);
  const devices: ListedDevice[] = [];
  let total = 0;
  let looks = 0;
  for (const deviceId of yield* idsOf(app, profiles, appId)) {
    if (++looks % STEP_DEVICES === 0) yield;
    const number = app?.table.numberOf(deviceId) ?? NO_DEVICE;
    const newestMs = number === NO_DEVICE ? Number.NEGATIVE_INFINITY : app!.newestTimes.of(number);
    const profile = profiles.find(appId, deviceId);
    const isSeen = newestMs >= retainedMs;
    if (!(isSeen || profile !== null) || !matches(deviceId, profile)) continue;
    if (total++ >= query.offset && devices.length < query.limit)
      devices.push({ deviceId, lastSeenMs: isSeen ? newestMs : null, profile });
  }
  return { devices, total };
}

/** The ids of all devices that reported and of all that have a profile, in the order of answers. */
function* idsOf(app: AppDevices | null, profiles: DeviceProfiles, appId: AppId): Steps<readonly DeviceId[]> {
  const named = yield* profiles.sortedIds(appId);
  if (app === null) return named;
  while (!app.list.sortPending()) yield;
  const ids: DeviceId[] = [];
  const next = app.list.reader();
  let at = 0;
  for (let block = next(); block !== null; block = next()) {
    for (const number of block.numbers) {
      const id = app.table.idOf(number);
      while (at < named.length && compareUtf8(named[at]!, id) < 0) ids.push(named[at++]!);
      if (named[at] === id) at++;
      ids.push(id);
    }
    yield;
  }
  while (at < named.length) ids.push(named[at++]!);
  return ids;
}

function matcherOf({ text, tag }: DeviceListQuery) {
  const wanted = text?.toLowerCase() ?? null;
  return (deviceId: DeviceId, profile: DeviceProfile | null): boolean => {
    if (tag !== null && profile?.tags.includes(tag) !== true) return false;
    if (wanted === null || deviceId.toLowerCase().includes(wanted)) return true;
    return profile?.name?.toLowerCase().includes(wanted) === true;
  };
}
