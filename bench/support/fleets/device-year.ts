import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { readBoston } from "./boston.ts";

/* A year of one device, with as many records as Boston has in a night. */

/** Days old enough to be archived. */
const FIRST_DAYS_AGO = 364;
const LAST_DAYS_AGO = 9;
/** The nights of four devices fit into a day. */
const SLOT_MS = MS_PER_DAY / 4;

export interface YearRecord {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * Puts each device's night into a part of a day of the year, one after another, as the path of one device; null if the
 * Boston track is missing.
 */
export function readDeviceYear(rowsMax: number): readonly YearRecord[] | null {
  const reports = readBoston(rowsMax);
  if (reports === null) return null;
  const nights = [...Map.groupBy(reports, ({ device_id }) => device_id).values()];
  const firstMs = startOfUtcDayMs(Date.now()) - FIRST_DAYS_AGO * MS_PER_DAY;
  const slots = (FIRST_DAYS_AGO - LAST_DAYS_AGO) * (MS_PER_DAY / SLOT_MS);
  const startMs = reports[0]!.timestamp;
  return nights.flatMap((night, index) => {
    const slot = Math.floor((index * slots) / nights.length);
    return night.map(({ timestamp, latitude, longitude }) => ({
      timestamp: firstMs + slot * SLOT_MS + timestamp - startMs,
      latitude,
      longitude,
    }));
  });
}

/** The range of all records, in whole days. */
export function deviceYearRange(): { readonly startMs: number; readonly endMs: number } {
  const endMs = startOfUtcDayMs(Date.now());
  return { startMs: endMs - (FIRST_DAYS_AGO + 1) * MS_PER_DAY, endMs };
}
