import type { AppId } from "../../model/ids.ts";
import type { NearbyAnswer } from "../../service/nearby.ts";
import type { Zone } from "../../time/zone.ts";
import { beginAnswer, recordTexts } from "./answer.ts";
import { formatterOf } from "./current.ts";
import { roundedMs } from "./history.ts";

const BRACKET_OPEN = 0x5b;

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
  answer: NearbyAnswer | null,
  { latitude, longitude, radius_miles, max_age_hours, offset, limit }: NearbyCriteria,
  zone: Zone | null,
  elapsedMs: number,
) {
  const { count, matches, candidates } = answer ?? NOBODY;
  const json = beginAnswer();
  // Finite numbers read in a template as they do in JSON.
  json.text(
    `{"success":true,"app_id":${JSON.stringify(appId)},"search_criteria":{"center":{"latitude":${latitude},"longitude":${longitude}},"radius_miles":${radius_miles},"max_age_hours":${max_age_hours}},"results":`,
  );
  const start = json.length;
  if (answer !== null) recordTexts.writeNearby(json, answer.records, answer, formatterOf(zone));
  if (count === 0) json.byte(BRACKET_OPEN);
  else json.bytes[start] = BRACKET_OPEN; // In place of the first item's comma.
  json.text(
    `],"pagination":{"count":${count},"has_more":${offset + count < matches},"offset":${offset},"limit":${limit},"total_matches":${matches}},"total_candidates":${candidates},"query_time_ms":${roundedMs(elapsedMs)}}`,
  );
  return json.written();
}

const NOBODY = { count: 0, matches: 0, candidates: 0 };
