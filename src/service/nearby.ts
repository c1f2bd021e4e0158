import { circleBoxes } from "../geo/circle-boxes.ts";
import { haversineMeters, initialBearingDegrees } from "../geo/distance.ts";
import type { AppDevices } from "../hot/app-devices.ts";
import { numberAt } from "../hot/chunk.ts";
import type { Device } from "../hot/device.ts";
import { PageBuilder } from "../hot/page-builder.ts";
import { compareUtf8 } from "../lib/utf8.ts";
import type { AppId } from "../model/ids.ts";
import { numberIndex } from "../model/location-fields.ts";
import type { RecordPage } from "../model/record-page.ts";
import { retentionStartMs } from "../time/retention.ts";
import type { QueryDependencies } from "./find-device.ts";

const ACCURACY = numberIndex("horizontal_accuracy");

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
    const { latitude, longitude, radiusMeters, accuracyMetersMax } = query;
    const app = hot.findApp(appId);
    const nowMs = clock.nowMs();
    const oldestMs = Math.max(retentionStartMs(nowMs), nowMs - query.ageMsMax);
    const matches: Match[] = [];
    const candidates =
      app?.positions.scan(circleBoxes(latitude, longitude, radiusMeters), (number, deviceLat, deviceLon) => {
        const meters = haversineMeters(latitude, longitude, deviceLat, deviceLon);
        if (meters > radiusMeters) return;
        const device = app.byNumber(number);
        if (device.newestMs < oldestMs) return;
        if (accuracyMetersMax !== null && accuracyOf(app, device) > accuracyMetersMax) return;
        matches.push({ device, meters, latitude: deviceLat, longitude: deviceLon });
      }) ?? 0;
    matches.sort((a, b) => a.meters - b.meters || compareUtf8(a.device.id, b.device.id));
    const nearest = matches.slice(query.offset, query.offset + query.limit);
    const page = new PageBuilder(nearest.length, hot.dictionary);
    if (app !== null) for (const { device } of nearest) page.addNewest(app, device);
    return {
      page: page.build(),
      distanceMeters: Float64Array.from(nearest, (match) => match.meters),
      bearingDegrees: Float64Array.from(nearest, (match) =>
        initialBearingDegrees(latitude, longitude, match.latitude, match.longitude),
      ),
      matches: matches.length,
      candidates,
    };
  };
}

interface Match {
  readonly device: Device;
  readonly meters: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** Horizontal accuracy of the latest position, NaN where it has none: NaN is never greater than a bound. */
function accuracyOf(app: AppDevices, device: Device): number {
  const { chunk, row } = app.newest(device);
  return numberAt(chunk, row, ACCURACY);
}
