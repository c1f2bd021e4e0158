import type { KeyRecord } from "../../auth/key-file.ts";
import type { KeyStore } from "../../auth/key-store.ts";
import type { ClientAnswer } from "../../clients/client.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { type MaybePromise, whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { Holder } from "../../lib/schedule/shared-pool.ts";
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
import { HeldAnswers, Pace } from "./pace.ts";
import { Refusals, type Refused } from "./refusals.ts";

/** The longest that an answer is held. The shortest that a client waits for one is 10 s. */
const HOLD_MS_MAX = 5000;
/** Requests that wait for their turn, and refusals that are held: some KB of a connection's each. */
const PACED_MAX = 2000;
const HELD_REFUSALS_MAX = 200;

/** Where every request of a client comes through: key, permission, whether the service is up, and the key's pace. */
export interface ClientGate {
  /** What answers the requests of a route: lets them through to `answer`, or refuses them as the client takes it. */
  admitting(route: ClientRoute, answer: (call: ClientCall) => Answer): Handler;
}

/** One admitted request: whose it is, what it says besides its body, and how to answer it. */
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
  /** What keeps the service from taking anything (it is starting, or stopping), or null. */
  readonly unavailable: () => ServiceError | null;
  readonly stopping: AbortSignal;
  /** Among how many servers each key's rate is divided now. */
  readonly share: () => number;
  /** Answers a method that the path doesn't take. */
  readonly wrongMethod: (request: Request) => Answer;
  readonly wait: Wait;
}

export function createClientGate(dependencies: ClientGateDependencies): ClientGate {
  const { keys, clock, responder, observe, unavailable, stopping, wrongMethod, wait, share } = dependencies;
  const pace = new Pace(HOLD_MS_MAX, share);
  const paced = new HeldAnswers({ max: PACED_MAX, wait, stopping });
  const held = new HeldAnswers({ max: HELD_REFUSALS_MAX, wait, stopping });
  const refusals = new Refusals(responder, held, HOLD_MS_MAX);

  /** What keeps the request from going on, once its turn has come. */
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
      const answered = answer(call);
      return answered instanceof Promise ? answered.catch(fault) : answered;
    } catch (error) {
      return fault(error);
    }
  }

  return {
    admitting(route, answer) {
      const { method, path, client } = route;
      const readRequest = createRequestReader(route);
      return observe(method, path, (request) => {
        if (request.method !== method) return wrongMethod(request); // A HEAD, which is none of the client's.
        const read = readRequest(request);
        const from = { request, client, headers: read.headers };
        const found = keyOf(read.credentials, keys);
        if (!found.ok)
          return refusals.wrongKey({ ...from, holder: strangerOf(read.credentials) }, found.error);
        const key = found.value;
        const refused = { ...from, holder: { appId: key.appId, keyId: key.id } };
        const failed = (error: ServiceError) => refusals.fail(refused, error);
        const call: ClientCall = {
          ...read,
          request,
          key,
          arrivedMs: clock.nowMs(),
          answer: (success) => responder.words(request, 200, success),
          fail: failed,
        };
        return whenThere(inTurn(request, key), (obstacle) =>
          obstacle === null ? guarded(refused, call, answer) : failed(obstacle),
        );
      });
    },
  };
}

/** The key, or what is wrong with it; to send several is to send none that is known. */
function keyOf({ keyTexts }: Credentials, keys: Pick<KeyStore, "find">): Result<KeyRecord, AccessError> {
  const [keyText] = keyTexts;
  if (keyText === undefined) return fail({ kind: "key_missing" });
  if (keyTexts.length > 1) return fail({ kind: "key_unknown" });
  const found = keys.find(keyText);
  if (found.kind !== "known") return fail(lookupError(found.kind));
  if (found.key.permissions.includes("write")) return ok(found.key);
  return fail({ kind: "permission_missing", permission: "write" });
}

/** Who has no key shares what is held with all others that have none: no app is called so. */
function strangerOf({ keyTexts: [keyText = ""] }: Credentials): Holder {
  return { appId: "", keyId: keyText };
}

const TOO_FAST: ServiceError = {
  kind: "unavailable",
  message: "more requests than the key's tier allows",
  retryAfterSeconds: 30,
};
