/** How far reports may lie from now, in both directions. Days are UTC days, whatever zone a caller asks in. */
export const MS_PER_DAY = 86_400_000;

export const RETENTION_DAYS = 365;

/** A report may be this far ahead of our clock, since phones' clocks run ahead too. */
export const FUTURE_MAX_MS = 10 * 60 * 1000;

/** Everything before this instant, the start of a UTC day, is gone from answers. */
export function retentionStartMs(nowMs: number): number {
  return startOfUtcDayMs(nowMs) - RETENTION_DAYS * MS_PER_DAY;
}

/** UTC has no leap seconds in Unix time, so days before and after 1970 are all equally long. */
export function startOfUtcDayMs(timestampMs: number): number {
  return Math.floor(timestampMs / MS_PER_DAY) * MS_PER_DAY;
}
