import { type Expected, recordIdOf } from "./difference.ts";
import type { PlainFleet, PlainRecord } from "./plain-fleet.ts";
import { localTime } from "./plain-time.ts";

/** What the expected answers of all endpoints are made of. */

/** Query parameters as they are sent; each endpoint takes some of them. */
export interface Query {
  readonly start_date?: string;
  readonly end_date?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly order?: "asc" | "desc";
  readonly timezone?: string;
  readonly min_accuracy?: number;
  readonly distance_travelled?: boolean;
  readonly max_age?: number;
  readonly accuracy?: number;
  readonly active_only?: boolean;
  readonly timestamp_after?: number;
  readonly timestamp_before?: number;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly radius_miles?: number;
  readonly max_age_hours?: number;
}

export interface PlainAnswer {
  readonly status: number;
  readonly body: { readonly [member: string]: Expected | undefined };
}

// Fields of the contract, §1 ("Which fields which response carries").
const EVERYWHERE =
  "device_id timestamp latitude longitude horizontal_accuracy altitude speed bearing type battery_level battery_status user_id";
const STATE = "vertical_accuracy network_status location_permission is_mock tracking_mode tz_offset";
const PROFILE = "brand model os os_version";
const FIELDS = {
  current: [`${EVERYWHERE} ${STATE}`, "app_id", false],
  deviceCurrent: [`${EVERYWHERE} ${STATE}`, "app_id", true],
  userHistory: [`${EVERYWHERE} ${STATE} ${PROFILE}`, "appId", true],
  deviceHistory: [
    `${EVERYWHERE} ${STATE} ${PROFILE} sdk_version app_version_name app_version_code`,
    "appId",
    true,
  ],
  appHistory: [EVERYWHERE, "appId", true],
} as const;

export const MILES_TOLERANCE = 1e-4; // The last decimal that nearby shows.

export const NOT_FOUND = "Device not found or does not belong to your app";

export function isTooVague(record: PlainRecord, metersMax: number | undefined): boolean {
  return metersMax !== undefined && (record.horizontal_accuracy ?? 0) > metersMax;
}

export function counts(page: readonly unknown[], offset: number, total: number) {
  return { count: page.length, has_more: offset + page.length < total };
}

/** A record as a kind of response shows it. */
export function shown(
  { appId }: PlainFleet,
  record: PlainRecord,
  response: keyof typeof FIELDS,
  timezone: string | undefined,
): Expected {
  const [fields, appField, hasId] = FIELDS[response];
  const body: Record<string, Expected | undefined> = { [appField]: appId };
  for (const field of fields.split(" ")) body[field] = record[field];
  if (hasId) body.id = recordIdOf(appId, record.device_id, record.timestamp);
  if (timezone !== undefined) body.local_time = localTime(timezone, record.timestamp);
  return body;
}
