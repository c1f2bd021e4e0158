import type { RateDecision } from "../../auth/rate-limit.ts";
import type { TierName } from "../../auth/tiers.ts";

/* Headers of answers: common ones, the rate limit, and those of page files. */

export type MoreHeaders = Readonly<Record<string, string>>;

/** If a browser is made to show an answer as a page, it guesses no type, runs no script and can't be framed. */
export const SECURITY_HEADERS: MoreHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Reusable headers, one object for each set of header names: setting the values that differ from those of the last
 * answer costs less than half as much as creating eight headers, which was a fifth of a short answer's time.
 */
export class HeaderTemplates {
  readonly #compressible: Template = { headers: null, values: [], byNextName: new Map() };
  readonly #plain: Template = { headers: null, values: [], byNextName: new Map() };

  /** The common headers and `more`. Valid until the next call; a caller may set others, but not these. */
  of(more: MoreHeaders, isCompressible: boolean): Headers {
    let template = isCompressible ? this.#compressible : this.#plain;
    for (const name in more) {
      let next = template.byNextName.get(name);
      if (next === undefined) {
        next = { headers: null, values: [], byNextName: new Map() };
        template.byNextName.set(name, next);
      }
      template = next;
    }
    const { values } = template;
    template.headers ??= createHeaders(isCompressible);
    const { headers } = template;
    let at = 0;
    for (const name in more) {
      const value = more[name]!;
      if (values[at] !== value) {
        headers.set(name, value);
        values[at] = value;
      }
      at++;
    }
    return headers;
  }
}

/** A tree by header name: joining the names to one map key would create and hash a text for each answer. */
interface Template {
  headers: Headers | null;
  /** The last answer's values, in the order of their names. */
  readonly values: string[];
  readonly byNextName: Map<string, Template>;
}

function createHeaders(isCompressible: boolean): Headers {
  const headers = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    ...SECURITY_HEADERS,
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
 * The name is the key's tier. A token bucket is described by the quota of a full bucket (`q`, the burst) and the
 * seconds in which an empty one fills (`w`): their quotient is the tier's rate, and `r` never exceeds `q`. Each of
 * several servers over one log enforces and reports its part. `t` is when the next request is earned; with `r=0` it
 * equals `Retry-After`, as the draft requires.
 *
 * The draft has no word for "no limit" and requires `q`. `unlimited` has the largest integer of a structured field
 * (RFC 9651) per second, which is unreachable and valid to every parser.
 */
const UNLIMITED_QUOTA = 999_999_999_999_999;
const UNLIMITED = `"unlimited";r=${UNLIMITED_QUOTA};t=1`;
const UNLIMITED_POLICY = `"unlimited";q=${UNLIMITED_QUOTA};w=1`;

export function rateLimitPolicyHeader(tier: TierName, { limit, windowSeconds }: RateDecision): string {
  return limit === null ? UNLIMITED_POLICY : `"${tier}";q=${limit};w=${windowSeconds}`;
}

export function rateLimitHeader(tier: TierName, decision: RateDecision): string {
  if (decision.remaining === null) return UNLIMITED;
  return `"${tier}";r=${decision.remaining};t=${decision.resetSeconds}`;
}

/** For a page file that a browser may cache but must revalidate each time. */
export const REVALIDATED_CACHE = { "cache-control": "no-cache" };
/** For a page file whose path contains its version. */
export const IMMUTABLE_CACHE = { "cache-control": "public, max-age=31536000, immutable" };

/** For page files: other sites can't embed them or access the page's window, and see no address as referrer. */
export const SAME_ORIGIN_HEADERS = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};
