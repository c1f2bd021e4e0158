import { partOf, TIER_NAMES, type TierLimit, type TierName } from "./tiers.ts";

/*
 * How many requests each key has left: a token bucket a key, in memory. Of several servers each gives its part.
 */

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests the bucket holds when full; null where the tier has no limit. */
  readonly limit: number | null;
  /** Seconds that an empty bucket takes to fill, rounded up. */
  readonly windowSeconds: number;
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
  /** Among how many servers each limit is divided now. */
  share(): number;
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
  windowSeconds: 1,
  remaining: null,
  resetSeconds: 0,
  retryAfterSeconds: 0,
};

/** Below this the search for full buckets isn't worth its walk; 1,024 buckets are about 100 KB. */
const SWEEP_SIZE_MIN = 1024;

/** A part of each tier's limit. */
type Limits = Readonly<Record<TierName, TierLimit | null>>;

/**
 * A bucket that is as full as that of a key that has never asked says no more than a missing one, so such buckets are
 * forgotten whenever the count has doubled. Callers pass ids of keys that exist: the key file bounds the number of
 * buckets.
 *
 * `share` is among how many servers each key's limit is divided now. Where it becomes less, all buckets, those of keys
 * that have not asked yet too, grow into the greater limit at its rate; where it becomes more, they lose what is over.
 */
export function createRateLimit(share: () => number = () => 1): RateLimit {
  const buckets = new Map<string, Bucket>();
  let sweepAtSize = SWEEP_SIZE_MIN;
  let sharedBy = share();
  let limits = dividedBy(sharedBy);
  /** Of a key that has never asked. */
  const untouched = new Map<TierName, Bucket>();

  function untouchedOf(tier: TierName, nowMs: number): Bucket {
    let bucket = untouched.get(tier);
    if (bucket === undefined) {
      bucket = { tier, tokens: limits[tier]?.burst ?? 0, atMs: nowMs };
      untouched.set(tier, bucket);
    }
    refill(bucket, limits[tier], nowMs);
    return bucket;
  }

  function sweep(nowMs: number): void {
    for (const [keyId, bucket] of buckets) {
      refill(bucket, limits[bucket.tier], nowMs);
      if (bucket.tokens >= untouchedOf(bucket.tier, nowMs).tokens) buckets.delete(keyId);
    }
    sweepAtSize = Math.max(SWEEP_SIZE_MIN, buckets.size * 2);
  }

  /** What was earned until now was at the rate until now. */
  function adapt(nowMs: number): void {
    const before = limits;
    sharedBy = share();
    limits = dividedBy(sharedBy);
    for (const tier of TIER_NAMES) {
      const bucket = untouched.get(tier) ?? { tier, tokens: before[tier]?.burst ?? 0, atMs: nowMs };
      untouched.set(tier, bucket);
    }
    for (const all of [untouched, buckets]) {
      for (const bucket of all.values()) {
        refill(bucket, before[bucket.tier], nowMs);
        refill(bucket, limits[bucket.tier], nowMs);
      }
    }
  }

  return {
    take(keyId, tier, nowMs) {
      if (share() !== sharedBy) adapt(nowMs);
      const limit = limits[tier];
      if (limit === null) return NO_LIMIT;
      let bucket = buckets.get(keyId);
      if (bucket === undefined || bucket.tier !== tier) {
        if (buckets.size >= sweepAtSize) sweep(nowMs);
        bucket = { tier, tokens: untouchedOf(tier, nowMs).tokens, atMs: nowMs };
        buckets.set(keyId, bucket);
      }
      refill(bucket, limit, nowMs);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      const remaining = Math.floor(bucket.tokens);
      const resetSeconds = Math.ceil((remaining + 1 - bucket.tokens) / limit.requestsPerSecond);
      return {
        allowed,
        limit: limit.burst,
        windowSeconds: Math.ceil(limit.burst / limit.requestsPerSecond),
        remaining,
        resetSeconds,
        retryAfterSeconds: allowed ? 0 : resetSeconds, // Refused means none is left: the next one is the first.
      };
    },
    share,
    get size() {
      return buckets.size;
    },
  };
}

function dividedBy(share: number): Limits {
  const parts = TIER_NAMES.map((tier) => [tier, partOf(tier, share)] as const);
  return Object.fromEntries(parts) as Record<TierName, TierLimit | null>;
}

/**
 * Adds what the time since the last look has earned. Where the clock went back nothing is earned, and
 * earning goes on from the new time at once: waiting for the old one would lock the key out until then.
 */
function refill(bucket: Bucket, limit: TierLimit | null, nowMs: number): void {
  if (limit === null) return;
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsedMs * limit.requestsPerSecond) / 1000);
  bucket.atMs = nowMs;
}
