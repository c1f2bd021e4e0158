import { partOf, TIER_NAMES, type TierLimit, type TierName } from "./tiers.ts";

/** Whether a key's rate limit allows a request, and the values of the RateLimit headers. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Requests the bucket holds when full; null if the tier has no limit. */
  readonly limit: number | null;
  /** Seconds that an empty bucket takes to fill, rounded up. */
  readonly windowSeconds: number;
  /** Whole requests left now; null if the tier has no limit. */
  readonly remaining: number | null;
  /** Seconds until the bucket holds one more whole request, rounded up. */
  readonly resetSeconds: number;
  /** Seconds until a request is allowed again, rounded up; 0 if this one was. */
  readonly retryAfterSeconds: number;
}

/** A token bucket per key, in memory. It starts full, gains the tier's rate and holds the tier's burst. */
export interface RateLimit {
  /** Takes one request from the key's bucket if one is left. */
  take(keyId: string, tier: TierName, nowMs: number): RateDecision;
  /** The number of servers that share each limit now. */
  share(): number;
  readonly size: number;
}

interface Bucket {
  readonly tier: TierName;
  tokens: number;
  /** The time for which `tokens` is right. */
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

/** Below this size a sweep for full buckets isn't worth its cost; 1,024 buckets are about 100 KB. */
const SWEEP_SIZE_MIN = 1024;

/** One server's part of each tier's limit. */
type Limits = Readonly<Record<TierName, TierLimit | null>>;

/**
 * A bucket as full as that of a new key equals a missing one, so such buckets are deleted whenever the count has
 * doubled. Callers pass ids of existing keys only, so the key file bounds the number of buckets.
 *
 * `share` is the number of servers that share each limit. If it drops, all buckets, including those of new keys, grow
 * into the greater limit at its rate; if it rises, they lose what is above the new limit.
 */
export function createRateLimit(share: () => number = () => 1): RateLimit {
  const buckets = new Map<string, Bucket>();
  let sweepAtSize = SWEEP_SIZE_MIN;
  let sharedBy = share();
  let limits = dividedBy(sharedBy);
  /** The buckets of keys that have sent no request yet. */
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

  /** Applies a new share. Time before this moment counts at the old rate. */
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
        retryAfterSeconds: allowed ? 0 : resetSeconds, // Refused means that no whole request is left.
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
 * Adds the tokens for the time since the last refill. If the clock went back it adds none and counts from the new time:
 * waiting for the old time would lock the key out until then.
 */
function refill(bucket: Bucket, limit: TierLimit | null, nowMs: number): void {
  if (limit === null) return;
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsedMs * limit.requestsPerSecond) / 1000);
  bucket.atMs = nowMs;
}
