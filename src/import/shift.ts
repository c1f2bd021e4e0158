import { MS_PER_DAY } from "../model/time/units.ts";

/**
 * How far to move reports so that the newest lies within the last 24 hours: by whole days, which keeps the time
 * of day. Exactly one shift does.
 */
export function planShiftMs(newestMs: number, nowMs: number): number {
  return Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
}
