import type { AppDevices } from "../../hot/app-devices.ts";
import { assert } from "../../lib/assert.ts";
import { type MaybePromise, mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { AppId } from "../../model/ids.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { CirclePage } from "../../spatial/positions.ts";
import type { Caller, FindDependencies, Show } from "./find-device.ts";

/*
 * Devices with their latest position in a circle.
 */

export interface NearbyQuery {
  /** Center in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
  /** Excludes older positions. */
  readonly ageMsMax: number;
  readonly accuracyMetersMax: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** Latest positions, nearest first, then by device id; valid while `show` runs. */
export interface NearbyAnswer {
  readonly records: NewestRecords;
  /** How many are on this page. */
  readonly count: number;
  /** The page: device numbers, distances from the center, and initial bearings from it. May be longer. */
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
  /** Matching devices before paging. */
  readonly matches: number;
  /** Devices that the index proposed before the exact tests. */
  readonly candidates: number;
}

/**
 * Null if the app never had a report. The answer is returned directly, unless many devices have the same distance and
 * must be sorted by id first: then it is a promise.
 */
export type Nearby = <Shown>(
  appId: AppId,
  query: NearbyQuery,
  caller: Caller,
  show: Show<NearbyAnswer | null, Shown>,
) => MaybePromise<Shown>;

export function createNearby({ hot, clock, retention }: FindDependencies): Nearby {
  return function nearby(
    appId,
    { latitude, longitude, radiusMeters, ageMsMax, accuracyMetersMax, offset, limit },
    caller,
    show,
  ) {
    const app = hot.findApp(appId);
    if (app === null) return show(null);
    const nowMs = clock.nowMs();
    const circle = {
      latitude,
      longitude,
      radiusMeters,
      oldestMs: Math.max(retention.startMs(nowMs), nowMs - ageMsMax),
      accuracyMetersMax: accuracyMetersMax ?? Number.POSITIVE_INFINITY,
      offset,
      limit,
    };
    const page = app.positions.find(circle);
    if (page.isInOrder) return show(answerOf(app, page));
    // Only a waiting answer needs the signal, which the runtime creates on access.
    const answer = app.whenInOrder(caller.signal, () => {
      const pageInOrder = app.positions.find(circle);
      assert(
        pageInOrder.isInOrder,
        "the order of devices is there for what is done in the step that made it",
      );
      return show(answerOf(app, pageInOrder));
    });
    return mapMaybe(answer, (result) => result);
  };
}

function answerOf(app: AppDevices, page: CirclePage): NearbyAnswer {
  const { count, devices, meters, bearings, matches, candidates } = page;
  return { records: app.newestRecords, count, devices, meters, bearings, matches, candidates };
}
