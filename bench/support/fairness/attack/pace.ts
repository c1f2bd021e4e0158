import { TIERS } from "../../../../src/auth/tiers.ts";

/** Paces requests to the rate limit of a key's tier. */
export interface Pace {
  /** Resolves when the next request would be allowed. */
  turn(): Promise<void>;
}

export function createFreePace(): Pace {
  const { requestsPerSecond, burst } = TIERS.free!;
  const stepMs = 1000 / requestsPerSecond;
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async turn() {
      const nowMs = performance.now();
      const dueMs = Math.max(nextMs, nowMs - burst * stepMs);
      nextMs = dueMs + stepMs;
      if (dueMs > nowMs) await Bun.sleep(dueMs - nowMs);
    },
  };
}
