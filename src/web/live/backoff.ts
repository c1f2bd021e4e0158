/* How long to wait before the next try to connect. */

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * Twice as long after each try that failed, up to half a minute, and between half of it and all by chance: after a
 * restart of the server pages come one by one. What the server has asked for is kept to.
 */
export function backoffMs(
  failures: number,
  retryAfterSeconds: number | null,
  random = Math.random(),
): number {
  const longestMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.max((retryAfterSeconds ?? 0) * 1000, longestMs * (0.5 + random / 2));
}
