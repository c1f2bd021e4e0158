import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { KeyRecord, Permission } from "../auth/key-file.ts";
import type { KeyLookup, KeyStore } from "../auth/key-store.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { SessionLookup, Sessions, SignedIn } from "../auth/sessions.ts";
import { viewOf } from "../auth/view.ts";
import { mapMaybe } from "../lib/schedule/maybe-promise.ts";
import type { Clock } from "../model/time/clock.ts";
import type { AppliedSequences } from "../service/ingest/applied-sequences.ts";
import { EntityTags } from "./answer/entity-tags.ts";
import { type MoreHeaders, rateLimitHeader, rateLimitPolicyHeader } from "./answer/headers.ts";
import type { Answer, Responder } from "./answer/responder.ts";
import { LongAnswers } from "./answer/turns.ts";
import { type Admission, Call } from "./call.ts";
import { type AccessError, type HttpError, lookupError } from "./errors.ts";
import type { MinSequences } from "./min-sequence.ts";
import type { Handler, Observe } from "./observe.ts";
import { sessionLookup } from "./page/session-cookie.ts";
import { isFromPage, type Method } from "./request.ts";

/** Every request with a key or session passes here: key, rate, permission, and whether the service is up. */
export interface Gate {
  /** The handler of an endpoint: passes requests to `answer`, or refuses them. */
  keyed(endpoint: KeyedRoute, answer: (call: Call) => Answer): Handler;
  /** Like `keyed`, but for requests from a signed-in map page. */
  signedIn(endpoint: Route, answer: (call: Call, signedIn: SignedIn) => Answer): Handler;
}

interface Route {
  readonly method: Method;
  readonly path: string;
}

export interface KeyedRoute extends Route {
  readonly permission: Exclude<Permission, "view">;
  readonly forWholeApp: boolean;
  readonly alsoReads: boolean;
  /** Whether keys with the permission `view` are admitted too. */
  readonly isForViews: boolean;
  /** Whether the map page may send it with a session in place of a key. */
  readonly isForPage: boolean;
}

export interface GateDependencies {
  readonly keys: Pick<KeyStore, "find">;
  readonly sessions: Pick<Sessions, "cookieName" | "find">;
  readonly rateLimit: RateLimit;
  readonly clock: Clock;
  readonly responder: Responder;
  readonly observe: Observe;
  /** Why the service can't answer (it is starting or stopping), or null. */
  readonly unavailable: () => HttpError | null;
  readonly sequences: Pick<AppliedSequences, "current" | "ofApp">;
  readonly minSequences: Pick<MinSequences, "isAsked" | "reach">;
}

interface Terms {
  /** Why this key is refused now, or null. */
  readonly refusalOf: (key: KeyRecord) => HttpError | null;
  /** Its relation to the log: it reads it, appends to it, or neither. */
  readonly log: "read" | "written" | null;
}

/**
 * The bearer plugin restricted to the header, because keys in URLs end up in logs. An empty name still accepts `?=key`,
 * so `presentedKey` uses the plugin's result only if there is a header.
 */
export const bearerToken = () =>
  new Elysia().use(bearer({ extract: { header: "Bearer", query: "", body: "" } }));

export function createGate(dependencies: GateDependencies): Gate {
  const { keys, sessions, rateLimit, clock, responder, observe, unavailable } = dependencies;
  const { sequences, minSequences } = dependencies;

  const tools = { responder, tags: new EntityTags(), longAnswers: new LongAnswers() };

  /** `find` looks up the key or session, now and while the answer is created. */
  function admit<Known extends KnownKey>(
    request: Request,
    find: () => Known | UnknownKey,
    { refusalOf, log }: Terms,
    answer: (call: Call, known: Known) => Answer,
  ): Answer {
    const startedMs = performance.now();
    const known = find();
    if (!isKnown(known)) return responder.failure(request, lookupError(known.kind));
    const { id, tier, view: spec, appId } = known.key;
    const nowMs = clock.nowMs();
    const decision = rateLimit.take(id, tier, nowMs);
    const headers = {
      ratelimit: rateLimitHeader(tier, decision),
      "ratelimit-policy": rateLimitPolicyHeader(tier, decision),
    };
    if (!decision.allowed) {
      const { retryAfterSeconds } = decision;
      return responder.failure(request, { kind: "rate_exceeded", retryAfterSeconds }, headers);
    }
    const refusal = refusalOf(known.key);
    if (refusal !== null) return responder.failure(request, refusal, headers);
    const view = spec === null ? null : viewOf(spec);
    const isStillAllowed = () => isKnown(find());
    const admission: Admission = { request, key: known.key, view, nowMs, startedMs, isStillAllowed };
    const begin = (more: MoreHeaders) =>
      guarded(responder, request, more, () => answer(new Call(admission, tools, more, more), known));
    if (log === null) return begin(headers);
    if (log === "written") return begin(withLastSequence(headers, sequences));
    const atLeast = (sequence: number) =>
      withSequence(headers, Math.max(sequence, sequences.ofApp(appId, view)));
    // A share link that waits for an entry would learn when other devices report.
    if (view !== null || !minSequences.isAsked(request)) return begin(atLeast(0));
    return mapMaybe(minSequences.reach(request, { appId, keyId: id }), (reached) => {
      if (reached.ok && !reached.value.hasWaited) return begin(atLeast(reached.value.sequence));
      if (request.signal.aborted) return CLIENT_GONE.clone();
      // During the wait the key may have ended and the service may have stopped.
      const now = find();
      if (!isKnown(now)) return responder.failure(request, lookupError(now.kind), headers);
      const obstacle = refusalOf(now.key);
      if (obstacle !== null) return responder.failure(request, obstacle, headers);
      return reached.ok
        ? begin(atLeast(reached.value.sequence))
        : responder.failure(request, reached.error, atLeast(0));
    });
  }

  return {
    keyed(route, answer) {
      const { method, path, permission, isForPage } = route;
      // Operators must be able to watch the service start and stop.
      const obstacle = permission === "operate" ? () => null : unavailable;
      const refusalOf = (key: KeyRecord) => refusalOfKey(key, route) ?? obstacle();
      const terms = { refusalOf, log: logTermOf(route) };
      return observe(method, path, (request, bearerToken) => {
        const authorization = request.headers.get("authorization");
        const keyText = presentedKey(authorization, bearerToken);
        if (keyText !== null) return admit(request, () => keys.find(keyText), terms, answer);
        const maySession = isForPage && authorization === null && isFromPage(request);
        const session = maySession ? sessionLookup(sessions, request) : null;
        if (session === null) return responder.failure(request, { kind: "key_missing" });
        return admit(request, session, terms, answer);
      });
    },
    signedIn: ({ method, path }, answer) =>
      observe(method, path, (request) => {
        if (!isFromPage(request)) return responder.failure(request, { kind: "not_from_page" });
        const session = sessionLookup(sessions, request);
        if (session === null) return responder.failure(request, { kind: "session_missing" });
        return admit(request, session, OF_PAGE, answer);
      }),
  };
}

interface RateHeaders {
  readonly ratelimit: string;
  readonly "ratelimit-policy": string;
}

/**
 * The log entry that an answer includes. Determined before anything is read: memory advances while an answer is created
 * from the archive, so a later number would promise more than the answer has.
 */
function withSequence(headers: RateHeaders, sequence: number): MoreHeaders {
  const { ratelimit, "ratelimit-policy": policy } = headers;
  return { ratelimit, "ratelimit-policy": policy, "wherehouse-sequence": String(sequence) };
}

/** Like `withSequence`, for an answer to reports: determined last, when it includes these reports. */
function withLastSequence(headers: RateHeaders, sequences: GateDependencies["sequences"]): MoreHeaders {
  return {
    ...headers,
    get "wherehouse-sequence"() {
      return String(sequences.current);
    },
  };
}

/** Answers a failure during the creation of an answer as a fault of the server. */
function guarded(responder: Responder, request: Request, headers: MoreHeaders, make: () => Answer): Answer {
  const fault = (error: unknown) =>
    request.signal.aborted ? CLIENT_GONE.clone() : responder.fault(request, error, headers);
  try {
    const result = make();
    return result instanceof Promise ? result.catch(fault) : result;
  } catch (error) {
    return fault(error);
  }
}

const TERMS: Readonly<Record<KeyedRoute["permission"], Terms["log"]>> = {
  read: "read",
  write: "written",
  edit: "written",
  manage: "written",
  erase: "written",
  operate: null,
};

/** Permissions that no key has that is bound to a device or a user. */
const OF_WHOLE_APP: ReadonlySet<KeyedRoute["permission"]> = new Set(["edit", "manage", "erase"]);

function logTermOf({ method, permission }: KeyedRoute): Terms["log"] {
  return OF_WHOLE_APP.has(permission) && method === "GET" ? "read" : TERMS[permission];
}

/** The page's own requests are about sessions and keys. */
const OF_PAGE: Terms = { refusalOf: () => null, log: null };

type KnownKey = Extract<KeyLookup, { readonly kind: "known" }>;
type UnknownKey = Exclude<KeyLookup | SessionLookup, { readonly kind: "known" }>;

function isKnown<Known extends KnownKey>(lookup: Known | UnknownKey): lookup is Known {
  return lookup.kind === "known";
}

/** Why an endpoint refuses a key, or null. */
function refusalOfKey(
  key: KeyRecord,
  { permission, forWholeApp, alsoReads, isForViews }: KeyedRoute,
): AccessError | null {
  const { permissions, deviceId, userId } = key;
  if (!permissions.includes(permission) && !(isForViews && permissions.includes("view"))) {
    return { kind: "permission_missing", permission };
  }
  if (alsoReads && !permissions.includes("read")) return { kind: "permission_missing", permission: "read" };
  const isBound = deviceId !== null || userId !== null;
  if (OF_WHOLE_APP.has(permission) && isBound) return { kind: "key_bound" };
  if (!forWholeApp) return null;
  if (!permissions.includes("write")) return { kind: "permission_missing", permission: "write" };
  return isBound ? { kind: "key_bound" } : null;
}

/** Never read: the client has closed the connection and the work was cancelled. */
const CLIENT_GONE = new Response(null, { status: 499 });

const SCHEME = "Bearer ";

/**
 * The credentials of an `Authorization: Bearer` header, or null. RFC 7235 §2.1: the scheme's case does not matter. The
 * plugin reads `Bearer` alone, and only for what writes.
 */
function presentedKey(authorization: string | null, token: string | undefined): string | null {
  if (authorization === null) return null;
  const isExact = authorization.startsWith(SCHEME);
  if (!isExact && authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME.toLowerCase()) return null;
  let start = SCHEME.length;
  while (authorization[start] === " ") start++; // `trim` would remove far more than HTTP's white space.
  const isBlank = authorization.slice(start, start + 1).trim() === "";
  if (isBlank) return null;
  return isExact && token !== undefined ? token.slice(start - SCHEME.length) : authorization.slice(start);
}
