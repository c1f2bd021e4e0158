import type { Dictionary } from "../hot/dictionary.ts";
import { PageBuilder } from "../hot/page-builder.ts";
import type { AppId } from "../model/ids.ts";
import type { RecordPage } from "../model/record-page.ts";
import { retentionStartMs } from "../time/retention.ts";
import type { QueryDependencies } from "./find-device.ts";

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

export interface NearbyAnswer {
  /** Latest positions, nearest first, then by device id. */
  readonly page: RecordPage;
  /** Distance and initial bearing from the center, by row of the page. */
  readonly distanceMeters: Float64Array;
  readonly bearingDegrees: Float64Array;
  /** Matching devices before paging. */
  readonly matches: number;
  /** Devices the index proposed before the exact tests. */
  readonly candidates: number;
}

export type Nearby = (appId: AppId, query: NearbyQuery) => NearbyAnswer;

/** Devices whose latest position lies within a circle. */
export function createNearby({ hot, clock }: QueryDependencies): Nearby {
  return function nearby(appId, query) {
    const { latitude, longitude, radiusMeters, accuracyMetersMax, offset, limit } = query;
    const app = hot.findApp(appId);
    if (app === null) return nobody(hot.dictionary);
    const nowMs = clock.nowMs();
    const found = app.positions.find({
      latitude,
      longitude,
      radiusMeters,
      oldestMs: Math.max(retentionStartMs(nowMs), nowMs - query.ageMsMax),
      accuracyMetersMax: accuracyMetersMax ?? Number.POSITIVE_INFINITY,
      offset,
      limit,
    });
    const builder = new PageBuilder(found.count, hot.dictionary);
    for (let row = 0; row < found.count; row++) builder.addNewest(app, app.byNumber(found.devices[row]!));
    return {
      page: builder.build(),
      distanceMeters: found.meters.slice(0, found.count),
      bearingDegrees: found.bearings.slice(0, found.count),
      matches: found.matches,
      candidates: found.candidates,
    };
  };
}

function nobody(dictionary: Dictionary): NearbyAnswer {
  const nothing = new Float64Array(0);
  const page = new PageBuilder(0, dictionary).build();
  return { page, distanceMeters: nothing, bearingDegrees: nothing, matches: 0, candidates: 0 };
}
