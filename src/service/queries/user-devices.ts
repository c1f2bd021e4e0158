import type { AppId, UserId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { FindDependencies } from "./find-device.ts";

/*
 * The newest record of each device whose latest report is the user's.
 */

export interface UserDevicesQuery {
  /** Lists only devices with a position newer than this; null lists all. */
  readonly ageMsMax: number | null;
}

/**
 * Lists some devices after the other, since a user may have a million. Each is listed as it is then. A page is valid
 * until the next one is requested, or memory changes.
 */
export type UserDevices = (appId: AppId, userId: UserId, query: UserDevicesQuery) => Iterable<RecordPage>;

export function createUserDevices({ hot, clock, retention }: FindDependencies): UserDevices {
  return function* userDevices(appId, userId, { ageMsMax }) {
    const nowMs = clock.nowMs();
    const retainedMs = retention.startMs(nowMs);
    const newerThanMs = ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax;
    const app = hot.findApp(appId);
    if (app === null) return;
    const list = app.users.currentDevices(() => hot.dictionary.findUser(userId));
    while (!list.sortPending()) yield app.newestRecords.pageOfDevices([]);
    const next = list.reader();
    for (let block = next(); block !== null; block = next()) {
      const isListed = (device: number) => {
        const timeMs = app.newestTimes.of(device);
        return timeMs >= retainedMs && timeMs > newerThanMs;
      };
      yield app.newestRecords.pageOfDevices(block.numbers.filter(isListed));
    }
  };
}
