import type { RateDecision } from "../auth/rate-limit.ts";
import type { TierName } from "../auth/tiers.ts";

/*
 * The `RateLimit` and `RateLimit-Policy` fields as draft-ietf-httpapi-ratelimit-headers-11 (May 2026) has them:
 *
 *   RateLimit-Policy: "standard";q=200;w=2    q requests in w seconds
 *   RateLimit: "standard";r=187;t=1           r left now, t seconds until there are more
 *
 * The name is the key's tier. A token bucket is told as the quota it holds when full (`q`, the burst) and the
 * seconds an empty one takes to fill (`w`): that quotient is the tier's rate, and `r` never exceeds `q`.
 * Of several servers over one log each gives and tells its part of that.
 * `t` is when the next request is earned. With `r=0` it equals `Retry-After`, as the draft wants.
 *
 * The draft has no word for "no limit", and asks for `q`. `unlimited` says the largest integer that a
 * structured field can carry (RFC 9651), in each second: more than anyone can ask, and valid to every parser.
 */
const UNLIMITED_QUOTA = 999_999_999_999_999;
const UNLIMITED = `"unlimited";r=${UNLIMITED_QUOTA};t=1`;
const UNLIMITED_POLICY = `"unlimited";q=${UNLIMITED_QUOTA};w=1`;

/** The value of `RateLimit-Policy`. */
export function rateLimitPolicyHeader(tier: TierName, { limit, windowSeconds }: RateDecision): string {
  return limit === null ? UNLIMITED_POLICY : `"${tier}";q=${limit};w=${windowSeconds}`;
}

/** The value of `RateLimit`. */
export function rateLimitHeader(tier: TierName, decision: RateDecision): string {
  if (decision.remaining === null) return UNLIMITED;
  return `"${tier}";r=${decision.remaining};t=${decision.resetSeconds}`;
}
