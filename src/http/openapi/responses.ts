import { TOO_MANY_REPORTS } from "../body/body-reader.ts";
import { type AccessError, answerError, DEVICE_NOT_FOUND, ERROR_CODES, type HttpError } from "../errors.ts";
import { behind } from "../min-sequence.ts";
import { EXAMPLE_REPORT } from "../shapes/record-schemas.ts";
import { always, object, plain, ref, type Schema, type Schemas, text } from "../shapes/shape.ts";

/** Shared responses and their headers, bodies and examples. */

export const HEADERS = {
  RequestId: {
    description: "The request's X-Request-Id (1 to 128 visible ASCII characters), or a new one.",
    schema: { type: "string", minLength: 1, maxLength: 128 },
    example: "5f0c2f9e-6a0b-4c0e-9a53-0a1c3f4f7a11",
  },
  RateLimit: {
    description: "The key's tier, the requests left (r), and the seconds until the next is earned (t).",
    schema: { type: "string" },
    example: '"standard";r=187;t=1',
  },
  RateLimitPolicy: {
    description: "The key's tier, its burst (q), and the seconds in which an empty bucket fills (w).",
    schema: { type: "string" },
    example: '"standard";q=200;w=2',
  },
  Sequence: {
    description: [
      "The last entry of the log that changed the app and that the answer includes; it includes all entries of the app up",
      "to this one, and up to the one of Wherehouse-Min-Sequence. Sent in that header to another server of a cluster, it",
      "makes the answer there include as much. For a key with the permission `view`, the last that changed its devices.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 4711,
  },
  NewRecords: {
    description: [
      "Accepted reports that created a record, that is, a new pair of device and timestamp. Without `count=exact` a report",
      "whose record is only in the archive counts too.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  SameTime: {
    description: [
      "Reports whose device and timestamp already had a record: those that changed it, and those that are worse fixes of",
      "another position and count as duplicates.",
    ].join(" "),
    schema: { type: "integer", minimum: 0 },
    example: 0,
  },
  RetryAfter: {
    description: "Seconds to wait before the next attempt.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  WwwAuthenticate: {
    description: "The scheme that keys are sent with.",
    schema: { type: "string" },
    example: "Bearer",
  },
  ETag: {
    description: "Changes whenever the answer may change. Send it as If-None-Match with the same key.",
    schema: { type: "string" },
    example: 'W/"PRnhyQqa3KkXHnJHkJtXs0kQ1SA"',
  },
  CacheControl: {
    description: "Only the client may cache the answer, and it must revalidate it.",
    schema: { type: "string" },
    example: "private, no-cache",
  },
  ErrorCode: {
    description: "The kind of failure: one of the codes at the beginning of the document.",
    schema: { type: "string", enum: Object.keys(ERROR_CODES) },
    example: "PARAMETER_001",
  },
  IgnoredParameters: {
    description: [
      "Sent if the query has parameters that the endpoint doesn't know and ignores: their names, at most 8, then the number",
      "of further ones. Names that could be keys, or have unusual characters, are not listed.",
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

/** Headers by stage: every answer has an id, and every answer to a known key has its rate. */
export const ALWAYS_SENT: Schemas = REQUEST_ID;
export const SENT_WITH_KEY: Schemas = { ...RATE, ...REQUEST_ID };
/** For answers that depend on the log, including those about unknown devices. */
export const SENT_WITH_DATA: Schemas = {
  "Wherehouse-Sequence": ref("headers", "Sequence"),
  ...SENT_WITH_KEY,
};
export const SENT_WITH_TAG: Schemas = {
  ETag: ref("headers", "ETag"),
  "Cache-Control": ref("headers", "CacheControl"),
  ...SENT_WITH_DATA,
};
export const SENT_IF_IGNORED: Schemas = {
  "Wherehouse-Ignored-Parameters": ref("headers", "IgnoredParameters"),
};
export const SENT_WITH_ERROR: Schemas = { "Wherehouse-Error-Code": ref("headers", "ErrorCode") };
export const SENT_TO_RETRY: Schemas = { ...RETRY_AFTER, ...SENT_WITH_KEY };

/** A failure with one of these bodies, by name. Examples are bodies by event. */
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

/** Answers that are the same on every route. */
export const RESPONSES = {
  Unchanged: {
    description: "The cached answer is still valid: `If-None-Match` has its ETag.",
    headers: SENT_WITH_TAG,
  },
  Unauthorized: failure(
    "The key is missing, unknown, revoked or expired.",
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
  NoEdit: failure(
    "The key lacks the permission `edit`, or is bound to a device or user.",
    SENT_WITH_KEY,
    ["AuthError"],
    {
      forbidden: exampleOf({ kind: "permission_missing", permission: "edit" }),
      bound: exampleOf({ kind: "key_bound" }),
    },
  ),
  NoManage: failure(
    "The key lacks the permission `manage`, or is bound to a device or user.",
    SENT_WITH_KEY,
    ["AuthError"],
    {
      forbidden: exampleOf({ kind: "permission_missing", permission: "manage" }),
      bound: exampleOf({ kind: "key_bound" }),
    },
  ),
  NoErase: failure(
    "The key lacks the permission `erase`, or is bound to a device or user.",
    SENT_WITH_KEY,
    ["AuthError"],
    {
      forbidden: exampleOf({ kind: "permission_missing", permission: "erase" }),
      bound: exampleOf({ kind: "key_bound" }),
    },
  ),
  NoOperate: failure("The key lacks the permission `operate`.", SENT_WITH_KEY, ["AuthError"], {
    forbidden: exampleOf({ kind: "permission_missing", permission: "operate" }),
  }),
  NoSuchPath: failure(
    "There is nothing at this path. A `/` within a variable segment must be percent-encoded.",
    ALWAYS_SENT,
    ["PlainError"],
    { no_such_path: exampleOf({ kind: "no_such_path" }) },
  ),
  WrongMethod: failure(
    "The path has other methods.",
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
    "The server is starting, stopping, overloaded, or does not have the requested entry of the log yet.",
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
  return failure("The server failed; the request is not at fault.", headers, ["ServerError"], {
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

/** Bodies of shared failures. The code that sends them also creates their examples. */

const success = always(false);
const message = text("What is wrong: the parameter and the bound it broke.");

/** Every refusal of a key, a session or a rate, once. */
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
  PlainError: object({ success, message }, "What is wrong.").schema,
  AuthError: object({
    success,
    error: plain({ type: "string", enum: refusalBodies.map((body) => body.error) }),
    code: plain({ type: "string", enum: refusalBodies.map((body) => body.code) }),
    message: text("What is wrong."),
  }).schema,
  UserIdError: object({ error: always("Invalid user_id"), message }).schema,
  DeviceError: object({
    success,
    device_id: text("The requested device."),
    message: always(DEVICE_NOT_FOUND),
  }).schema,
  ServerError: object({
    success,
    message,
    request_id: text("The id under which the server's log has the details."),
  }).schema,
} satisfies Schemas;

export function exampleOf(error: HttpError): unknown {
  return answerError(error).body;
}

/** The examples of a 413 for a body in general. */
export const BODY_TOO_LARGE = {
  body_too_large: exampleOf({
    kind: "body_too_large",
    message: "the body must be at most 16 MiB, before and after decompression",
  }),
};

/** The body for a device that the app doesn't have. */

export const UNKNOWN_DEVICE = exampleOf({
  kind: "device_not_found",
  deviceId: String(EXAMPLE_REPORT.device_id),
});

/** The 404 of an endpoint with a device in its path, with its own body. */
export function missingDevice(body: string, example: unknown): Schema {
  return failure(
    "The device is unknown or belongs to another app; or there is nothing at this path.",
    SENT_WITH_DATA,
    [body, "PlainError"],
    { unknown_device: example, no_such_path: exampleOf({ kind: "no_such_path" }) },
  );
}
