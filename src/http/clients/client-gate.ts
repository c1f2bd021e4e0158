import type { KeyRecord } from "../../auth/key-file.ts";
import type { KeyStore } from "../../auth/key-store.ts";
import type { ClientAnswer } from "../../clients/client.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type MaybePromise, mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";
import type { Wait } from "../../lib/schedule/timers.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Answer, Responder } from "../answer/responder.ts";
import { type AccessError, lookupError } from "../errors.ts";
import type { Handler, Observe } from "../observe.ts";
import {
  type ClientRequest,
  type ClientRoute,
  type Credentials,
  createRequestReader,
} from "./client-request.ts";
import { DelayedAnswers, Pace } from "./pace.ts";
import { Refusals, type Refused } from "./refusals.ts";

/** The longest that an answer is delayed. Every client waits at least 10 s for one. */
const HOLD_MS_MAX = 5000;
/** Maximum requests that wait for their turn. Each takes some KB for its connection, like a delayed refusal. */
const PACED_MAX = 2000;
const DELAYED_REFUSALS_MAX = 200;

/**
 * Every client request passes here: it checks the key, its permission, whether the service is up, and the key's rate.
 */
export interface ClientGate {
  /** The handler of a route: passes requests to `answer`, or refuses them in the client's format. */
  admitting(route: ClientRoute, answer: (call: ClientCall) => Answer): Handler;
}

/** One admitted request: its key, everything but its body, and how to answer it. */
export interface ClientCall extends ClientRequest {
  readonly request: Request;
  readonly key: KeyRecord;
  readonly arrivedMs: number;
  answer(answer: ClientAnswer): Answer;
  fail(error: ServiceError): Answer;
}

export interface ClientGateDependencies {
  readonly keys: Pick<KeyStore, "find">;
  readonly clock: Clock;
  readonly responder: Responder;
  readonly observe: Observe;
  /** Why the service can't store anything now (it is starting or stopping), or null. */
  readonly unavailable: () => ServiceError | null;
  readonly stopping: AbortSignal;
  /** The number of servers that share each key's rate now. */
  readonly share: () => number;
  /** Answers a method that the path doesn't have. */
  readonly wrongMethod: (request: Request) => Answer;
  readonly wait: Wait;
}

export function createClientGate(dependencies: ClientGateDependencies): ClientGate {
  const { keys, clock, responder, observe, unavailable, stopping, wrongMethod, wait, share } = dependencies;
  const pace = new Pace(HOLD_MS_MAX, share);
  const paced = new DelayedAnswers({ max: PACED_MAX, wait, stopping });
  const delayed = new DelayedAnswers({ max: DELAYED_REFUSALS_MAX, wait, stopping });
  const refusals = new Refusals(responder, delayed, HOLD_MS_MAX);

  /** Waits for the request's turn; returns why it can't continue, or null. */
  function inTurn(request: Request, { id, tier, appId }: KeyRecord): MaybePromise<ServiceError | null> {
    const obstacle = unavailable();
    if (obstacle !== null) return obstacle;
    const delayMs = pace.delayMs(id, tier, clock.nowMs());
    if (delayMs === 0) return null;
    const waited = delayMs === null ? null : paced.hold({ appId, keyId: id }, delayMs, request.signal);
    return waited === null ? TOO_FAST : waited.then(unavailable);
  }

  function guarded(refused: Refused, call: ClientCall, answer: (call: ClientCall) => Answer): Answer {
    const fault = (error: unknown) => refusals.fault(refused, error);
    try {
      const result = answer(call);
      return result instanceof Promise ? result.catch(fault) : result;
    } catch (error) {
      return fault(error);
    }
  }

  return {
    admitting(route, answer) {
      const { method, path, client } = route;
      const readRequest = createRequestReader(route);
      return observe(method, path, (request) => {
        if (request.method !== method) return wrongMethod(request); // A HEAD, which no client sends.
        const read = readRequest(request);
        const from = { request, client, headers: read.headers };
        const access = keyOf(read.credentials, keys);
        if (!access.ok)
          return refusals.wrongKey({ ...from, owner: strangerOf(read.credentials) }, access.error);
        const key = access.value;
        const refused = { ...from, owner: { appId: key.appId, keyId: key.id } };
        const failed = (error: ServiceError) => refusals.fail(refused, error);
        const call: ClientCall = {
          ...read,
          request,
          key,
          arrivedMs: clock.nowMs(),
          answer: (success) => responder.clientReply(request, 200, success),
          fail: failed,
        };
        return mapMaybe(inTurn(request, key), (obstacle) =>
          obstacle === null ? guarded(refused, call, answer) : failed(obstacle),
        );
      });
    },
  };
}

/** The key, or why it is refused. Several different keys count as an unknown one. */
function keyOf({ keyTexts }: Credentials, keys: Pick<KeyStore, "find">): Result<KeyRecord, AccessError> {
  const [keyText] = keyTexts;
  if (keyText === undefined) return fail({ kind: "key_missing" });
  if (keyTexts.length > 1) return fail({ kind: "key_unknown" });
  const lookup = keys.find(keyText);
  if (lookup.kind !== "known") return fail(lookupError(lookup.kind));
  if (lookup.key.permissions.includes("write")) return ok(lookup.key);
  return fail({ kind: "permission_missing", permission: "write" });
}

/** Senders without a key share one quota for delayed answers, under a name that no app has. */
function strangerOf({ keyTexts: [keyText = ""] }: Credentials): QuotaOwner {
  return { appId: "", keyId: keyText };
}

const TOO_FAST: ServiceError = {
  kind: "unavailable",
  message: "more requests than the key's tier allows",
  retryAfterSeconds: 30,
};
