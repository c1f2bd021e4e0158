/** How many requests a key may send, by tier. Defined only here. */
export interface TierLimit {
  readonly requestsPerSecond: number;
  /** Requests that may come together after a pause. */
  readonly burst: number;
}

export type TierName = "free" | "standard" | "unlimited";

export const TIERS: Readonly<Record<TierName, TierLimit | null>> = {
  free: { requestsPerSecond: 10, burst: 20 },
  standard: { requestsPerSecond: 100, burst: 200 },
  unlimited: null,
};

/** The part of a tier's limit that each of `share` servers enforces; the burst is whole requests, at least one. */
export function partOf(tier: TierName, share: number): TierLimit | null {
  const limit = TIERS[tier];
  if (limit === null || share === 1) return limit;
  return {
    requestsPerSecond: limit.requestsPerSecond / share,
    burst: Math.max(1, Math.floor(limit.burst / share)),
  };
}

export const TIER_NAMES = Object.keys(TIERS) as readonly TierName[];

export function parseTierName(text: string): TierName | null {
  return TIER_NAMES.find((name) => name === text) ?? null;
}
