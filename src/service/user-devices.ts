import { PageBuilder } from "../hot/page-builder.ts";
import type { AppId, UserId } from "../model/ids.ts";
import type { RecordPage } from "../model/record-page.ts";
import { retentionStartMs } from "../time/retention.ts";
import { isRetained, type QueryDependencies } from "./find-device.ts";

export interface UserDevicesQuery {
  /** Lists only devices with a position newer than this; null lists all. */
  readonly ageMsMax: number | null;
}

export type UserDevices = (appId: AppId, userId: UserId, query: UserDevicesQuery) => RecordPage;

/** The newest record of each device whose latest report is the user's. */
export function createUserDevices({ hot, clock }: QueryDependencies): UserDevices {
  return function userDevices(appId, userId, { ageMsMax }) {
    const nowMs = clock.nowMs();
    const retainedMs = retentionStartMs(nowMs);
    const newerThanMs = ageMsMax === null ? Number.NEGATIVE_INFINITY : nowMs - ageMsMax;
    const app = hot.findApp(appId);
    if (app === null) return new PageBuilder(0, hot.dictionary).build();
    const devices = app.currentDevices(hot.dictionary.findUser(userId));
    const listed = devices.filter(
      (device) => isRetained(device, retainedMs) && device.newestMs > newerThanMs,
    );
    const page = new PageBuilder(listed.length, hot.dictionary);
    for (const device of listed) page.addNewest(app, device);
    return page.build();
  };
}
