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
import { type Call, createCall } from "./call.ts";
import { type AccessError, type HttpError, lookupError } from "./errors.ts";
import type { MinSequences } from "./min-sequence.ts";
import type { Handler, Observe } from "./observe.ts";
import { sessionLookup } from "./page/session-cookie.ts";
import { isFromPage, type Method } from "./request.ts";

/** Where every keyed request comes through: key or session, rate, permission, and whether the service is up. */
export interface Gate {
  /** What answers the requests of an endpoint: lets them through to `answer`, or refuses them. */
  keyed(endpoint: KeyedRoute, answer: (call: Call) => Answer): Handler;
  /** The same for what the map page asks for itself, once somebody is signed in there. */
  signedIn(endpoint: Route, answer: (call: Call, signedIn: SignedIn) => Answer): Handler;
}

interface Route {
  readonly method: Method;
  readonly path: string;
}

/** What the gate knows of an endpoint. */
export interface KeyedRoute extends Route {
  /** What a key needs to ask. */
  readonly permission: Exclude<Permission, "view">;
  readonly forWholeApp: boolean;
  /** Whether keys with the permission `view` may ask too. */
  readonly isForViews: boolean;
}

export interface GateDependencies {
  readonly keys: Pick<KeyStore, "find">;
  readonly sessions: Pick<Sessions, "cookieName" | "find">;
  readonly rateLimit: RateLimit;
  readonly clock: Clock;
  readonly responder: Responder;
  readonly observe: Observe;
  /** What keeps the service from answering (it is starting, or stopping), or null. */
  readonly unavailable: () => HttpError | null;
  readonly sequences: Pick<AppliedSequences, "current" | "ofApp">;
  readonly minSequences: Pick<MinSequences, "isAsked" | "reach">;
}

/** On which terms an endpoint is asked. */
interface Terms {
  /** Why this key may not ask now; null where it may. */
  readonly refusalOf: (key: KeyRecord) => HttpError | null;
  /** What it has to do with the log: it answers about what that holds, adds to it, or neither. */
  readonly log: "asked" | "written" | null;
}

/**
 * The bearer plugin with its ways around the header closed: keys in URLs end up in logs. An empty name still
 * lets `?=key` through, so `presentedKey` believes the plugin only where there is a header.
 */
export const bearerToken = () =>
  new Elysia().use(bearer({ extract: { header: "Bearer", query: "", body: "" } }));

export function createGate(dependencies: GateDependencies): Gate {
  const { keys, sessions, rateLimit, clock, responder, observe, unavailable } = dependencies;
  const { sequences, minSequences } = dependencies;

  const tools = { responder, tags: new EntityTags(), longAnswers: new LongAnswers() };

  /** `find` looks up who asks, now and as long as the answer takes. */
  function admit<Known extends KnownKey>(
    request: Request,
    find: () => Known | UnknownKey,
    { refusalOf, log }: Terms,
    answer: (call: Call, known: Known) => Answer,
  ): Answer {
    const startedMs = performance.now();
    const found = find();
    if (!isKnown(found)) return responder.failure(request, lookupError(found.kind));
    const { id, tier, view: spec, appId } = found.key;
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
    const refusal = refusalOf(found.key);
    if (refusal !== null) return responder.failure(request, refusal, headers);
    const view = spec === null ? null : viewOf(spec);
    const isStillAllowed = () => isKnown(find());
    const started = { request, appId, keyId: id, binding: found.key, view, nowMs, startedMs, isStillAllowed };
    const begin = (sent: MoreHeaders) =>
      guarded(responder, request, sent, () => answer(createCall(started, tools, sent, sent), found));
    if (log === null) return begin(headers);
    if (log === "written") return begin(withLastSequence(headers, sequences));
    const told = (sequence: number) =>
      withSequence(headers, Math.max(sequence, sequences.ofApp(appId, view)));
    // To have a share link wait for an entry would tell it when others report.
    if (view !== null || !minSequences.isAsked(request)) return begin(told(0));
    return mapMaybe(minSequences.reach(request, started), (reached) => {
      if (reached.ok && !reached.value.hasWaited) return begin(told(reached.value.sequence));
      if (request.signal.aborted) return CLIENT_GONE.clone();
      // While it waited its key may have ended, and the service stopped.
      const now = find();
      if (!isKnown(now)) return responder.failure(request, lookupError(now.kind), headers);
      const obstacle = refusalOf(now.key);
      if (obstacle !== null) return responder.failure(request, obstacle, headers);
      return reached.ok
        ? begin(told(reached.value.sequence))
        : responder.failure(request, reached.error, told(0));
    });
  }

  return {
    keyed(route, answer) {
      const { method, path, permission } = route;
      const isForPage = method === "GET" && permission === "read" && path.startsWith("/api/v1/");
      // Who operates the service wants to see it start and stop.
      const obstacle = permission === "operate" ? () => null : unavailable;
      const refusalOf = (key: KeyRecord) => refusalOfKey(key, route) ?? obstacle();
      const terms = { refusalOf, log: TERMS[permission] };
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
 * What an answer to a question says that it knows of the log. Taken before anything is read: memory goes on while an
 * answer is made of the archive, and a number that is taken after that would promise what the answer may lack.
 */
function withSequence(headers: RateHeaders, sequence: number): MoreHeaders {
  const { ratelimit, "ratelimit-policy": policy } = headers;
  return { ratelimit, "ratelimit-policy": policy, "wherehouse-sequence": String(sequence) };
}

/** The same of an answer to reports, which takes it last, when it knows of these too. */
function withLastSequence(headers: RateHeaders, sequences: GateDependencies["sequences"]): MoreHeaders {
  return {
    ...headers,
    get "wherehouse-sequence"() {
      return String(sequences.current);
    },
  };
}

/** What fails while an answer is made is answered as a fault of ours. */
function guarded(responder: Responder, request: Request, headers: MoreHeaders, make: () => Answer): Answer {
  const fault = (error: unknown) =>
    request.signal.aborted ? CLIENT_GONE.clone() : responder.fault(request, error, headers);
  try {
    const answered = make();
    return answered instanceof Promise ? answered.catch(fault) : answered;
  } catch (error) {
    return fault(error);
  }
}

const TERMS: Readonly<Record<KeyedRoute["permission"], Terms["log"]>> = {
  read: "asked",
  write: "written",
  operate: null,
};

/** The page's own requests are about sessions and keys. */
const OF_PAGE: Terms = { refusalOf: () => null, log: null };

type KnownKey = Extract<KeyLookup, { readonly kind: "known" }>;
type UnknownKey = Exclude<KeyLookup | SessionLookup, { readonly kind: "known" }>;

function isKnown<Known extends KnownKey>(found: Known | UnknownKey): found is Known {
  return found.kind === "known";
}

/** Why a key may not ask what an endpoint answers; null where it may. */
function refusalOfKey(
  key: KeyRecord,
  { permission, forWholeApp, isForViews }: KeyedRoute,
): AccessError | null {
  const { permissions, deviceId, userId } = key;
  if (!permissions.includes(permission) && !(isForViews && permissions.includes("view"))) {
    return { kind: "permission_missing", permission };
  }
  if (!forWholeApp) return null;
  if (!permissions.includes("write")) return { kind: "permission_missing", permission: "write" };
  return deviceId === null && userId === null ? null : { kind: "key_bound" };
}

/** Nobody reads it: the client closed the connection, and what it asked for was given up. */
const CLIENT_GONE = new Response(null, { status: 499 });

/** RFC 7235 §2.1: the scheme's case does not matter. The plugin reads `Bearer` alone, so other cases are read here. */
function presentedKey(authorization: string | null, token: string | undefined): string | null {
  if (authorization === null || !/^bearer +\S/i.test(authorization)) return null;
  const isRead = token !== undefined && authorization.startsWith("Bearer ");
  const credentials = isRead ? token : authorization.slice("bearer ".length);
  let start = 0;
  while (credentials[start] === " ") start++; // Not `trim`, which takes far more than HTTP's white space for none.
  return credentials.slice(start);
}
