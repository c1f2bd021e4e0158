import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { utcDayName, utcDayOf } from "../../../../src/model/time/utc-day.ts";

/** What the directories hold of the attacker's app, as the shapes name it. */

/** Where all devices of `crowd` are, of one user. */
export const CROWD_PLACE = { latitude: 40.7, longitude: -74 } as const;
export const CROWD_USER = "everyone";
/** A device that each of its records names another user of. */
export const SHARED_DEVICE = "shared";
export const SHARED_USER = "holder-";
export const SHARED_RECORDS_MAX = 100_000;

/** Begins the ids of the devices that have archived days. */
export const EARLY_DEVICE = "early-";

/** Archived days of `plain`, before those that memory holds. */
export const ARCHIVED_DAYS = 20;
export const ARCHIVED_DAYS_AGO_MIN = 9;
/** The sealed day of `late` that late rows came for. */
export const LATE_DAYS_AGO = 10;

export function crowdDevice(index: number): string {
  return `crowd-${index}`;
}

/** As a question names it. */
export function dayName(daysAgo: number, nowMs: number): string {
  return utcDayName(utcDayOf(nowMs - daysAgo * MS_PER_DAY));
}
