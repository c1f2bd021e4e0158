import { speedText, type Units } from "../geo/units.ts";
import { agoText, durationText } from "../time/format.ts";
import type { DeviceTable } from "./device-table.ts";

/* Describes devices by how long ago they reported. No device counts as offline: a parked car may be silent. */

export type Freshness = "fresh" | "aging" | "old";

export const FRESH_MS_MAX = 120_000;
export const AGING_MS_MAX = 3_600_000;

const MINUTE_MS = 60_000;

export function freshnessOf(timestampMs: number, nowMs: number): Freshness {
  const ageMs = nowMs - timestampMs;
  if (ageMs < FRESH_MS_MAX) return "fresh";
  return ageMs < AGING_MS_MAX ? "aging" : "old";
}

/** What a device is known to do. `reporting` means that it has reported recently, without a speed. */
export type Activity = "moving" | "stopped" | "silent" | "reporting";

export function activityOf(table: DeviceTable, row: number, nowMs: number): Activity {
  if (freshnessOf(table.timestampMs[row]!, nowMs) !== "fresh") return "silent";
  const state = table.motion.stateOf(table, row);
  return state === "unknown" ? "reporting" : state;
}

/** `38 km/h`, `stopped 4 min`, `silent`. */
export function activityText(table: DeviceTable, row: number, nowMs: number, units: Units): string {
  const activity = activityOf(table, row, nowMs);
  if (activity === "moving") {
    const speed = table.speedMetersPerSecond[row]!;
    return Number.isNaN(speed) ? "moving" : speedText(speed, units);
  }
  const sinceMs = activity === "stopped" ? table.motion.standingSinceMs(row) : null;
  return sinceMs === null || nowMs - sinceMs < MINUTE_MS
    ? activity
    : `${activity} ${durationText(nowMs - sinceMs)}`;
}

/** `3 s ago`. A time slightly in the future, from a clock that is ahead, counts as now. */
export function ageText(timestampMs: number, nowMs: number): string {
  const isAhead = timestampMs > nowMs && timestampMs < nowMs + FRESH_MS_MAX;
  return agoText(isAhead ? nowMs : timestampMs, nowMs);
}
