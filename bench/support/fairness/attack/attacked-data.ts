import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { utcDayName, utcDayOf } from "../../../../src/model/time/utc-day.ts";

/** The attacker's data in the directories, by the names that shapes use. */

/** The position of all devices of `crowd`, which have one user. */
export const CROWD_PLACE = { latitude: 40.7, longitude: -74 } as const;
export const CROWD_USER = "everyone";
/** A device with another user in each record. */
export const SHARED_DEVICE = "shared";
export const SHARED_USER = "holder-";
export const SHARED_RECORDS_MAX = 100_000;

/** The id prefix of devices with archived days. */
export const EARLY_DEVICE = "early-";

/** The number of archived days of `plain`. */
export const ARCHIVED_DAYS = 20;
export const ARCHIVED_DAYS_AGO_MIN = 9;
/** The sealed day of `late` that has late rows. */
export const LATE_DAYS_AGO = 10;

export function crowdDevice(index: number): string {
  return `crowd-${index}`;
}

/** The day as a query parameter. */
export function dayName(daysAgo: number, nowMs: number): string {
  return utcDayName(utcDayOf(nowMs - daysAgo * MS_PER_DAY));
}
