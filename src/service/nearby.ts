import type { AppDevices } from "../hot/app-devices.ts";
import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import type { AppId } from "../model/ids.ts";
import type { NewestRecords } from "../model/newest-records.ts";
import type { CircleQuery, Found } from "../spatial/circle-query.ts";
import { retentionStartMs } from "../time/retention.ts";
import type { FindDependencies } from "./find-device.ts";

/*
 * Devices whose latest position lies within a circle.
 */

export interface NearbyQuery {
  /** Center in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
  /** Leaves out positions older than this. */
  readonly ageMsMax: number;
  readonly accuracyMetersMax: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** Latest positions, nearest first, then by device id; good as long as `records` is. */
export interface NearbyAnswer {
  readonly records: NewestRecords;
  /** How many are on this page. */
  readonly count: number;
  /** Of those: device numbers, distances from the center, and initial bearings from it. May be longer. */
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
  /** Matching devices before paging. */
  readonly matches: number;
  /** Devices the index proposed before the exact tests. */
  readonly candidates: number;
}

/**
 * Null where nobody ever reported for the app. An answer is there at once but where so many are at one distance that
 * devices must be put in order before: it is promised then.
 */
export type Nearby = (appId: AppId, query: NearbyQuery) => MaybePromise<NearbyAnswer | null>;

export function createNearby({ hot, clock }: FindDependencies): Nearby {
  return function nearby(
    appId,
    { latitude, longitude, radiusMeters, ageMsMax, accuracyMetersMax, offset, limit },
  ) {
    const app = hot.findApp(appId);
    if (app === null) return null;
    const nowMs = clock.nowMs();
    const circle = {
      latitude,
      longitude,
      radiusMeters,
      oldestMs: Math.max(retentionStartMs(nowMs), nowMs - ageMsMax),
      accuracyMetersMax: accuracyMetersMax ?? Number.POSITIVE_INFINITY,
      offset,
      limit,
    };
    const found = app.positions.find(circle);
    return found.isInOrder ? answerOf(app, found) : findInOrder(app, circle);
  };
}

async function findInOrder(app: AppDevices, circle: CircleQuery): Promise<NearbyAnswer> {
  for (;;) {
    await app.whenInOrder();
    const found = app.positions.find(circle);
    if (!found.isInOrder) continue; // Many more have come.
    const answer = answerOf(app, found);
    // Copies, since others who waited find theirs before anybody reads this.
    return {
      ...answer,
      devices: answer.devices.slice(0, answer.count),
      meters: answer.meters.slice(0, answer.count),
      bearings: answer.bearings.slice(0, answer.count),
    };
  }
}

function answerOf(app: AppDevices, found: Found): NearbyAnswer {
  const { count, devices, meters, bearings, matches, candidates } = found;
  return { records: app.newestRecords, count, devices, meters, bearings, matches, candidates };
}
