import type { RateDecision } from "../../auth/rate-limit.ts";
import type { TierName } from "../../auth/tiers.ts";

/*
 * Headers of answers: those that all have, what they say of the rate, and those of a page's files.
 */

/** Headers by name, each in lower case. */
export type MoreHeaders = Readonly<Record<string, string>>;

/** A browser that is made to show an answer as a page guesses no type, runs nothing in it, and frames it nowhere. */
export const HARMLESS: MoreHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Headers to write over, one object for each set of names that answers have: setting those that differ costs half
 * of making eight headers anew, which was a fifth of a short answer's time.
 */
export class HeaderTemplates {
  readonly #compressible: Template = { headers: null, byNextName: new Map() };
  readonly #plain: Template = { headers: null, byNextName: new Map() };

  of(more: MoreHeaders, isCompressible: boolean): Headers {
    let template = isCompressible ? this.#compressible : this.#plain;
    for (const name in more) {
      let next = template.byNextName.get(name);
      if (next === undefined) {
        next = { headers: null, byNextName: new Map() };
        template.byNextName.set(name, next);
      }
      template = next;
    }
    template.headers ??= createHeaders(isCompressible);
    return template.headers;
  }
}

/** Found name by name: a text of all of them would be made, and hashed, for each answer. */
interface Template {
  headers: Headers | null;
  readonly byNextName: Map<string, Template>;
}

function createHeaders(isCompressible: boolean): Headers {
  const headers = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    ...HARMLESS,
  });
  if (isCompressible) headers.set("vary", "Accept-Encoding");
  return headers;
}

/**
 * The `RateLimit` and `RateLimit-Policy` fields follow draft-ietf-httpapi-ratelimit-headers-11 (May 2026):
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

/** For a page's file that a browser may keep, and asks for each time whether it is still the same. */
export const ASK_AGAIN = { "cache-control": "no-cache" };
/** For a page's file whose path names its version. */
export const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable" };

/** For a page's files: other sites neither embed them nor reach into the page's window, and learn of no address. */
export const OURS_ALONE = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};
