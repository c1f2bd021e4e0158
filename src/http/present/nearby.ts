import { METERS_PER_MILE } from "../../geo/distance.ts";
import type { AppId } from "../../model/ids.ts";
import type { NearbyAnswer } from "../../service/nearby.ts";
import type { Zone } from "../../time/zone.ts";
import { formatterOf } from "./current.ts";
import { roundedMs } from "./history.ts";
import { createRecordEncoder } from "./record-encoder.ts";
import { answerWriter as json } from "./records.ts";

const encoder = createRecordEncoder("current");

/** The question, in the words it was asked in. */
export interface NearbyCriteria {
  readonly latitude: number;
  readonly longitude: number;
  readonly radius_miles: number;
  readonly max_age_hours: number;
  readonly offset: number;
  readonly limit: number;
}

export function presentNearby(
  appId: AppId,
  answer: NearbyAnswer,
  criteria: NearbyCriteria,
  zone: Zone | null,
  elapsedMs: number,
) {
  const { latitude, longitude, radius_miles, max_age_hours, offset, limit } = criteria;
  const { page, matches, candidates } = answer;
  const localTime = formatterOf(zone);
  json.clear();
  json.text('{"success":true,"app_id":');
  json.value(appId);
  json.text(',"search_criteria":');
  json.value({ center: { latitude, longitude }, radius_miles, max_age_hours });
  json.text(',"results":[');
  for (let row = 0; row < page.count; row++) {
    json.text(row === 0 ? '{"device_id":' : ',{"device_id":');
    json.value(page.deviceIds[row]);
    json.text(',"distance_miles":');
    json.number(rounded(answer.distanceMeters[row]! / METERS_PER_MILE, 1e4));
    json.text(',"bearing_degrees":');
    json.number(rounded(answer.bearingDegrees[row]!, 100) % 360); // 359.999 rounds to north.
    json.text(',"location":');
    encoder.write(json, appId, page, row, localTime);
    json.text("}");
  }
  json.text('],"pagination":');
  const hasMore = offset + page.count < matches;
  json.value({ count: page.count, has_more: hasMore, offset, limit, total_matches: matches });
  json.text(`,"total_candidates":${candidates},"query_time_ms":${roundedMs(elapsedMs)}}`);
  return json.written();
}

function rounded(value: number, scale: number): number {
  return Math.round(value * scale) / scale;
}
