import type { RateDecision } from "../auth/rate-limit.ts";
import { TIER_NAMES, TIERS, type TierName } from "../auth/tiers.ts";

/*
 * The `RateLimit` and `RateLimit-Policy` fields as draft-ietf-httpapi-ratelimit-headers-11 (May 2026) has them:
 *
 *   RateLimit-Policy: "standard";q=200;w=2    q requests in w seconds
 *   RateLimit: "standard";r=187;t=1           r left now, t seconds until there are more
 *
 * The name is the key's tier. A token bucket is told as the quota it holds when full (`q`, the burst) and the
 * seconds an empty one takes to fill (`w`): that quotient is the tier's rate, and `r` never exceeds `q`.
 * `t` is when the next request is earned. With `r=0` it equals `Retry-After`, as the draft wants.
 *
 * The draft has no word for "no limit", and asks for `q`. `unlimited` says the largest integer that a
 * structured field can carry (RFC 9651), in each second: more than anyone can ask, and valid to every parser.
 */
const UNLIMITED_QUOTA = 999_999_999_999_999;
const UNLIMITED = `"unlimited";r=${UNLIMITED_QUOTA};t=1`;

const POLICIES = Object.fromEntries(TIER_NAMES.map((tier) => [tier, policyText(tier)])) as Readonly<
  Record<TierName, string>
>;

/** The value of `RateLimit-Policy`. */
export function rateLimitPolicyHeader(tier: TierName): string {
  return POLICIES[tier];
}

/** The value of `RateLimit`. */
export function rateLimitHeader(tier: TierName, decision: RateDecision): string {
  if (decision.remaining === null) return UNLIMITED;
  return `"${tier}";r=${decision.remaining};t=${decision.resetSeconds}`;
}

function policyText(tier: TierName): string {
  const limit = TIERS[tier];
  if (limit === null) return `"${tier}";q=${UNLIMITED_QUOTA};w=1`;
  return `"${tier}";q=${limit.burst};w=${Math.ceil(limit.burst / limit.requestsPerSecond)}`;
}
