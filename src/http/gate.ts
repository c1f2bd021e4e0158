import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { KeyRecord } from "../auth/key-file.ts";
import type { KeyStore } from "../auth/key-store.ts";
import type { Permission } from "../auth/permissions.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { Binding } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import type { Clock } from "../time/clock.ts";
import type { Answer, Responder } from "./answer/responder.ts";
import type { AccessError, HttpError } from "./errors.ts";
import type { Method } from "./method.ts";
import type { Handler, Observe } from "./observe.ts";
import { rateLimitHeader, rateLimitPolicyHeader } from "./rate-limit-headers.ts";

/** Where every keyed request comes through: key, rate, permission, and whether the service is up. */
export interface Gate {
  /** What answers the requests of an endpoint: lets them through to `answer`, or refuses them. */
  keyed(endpoint: KeyedRoute, answer: (call: Call) => Answer): Handler;
}

/** What the gate knows of an endpoint. */
export interface KeyedRoute {
  readonly method: Method;
  readonly path: string;
  readonly permission: Permission;
  readonly forWholeApp: boolean;
}

/** One admitted request: whose it is, when it came, and how to answer it. */
export interface Call {
  readonly request: Request;
  readonly appId: AppId;
  readonly keyId: string;
  /** Whom the key writes as. */
  readonly binding: Binding;
  readonly nowMs: number;
  /** Milliseconds since the request came in, for `query_time_ms`. */
  elapsedMs(): number;
  json(body: Uint8Array<ArrayBuffer>, status?: number): Answer;
  /** A body of JSON that may be too long to be made, or held, in one piece. */
  pieces(body: Iterable<Uint8Array<ArrayBuffer>>): Answer;
  text(body: string, contentType: string): Answer;
  object(body: unknown, status: number): Answer;
  fail(error: HttpError): Answer;
}

export interface GateDependencies {
  readonly keys: Pick<KeyStore, "find">;
  readonly rateLimit: RateLimit;
  readonly clock: Clock;
  readonly responder: Responder;
  readonly observe: Observe;
  /** What keeps the service from answering (it is starting, or stopping), or null. */
  readonly unavailable: () => HttpError | null;
}

/**
 * The bearer plugin with its ways around the header closed: keys in URLs end up in logs. An empty name still
 * lets `?=key` through, so `presentedKey` believes the plugin only where there is a header.
 */
export const bearerToken = () =>
  new Elysia().use(bearer({ extract: { header: "Bearer", query: "", body: "" } }));

export function createGate(dependencies: GateDependencies): Gate {
  const { keys, rateLimit, clock, responder, observe, unavailable } = dependencies;

  function admit(
    request: Request,
    bearerToken: string | undefined,
    { permission, forWholeApp }: KeyedRoute,
    answer: (call: Call) => Answer,
  ): Answer {
    const startedMs = performance.now();
    const keyText = presentedKey(request.headers.get("authorization"), bearerToken);
    if (keyText === null) return responder.failure(request, { kind: "key_missing" });
    const found = keys.find(keyText);
    if (found.kind !== "known") return responder.failure(request, lookupError(found.kind));
    const { id, tier, permissions, appId } = found.key;
    const nowMs = clock.nowMs();
    const decision = rateLimit.take(id, tier, nowMs);
    const headers = {
      ratelimit: rateLimitHeader(tier, decision),
      "ratelimit-policy": rateLimitPolicyHeader(tier),
    };
    if (!decision.allowed) {
      const { retryAfterSeconds } = decision;
      return responder.failure(request, { kind: "rate_exceeded", retryAfterSeconds }, headers);
    }
    if (!permissions.includes(permission)) {
      return responder.failure(request, { kind: "permission_missing", permission }, headers);
    }
    const bound = forWholeApp ? refusalOfKey(found.key) : null;
    if (bound !== null) return responder.failure(request, bound, headers);
    // Who operates the service wants to see it start and stop.
    const obstacle = permission === "operate" ? null : unavailable();
    if (obstacle !== null) return responder.failure(request, obstacle, headers);
    const call: Call = {
      request,
      appId,
      keyId: id,
      binding: found.key,
      nowMs,
      elapsedMs: () => performance.now() - startedMs,
      json: (body, status = 200) => responder.json(request, status, body, headers),
      pieces: (body) => responder.pieces(request, appId, body, headers),
      text: (body, contentType) => responder.text(request, body, contentType, headers),
      object: (body, status) => responder.object(request, status, body, headers),
      fail: (error) => responder.failure(request, error, headers),
    };
    const fault = (error: unknown) =>
      request.signal.aborted ? CLIENT_GONE.clone() : responder.fault(request, error, headers);
    try {
      const answered = answer(call);
      return answered instanceof Promise ? answered.catch(fault) : answered;
    } catch (error) {
      return fault(error);
    }
  }

  return {
    keyed: (route, answer) =>
      observe(route.method, route.path, (request, bearerToken) => admit(request, bearerToken, route, answer)),
  };
}

/** Why a key can't decide for all of its app, beside that it may read; null where it can. */
function refusalOfKey({ permissions, deviceId, userId }: KeyRecord): AccessError | null {
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

function lookupError(kind: "unknown" | "revoked" | "expired"): AccessError {
  switch (kind) {
    case "unknown":
      return { kind: "key_unknown" };
    case "revoked":
      return { kind: "key_revoked" };
    case "expired":
      return { kind: "key_expired" };
  }
}
