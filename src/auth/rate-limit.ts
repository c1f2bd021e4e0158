import { TIERS, type TierName } from "./tiers.ts";

/*
 * How many requests each key has left: a token bucket a key, in memory.
 */

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests the bucket holds when full; null where the tier has no limit. */
  readonly limit: number | null;
  /** Whole requests left now; null where the tier has no limit. */
  readonly remaining: number | null;
  /** Seconds until the bucket holds one whole request more, rounded up. */
  readonly resetSeconds: number;
  /** Seconds until a request is allowed again, rounded up; 0 where this one was. */
  readonly retryAfterSeconds: number;
}

/** A token bucket per key. It starts full, gains the tier's rate and holds the tier's burst. */
export interface RateLimit {
  /** Takes one request from the key's bucket if one is left. */
  take(keyId: string, tier: TierName, nowMs: number): RateDecision;
  /** Buckets that are held now. */
  readonly size: number;
}

interface Bucket {
  readonly tier: TierName;
  tokens: number;
  /** When `tokens` was true. */
  atMs: number;
}

const NO_LIMIT: RateDecision = {
  allowed: true,
  limit: null,
  remaining: null,
  resetSeconds: 0,
  retryAfterSeconds: 0,
};

/** Below this the search for full buckets isn't worth its walk; 1,024 buckets are about 100 KB. */
const SWEEP_SIZE_MIN = 1024;

/**
 * A bucket that is full again says no more than a missing one, so such buckets are forgotten whenever the
 * count has doubled. Callers pass ids of keys that exist: the key file bounds the number of buckets.
 */
export function createRateLimit(): RateLimit {
  const buckets = new Map<string, Bucket>();
  let sweepAtSize = SWEEP_SIZE_MIN;

  function sweep(nowMs: number): void {
    for (const [keyId, bucket] of buckets) {
      refill(bucket, nowMs);
      if (bucket.tokens === TIERS[bucket.tier]?.burst) buckets.delete(keyId);
    }
    sweepAtSize = Math.max(SWEEP_SIZE_MIN, buckets.size * 2);
  }

  return {
    take(keyId, tier, nowMs) {
      const limit = TIERS[tier];
      if (limit === null) return NO_LIMIT;
      let bucket = buckets.get(keyId);
      if (bucket === undefined || bucket.tier !== tier) {
        if (buckets.size >= sweepAtSize) sweep(nowMs);
        bucket = { tier, tokens: limit.burst, atMs: nowMs };
        buckets.set(keyId, bucket);
      }
      refill(bucket, nowMs);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      const remaining = Math.floor(bucket.tokens);
      const resetSeconds = Math.ceil((remaining + 1 - bucket.tokens) / limit.requestsPerSecond);
      return {
        allowed,
        limit: limit.burst,
        remaining,
        resetSeconds,
        retryAfterSeconds: allowed ? 0 : resetSeconds, // Refused means none is left: the next one is the first.
      };
    },
    get size() {
      return buckets.size;
    },
  };
}

/**
 * Adds what the time since the last look has earned. Where the clock went back nothing is earned, and
 * earning goes on from the new time at once: waiting for the old one would lock the key out until then.
 */
function refill(bucket: Bucket, nowMs: number): void {
  const limit = TIERS[bucket.tier];
  if (limit === null) return;
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsedMs * limit.requestsPerSecond) / 1000);
  bucket.atMs = nowMs;
}
