/* When a request that failed is sent again. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after the first failure of a webhook, the second, and so on. After the last one it is paused. */
const FAILURE_WAITS_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR],
  ...[10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];

/** Failures in a row after which a webhook is paused. */
export const FAILURES_MAX = FAILURE_WAITS_MS.length + 1;

/** Waits are longer by up to this share, by chance, so that webhooks of one receiver don't come back together. */
const JITTER = 0.1;

/** A `Retry-After` of more than this counts as this. */
const RETRY_AFTER_MS_MAX = 24 * HOUR;

/** How long to wait after this many failures in a row; null if it is enough. `random` is from 0 to 1. */
export function failureWaitMs(failures: number, retryAfterMs: number, random: number): number | null {
  const waitMs = FAILURE_WAITS_MS[failures - 1];
  if (waitMs === undefined) return null;
  return Math.max(waitMs * (1 + JITTER * random), Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}

/** Waits of one event that the receiver rejects, together less than five minutes. Then it is parked. */
const REJECTION_WAITS_MS = [15 * SECOND, 45 * SECOND, 90 * SECOND, 120 * SECOND];

/** How long one event waits after this many rejections; null if it is enough. */
export function rejectionWaitMs(rejections: number): number | null {
  return REJECTION_WAITS_MS[rejections - 1] ?? null;
}

/** Seconds, or a date. 0 if it is neither, or past. */
export function parseRetryAfterMs(text: string | null, nowMs: number): number {
  if (text === null) return 0;
  const ms = /^[0-9]{1,9}$/.test(text.trim()) ? Number(text) * SECOND : Date.parse(text) - nowMs;
  return Math.max(ms, 0) || 0; // Of a text that is no date, `ms` is NaN.
}
