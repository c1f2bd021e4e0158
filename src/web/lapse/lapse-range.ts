import { pixelMetersAt } from "../geo/world.ts";
import { type LocalDay, MS_PER_HOUR, rangeOf, type TimeRange } from "../time/local-day.ts";

/** The ranges that a time lapse offers. */
export const LAPSE_SPANS = [
  { name: "day", label: "Last 24 hours", hours: 24 },
  { name: "week", label: "Last 7 days", hours: 7 * 24 },
  { name: "date", label: "One day…", hours: null },
] as const;

export type LapseSpan = (typeof LAPSE_SPANS)[number];

/** The range of a span, which ends now or with a day of the zone; null for a day that has not begun. */
export function lapseRange(span: LapseSpan, day: LocalDay, zone: string, nowMs: number): TimeRange | null {
  const ended = span.hours !== null;
  const range = ended ? { startMs: nowMs - span.hours * MS_PER_HOUR, endMs: nowMs } : rangeOf(day, zone);
  const endMs = Math.min(range.endMs, nowMs);
  return range.startMs < endMs ? { startMs: range.startMs, endMs } : null;
}

/** A quarter of a pixel on the map, so that a user may zoom in twice before lines look coarse. */
export function toleranceFor(camera: Parameters<typeof pixelMetersAt>[0]): number {
  return Math.max(5, Math.min(1000, Math.round(pixelMetersAt(camera) / 4)));
}

/** A trail is what a device has moved in these seconds of playing, at the least and at the most in these times. */
const TRAIL_SECONDS = 6;
const TRAIL_MS_MIN = 10 * 60_000;
const TRAIL_MS_MAX = 4 * MS_PER_HOUR;

export function trailMsAt(rate: number): number {
  return Math.max(TRAIL_MS_MIN, Math.min(rate * TRAIL_SECONDS * 1000, TRAIL_MS_MAX));
}
