import { TOO_MANY_REPORTS } from "../body/body-reader.ts";
import { type AccessError, answerError, DEVICE_NOT_FOUND, ERROR_CODES, type HttpError } from "../errors.ts";
import { behind } from "../min-sequence.ts";
import { EXAMPLE_REPORT } from "../shapes/record-schemas.ts";
import { always, object, plain, ref, type Schema, type Schemas, text } from "../shapes/shape.ts";

/** Responses: a status's description, headers and body, with examples. */

export const HEADERS = {
  RequestId: {
    description: "The request's own X-Request-Id (1 to 128 visible ASCII characters), or one made for it.",
    schema: { type: "string", minLength: 1, maxLength: 128 },
    example: "5f0c2f9e-6a0b-4c0e-9a53-0a1c3f4f7a11",
  },
  RateLimit: {
    description: "The key's tier, the requests left (r), and the seconds until the next is earned (t).",
    schema: { type: "string" },
    example: '"standard";r=187;t=1',
  },
  RateLimitPolicy: {
    description: "The key's tier, its burst (q), and the seconds an empty one takes to fill (w).",
    schema: { type: "string" },
    example: '"standard";q=200;w=2',
  },
  Sequence: {
    description: [
      "The last entry of the log that changed something of the app, as far as the answer knows: it knows all of the",
      "app up to there, and up to the entry of Wherehouse-Min-Sequence. Sent as that to another server of a cluster it",
      "has that one know no less. To a key with the permission `view`, the last that changed something of its devices.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 4711,
  },
  NewRecords: {
    description: [
      "Of the accepted reports, those that made a record of a device and timestamp that had none. Without",
      "`count=exact` a report of a record that only the archive has counts too.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  SameTime: {
    description: [
      "Reports of a device and timestamp that had a record: those that changed it, and those of another position that",
      "are worse fixes than the record's and count among the duplicates.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 0,
  },
  RetryAfter: {
    description: "Seconds to wait before asking again.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  WwwAuthenticate: {
    description: "The scheme that keys are sent with.",
    schema: { type: "string" },
    example: "Bearer",
  },
  ETag: {
    description: "Another whenever the answer may be another; to be sent as If-None-Match with the same key.",
    schema: { type: "string" },
    example: 'W/"PRnhyQqa3KkXHnJHkJtXs0kQ1SA"',
  },
  CacheControl: {
    description: "The answer is for who asked alone, and good once the server says so again.",
    schema: { type: "string" },
    example: "private, no-cache",
  },
  ErrorCode: {
    description: "Which failure it is: one of the codes that the document begins with.",
    schema: { type: "string", enum: Object.keys(ERROR_CODES) },
    example: "PARAMETER_001",
  },
  IgnoredParameters: {
    description: [
      "Sent where the query has parameters that the endpoint doesn't know, which change nothing of the answer: their",
      "names, at most 8, then how many more there are. Names that could be keys, or that are no plain words, are not in it.",
    ].join(" "),
    required: false,
    schema: { type: "string" },
    example: "limt, start_dat, +2",
  },
  Allow: {
    description: "The methods that the path takes.",
    schema: { type: "string" },
    example: "GET, HEAD",
  },
} satisfies Schemas;

const REQUEST_ID = { "X-Request-Id": ref("headers", "RequestId") };
export const RETRY_AFTER = { "Retry-After": ref("headers", "RetryAfter") };
const RATE = {
  RateLimit: ref("headers", "RateLimit"),
  "RateLimit-Policy": ref("headers", "RateLimitPolicy"),
};

/** Headers by how far a request came: everything is answered with an id, and a known key with its rate. */
export const ALWAYS_SENT: Schemas = REQUEST_ID;
export const SENT_WITH_KEY: Schemas = { ...RATE, ...REQUEST_ID };
/** With what knows of the log, be it that there is no such device. */
export const SENT_WITH_DATA: Schemas = {
  "Wherehouse-Sequence": ref("headers", "Sequence"),
  ...SENT_WITH_KEY,
};
export const SENT_WITH_TAG: Schemas = {
  ETag: ref("headers", "ETag"),
  "Cache-Control": ref("headers", "CacheControl"),
  ...SENT_WITH_DATA,
};
/** With an answer to a query of which something was ignored. */
export const SENT_IF_IGNORED: Schemas = {
  "Wherehouse-Ignored-Parameters": ref("headers", "IgnoredParameters"),
};
export const SENT_WITH_ERROR: Schemas = { "Wherehouse-Error-Code": ref("headers", "ErrorCode") };
export const SENT_TO_RETRY: Schemas = { ...RETRY_AFTER, ...SENT_WITH_KEY };

/** A failure with one of these bodies, by name. Examples are bodies by what happened. */
export function failure(
  description: string,
  headers: Schemas,
  bodies: readonly string[],
  examples: Readonly<Record<string, unknown>>,
): Schema {
  const schemas = bodies.map((name) => ref("schemas", name));
  const schema = schemas.length === 1 ? schemas[0] : { oneOf: schemas };
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    description,
    headers: { ...headers, ...SENT_WITH_ERROR },
    content: { "application/json": { schema, examples: Object.fromEntries(named) } },
  };
}

/** Answers that read the same on every route they happen on. */
export const RESPONSES = {
  Unchanged: {
    description: "The answer that was kept is still right: `If-None-Match` names its ETag.",
    headers: SENT_WITH_TAG,
  },
  Unauthorized: failure(
    "No key, or one that is unknown, revoked or expired.",
    { "WWW-Authenticate": ref("headers", "WwwAuthenticate"), ...ALWAYS_SENT },
    ["AuthError"],
    {
      missing: exampleOf({ kind: "key_missing" }),
      unknown: exampleOf({ kind: "key_unknown" }),
      revoked: exampleOf({ kind: "key_revoked" }),
      expired: exampleOf({ kind: "key_expired" }),
    },
  ),
  NoRead: failure("The key lacks the permission `read`.", SENT_WITH_KEY, ["AuthError"], {
    forbidden: exampleOf({ kind: "permission_missing", permission: "read" }),
  }),
  NotForAll: failure(
    "The key lacks the permission `read` or `write`, or is bound to a device or user.",
    SENT_WITH_KEY,
    ["AuthError"],
    {
      forbidden: exampleOf({ kind: "permission_missing", permission: "write" }),
      bound: exampleOf({ kind: "key_bound" }),
    },
  ),
  NoWrite: failure("The key lacks the permission `write`.", SENT_WITH_KEY, ["AuthError"], {
    forbidden: exampleOf({ kind: "permission_missing", permission: "write" }),
  }),
  NoOperate: failure("The key lacks the permission `operate`.", SENT_WITH_KEY, ["AuthError"], {
    forbidden: exampleOf({ kind: "permission_missing", permission: "operate" }),
  }),
  NoSuchPath: failure(
    "There is nothing at this path. A `/` within its variable part must be percent-encoded.",
    ALWAYS_SENT,
    ["PlainError"],
    { no_such_path: exampleOf({ kind: "no_such_path" }) },
  ),
  WrongMethod: failure(
    "The path takes other methods.",
    { Allow: ref("headers", "Allow"), ...ALWAYS_SENT },
    ["PlainError"],
    { wrong_method: exampleOf({ kind: "wrong_method", allow: "GET, HEAD", method: "DELETE" }) },
  ),
  TooMany: failure("More requests than the key's tier allows.", SENT_TO_RETRY, ["AuthError"], {
    too_many: exampleOf({ kind: "rate_exceeded", retryAfterSeconds: 1 }),
  }),
  ServerError: serverFailure(SENT_WITH_KEY),
  ClientServerError: serverFailure(ALWAYS_SENT),
  Unavailable: failure(
    "The server is starting, stopping, overloaded, or not as far in its log as the question wants it to be.",
    SENT_TO_RETRY,
    ["PlainError"],
    {
      starting: { success: false, message: "the server is starting: it reads its log" },
      stopping: { success: false, message: "the server is stopping" },
      busy: { success: false, message: "too many questions are waiting for the archive; ask again shortly" },
      overloaded: { success: false, message: TOO_MANY_REPORTS.message },
      behind: exampleOf(behind(4712)),
    },
  ),
} satisfies Schemas;

function serverFailure(headers: Schemas): Schema {
  return failure("The server failed, by no fault of the request.", headers, ["ServerError"], {
    failed: {
      success: false,
      message: "the server failed to answer; its log has the details",
      request_id: HEADERS.RequestId.example,
    },
  });
}

export function shared(name: keyof typeof RESPONSES): Schema {
  return ref("responses", name);
}

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

/** What is answered about a device that the app doesn't have. */

export const UNKNOWN_DEVICE = exampleOf({
  kind: "device_not_found",
  deviceId: String(EXAMPLE_REPORT.device_id),
});

/** The 404 of an endpoint with a device in its path: it has a body of its own. */
export function missingDevice(body: string, example: unknown): Schema {
  return failure(
    "The device is unknown or belongs to another app; or there is nothing at this path.",
    SENT_WITH_DATA,
    [body, "PlainError"],
    { unknown_device: example, no_such_path: exampleOf({ kind: "no_such_path" }) },
  );
}
