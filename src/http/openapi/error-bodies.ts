import { type AccessError, answerError, DEVICE_NOT_FOUND, type HttpError } from "../errors.ts";
import type { Schemas } from "../shapes/schema.ts";
import { always, object, plain, text } from "../shapes/shape.ts";

/** The bodies of failures that several endpoints share, and examples made by the very code that answers with them. */

const success = always(false);
const message = text("What is wrong, in words: the parameter and the bound it broke.");

/** Every way the door refuses, once. */
const REFUSALS: Readonly<Record<AccessError["kind"], AccessError>> = {
  key_missing: { kind: "key_missing" },
  key_unknown: { kind: "key_unknown" },
  key_revoked: { kind: "key_revoked" },
  key_expired: { kind: "key_expired" },
  permission_missing: { kind: "permission_missing", permission: "read" },
  key_bound: { kind: "key_bound" },
  rate_exceeded: { kind: "rate_exceeded", retryAfterSeconds: 1 },
  session_unknown: { kind: "session_unknown" },
  session_expired: { kind: "session_expired" },
};

const refusalBodies = Object.values(REFUSALS).map((refusal) => answerError(refusal).body);

export const ERROR_SCHEMAS = {
  PlainError: object({ success, message }, "What is wrong, in words.").schema,
  AuthError: object({
    success,
    error: plain({ type: "string", enum: refusalBodies.map((body) => body.error) }),
    code: plain({ type: "string", enum: refusalBodies.map((body) => body.code) }),
    message: text("What is wrong, in words."),
  }).schema,
  UserIdError: object({ error: always("Invalid user_id"), message }).schema,
  DeviceError: object({
    success,
    device_id: text("The device that was asked for."),
    message: always(DEVICE_NOT_FOUND),
  }).schema,
  ServerError: object({
    success,
    message,
    request_id: text("The id under which the server's log says more."),
  }).schema,
} satisfies Schemas;

/** The body that the service itself gives for an error. */
export function exampleOf(error: HttpError): unknown {
  return answerError(error).body;
}
