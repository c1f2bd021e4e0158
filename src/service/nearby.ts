import type { AppId } from "../model/ids.ts";
import type { NewestRecords } from "../model/newest-records.ts";
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

/** Null where nobody ever reported for the app. */
export type Nearby = (appId: AppId, query: NearbyQuery) => NearbyAnswer | null;

export function createNearby({ hot, clock }: FindDependencies): Nearby {
  return function nearby(
    appId,
    { latitude, longitude, radiusMeters, ageMsMax, accuracyMetersMax, offset, limit },
  ) {
    const app = hot.findApp(appId);
    if (app === null) return null;
    const nowMs = clock.nowMs();
    const { count, devices, meters, bearings, matches, candidates } = app.positions.find({
      latitude,
      longitude,
      radiusMeters,
      oldestMs: Math.max(retentionStartMs(nowMs), nowMs - ageMsMax),
      accuracyMetersMax: accuracyMetersMax ?? Number.POSITIVE_INFINITY,
      offset,
      limit,
    });
    return { records: app.newestRecords, count, devices, meters, bearings, matches, candidates };
  };
}
