import { JetStreamApiError } from "@nats-io/jetstream";
import {
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  InvalidArgumentError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from "@nats-io/transport-node";
import { messageOf } from "../../lib/message-of.ts";
import { StreamError, type StreamErrorKind } from "./stream.ts";

/** Error numbers of the server (`errors.json` there), which are stable across versions. */
export const API_ERRORS = {
  streamNotFound: 10059,
  streamNameInUse: 10058,
  noMessageFound: 10037,
  replicasNotSupported: 10074,
} as const;

/** An account, a stream or the servers' disks are full. */
const FULL = [10002, 10023, 10028, 10047, 10122];
const STORE_FAILED = 10077; // The message says why.
const NO_PEERS = 10005; // The message says why.
const STORE_IS_FULL = /maximum|exceed|no space|quota|insufficient storage/i;

const CONFLICT = [10071, 10164];

/** Sent while servers start, are unreachable or elect a leader, though with status 400 or 500. */
const TRANSIENT = [10005, 10006, 10007, 10009, 10118, 10119, 10194, 10195];

/** A message of this id was accepted but is not replicated yet. */
const UNDER_WAY = 10158;

/** Errors without an API code: of connections, and of requests without an answer. */
const UNREACHABLE = [ClosedConnectionError, ConnectionError, NoRespondersError, RequestError, TimeoutError];
const REFUSED = [
  AuthorizationError,
  InvalidArgumentError,
  PermissionViolationError,
  UserAuthenticationExpiredError,
];

/** Converts an error of servers and connections; rethrows others. `doing` completes "Cannot ...". */
export function streamErrorOf(error: unknown, doing: string): StreamError {
  if (error instanceof StreamError) return error;
  const causes = causesOf(error);
  const api = causes.find((cause) => cause instanceof JetStreamApiError);
  const kind = api === undefined ? kindOf(causes) : kindOfApi(api);
  if (kind === null) throw error;
  const source = api ?? causes.at(-1);
  return new StreamError(kind, `Cannot ${doing}: ${wordsOf(source)}`, error);
}

export function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** The error and its causes, the outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause)
    causes.push(cause);
  return causes;
}

function kindOfApi({ code, status, message }: JetStreamApiError): StreamErrorKind {
  if (FULL.includes(code) || ((code === STORE_FAILED || code === NO_PEERS) && STORE_IS_FULL.test(message)))
    return "full";
  if (CONFLICT.includes(code)) return "conflict";
  if (code === API_ERRORS.streamNotFound) return "gone";
  if (status === 503 || status === 429 || code === UNDER_WAY || TRANSIENT.includes(code))
    return "unreachable";
  return "refused";
}

function kindOf(causes: readonly unknown[]): StreamErrorKind | null {
  if (causes.some((cause) => REFUSED.some((kind) => cause instanceof kind))) return "refused";
  return causes.some((cause) => UNREACHABLE.some((kind) => cause instanceof kind)) ? "unreachable" : null;
}

function wordsOf(error: unknown): string {
  if (error instanceof TimeoutError) return "no answer in time";
  if (error instanceof NoRespondersError)
    return "no server accepts it: they are starting, have no majority, or lack JetStream";
  return messageOf(error);
}
