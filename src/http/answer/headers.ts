import { createHash, randomBytes } from "node:crypto";
import type { RateDecision } from "../../auth/rate-limit.ts";
import type { TierName } from "../../auth/tiers.ts";
import type { AppId } from "../../model/ids.ts";

/*
 * Headers of answers: those that all have, what they say of the rate, entity tags, CORS, and those of a page's files.
 */

/** Headers by name, each in lower case. */
export type MoreHeaders = Readonly<Record<string, string>>;

/** A browser that is made to show an answer as a page guesses no type, runs nothing in it, and frames it nowhere. */
const HARMLESS: MoreHeaders = {
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

/** What an answer depends on. */
export interface TaggedAnswer {
  readonly appId: AppId;
  /** The fingerprint of what the key shows of the app; null for all. */
  readonly view: string | null;
  /** Path and query, as they were asked. */
  readonly asked: string;
  /** Another text whenever the answer may be another. */
  readonly version: string;
}

/**
 * Makes entity tags (RFC 9110 §8.8.3). They hold for one process: after a restart, or in a restored data directory,
 * numbers of entries may stand for other reports. They are weak, since an answer says how long it took too.
 */
export class EntityTags {
  readonly #ofProcess = randomBytes(16).toString("base64url");

  of({ appId, view, asked, version }: TaggedAnswer): string {
    const parts = JSON.stringify([this.#ofProcess, appId, view, asked, version]);
    return `W/"${createHash("sha256").update(parts).digest("base64url").slice(0, 27)}"`;
  }
}

/** Whether `If-None-Match` is `*`, or a list that names a tag; compared weakly, RFC 9110 §13.1.2. */
export function namesTag(list: string | null, tag: string): boolean {
  if (list === null) return false;
  if (list === "*") return true;
  const opaque = withoutWeakness(tag);
  const known = list.split(",").map((item) => withoutWeakness(item.trim()));
  return known.includes(opaque);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

const PREFLIGHT_SECONDS = 600;

/** Headers that pages of other origins may read, and those that they may send. */
const EXPOSED =
  "RateLimit, RateLimit-Policy, Retry-After, Wherehouse-Error-Code, Wherehouse-Ignored-Parameters, " +
  "Wherehouse-New-Records, Wherehouse-Same-Time, Wherehouse-Sequence, X-Request-Id";
const ALLOWED =
  "Authorization, Content-Type, Content-Encoding, Last-Event-ID, Wherehouse-Min-Sequence, X-Request-Id";

/** Which pages of other origins may read answers, as browsers are told in headers (CORS). */
export class Cors {
  /** Origins, or `*`; none turns CORS off. */
  readonly #origins: readonly string[];

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  get isOn(): boolean {
    return this.#origins.length > 0;
  }

  /** Says whether the page that asks may read the answer with these headers; they may be those of an earlier one. */
  addTo(headers: Headers, request: Request): void {
    if (!this.isOn) return;
    const origin = request.headers.get("origin");
    const vary = headers.get("vary");
    if (!vary?.endsWith("Origin")) headers.set("vary", vary === null ? "Origin" : `${vary}, Origin`);
    headers.delete("access-control-allow-origin");
    headers.delete("access-control-expose-headers");
    if (origin === null || !(this.#origins.includes(origin) || this.#origins.includes("*"))) return;
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", EXPOSED);
  }

  /** Answers a browser that asks whether a page of another origin may ask. */
  preflight(request: Request, requestId: string, allow: string): Response {
    const headers = new Headers({
      ...HARMLESS,
      allow,
      "access-control-allow-methods": allow,
      "access-control-allow-headers": ALLOWED,
      "access-control-max-age": String(PREFLIGHT_SECONDS),
      "x-request-id": requestId,
    });
    this.addTo(headers, request);
    return new Response(null, { status: 204, headers });
  }
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
