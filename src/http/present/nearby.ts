import { createFragment } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import type { NearbyAnswer } from "../../service/nearby.ts";
import type { Zone } from "../../time/zone.ts";
import { beginAnswer, recordTexts } from "./answer.ts";
import { formatterOf } from "./current.ts";
import { roundedMs } from "./history.ts";

const BRACKET_OPEN = 0x5b;
const BRACE = 0x7d;

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
  json.fragment(APP_ID);
  json.value(appId);
  json.fragment(LATITUDE);
  json.number(latitude);
  json.fragment(LONGITUDE);
  json.number(longitude);
  json.fragment(RADIUS);
  json.number(radius_miles);
  json.fragment(AGE);
  json.number(max_age_hours);
  json.fragment(RESULTS);
  const start = json.length;
  if (answer !== null) recordTexts.writeNearby(json, answer.records, answer, formatterOf(zone));
  if (count === 0) json.byte(BRACKET_OPEN);
  else json.bytes[start] = BRACKET_OPEN; // In place of the first item's comma.
  json.fragment(COUNT);
  json.number(count);
  json.fragment(offset + count < matches ? MORE : NO_MORE);
  json.number(offset);
  json.fragment(LIMIT);
  json.number(limit);
  json.fragment(MATCHES);
  json.number(matches);
  json.fragment(CANDIDATES);
  json.number(candidates);
  json.fragment(TIME);
  json.number(roundedMs(elapsedMs));
  json.byte(BRACE);
  return json.written();
}

const NOBODY = { count: 0, matches: 0, candidates: 0 };

// What stands between the values, which costs a third of the answer's frame where it is made of strings each time.
const APP_ID = createFragment('{"success":true,"app_id":');
const LATITUDE = createFragment(',"search_criteria":{"center":{"latitude":');
const LONGITUDE = createFragment(',"longitude":');
const RADIUS = createFragment('},"radius_miles":');
const AGE = createFragment(',"max_age_hours":');
const RESULTS = createFragment('},"results":');
const COUNT = createFragment('],"pagination":{"count":');
const MORE = createFragment(',"has_more":true,"offset":');
const NO_MORE = createFragment(',"has_more":false,"offset":');
const LIMIT = createFragment(',"limit":');
const MATCHES = createFragment(',"total_matches":');
const CANDIDATES = createFragment('},"total_candidates":');
const TIME = createFragment(',"query_time_ms":');
