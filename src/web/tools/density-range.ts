import { dayMinuteText, dayText } from "../time/format.ts";
import { addDays, dayAt, MS_PER_HOUR, rangeOf, type TimeRange } from "../time/local-day.ts";
import { instantOf } from "../time/local-time.ts";

/* The ranges of the heatmap, from an hour to a year. */

/** The last hours, or whole days in the zone of the page. */
export type DensityPreset = { readonly label: string } & (
  | { readonly kind: "hours"; readonly hours: number }
  | {
      readonly kind: "days";
      readonly days: number;
      /** The last day, counted back from today. */
      readonly daysAgo: number;
    }
);

export const DENSITY_PRESETS: readonly DensityPreset[] = [
  { label: "last hour", kind: "hours", hours: 1 },
  { label: "today", kind: "days", days: 1, daysAgo: 0 },
  { label: "yesterday", kind: "days", days: 1, daysAgo: 1 },
  { label: "7 days", kind: "days", days: 7, daysAgo: 0 },
  { label: "30 days", kind: "days", days: 30, daysAgo: 0 },
  { label: "a year", kind: "days", days: 365, daysAgo: 0 },
];

export const USUAL_PRESET: DensityPreset = DENSITY_PRESETS[3]!;

export function presetRange(preset: DensityPreset, zone: string, nowMs: number): TimeRange {
  if (preset.kind === "hours") return { startMs: nowMs - preset.hours * MS_PER_HOUR, endMs: nowMs };
  return rangeOf(addDays(dayAt(nowMs, zone), -preset.daysAgo), zone, preset.days);
}

/** A range as two values of `<input type="datetime-local">`. */
export interface OwnRange {
  readonly start: string;
  readonly end: string;
}

/** The endpoint's bound. */
const RANGE_MS_MAX = 366 * 24 * MS_PER_HOUR;

/** The range that the user typed, or why it is none. */
export function ownRange({ start, end }: OwnRange, zone: string): TimeRange | { readonly fault: string } {
  const startMs = instantOf(start, zone);
  const endMs = instantOf(end, zone);
  if (startMs === null || endMs === null) return { fault: "Choose the first and the last minute." };
  if (startMs >= endMs) return { fault: "The first minute must be before the last." };
  if (endMs - startMs > RANGE_MS_MAX) return { fault: "A range is at most 366 days long." };
  return { startMs, endMs };
}

/** `Mon 16 Nov 2026 to Sun 22 Nov 2026, days of Europe/Berlin`; with minutes if the range is not of whole days. */
export function rangeText({ startMs, endMs }: TimeRange, zone: string): string {
  const [first, last] = [dayAt(startMs, zone), dayAt(endMs - 1, zone)];
  const isWholeDays = rangeOf(first, zone).startMs === startMs && rangeOf(last, zone).endMs === endMs;
  if (!isWholeDays) return `${dayMinuteText(startMs, zone)} to ${dayMinuteText(endMs, zone)}`;
  return `${first === last ? dayText(first) : `${dayText(first)} to ${dayText(last)}`}, days of ${zone}`;
}
