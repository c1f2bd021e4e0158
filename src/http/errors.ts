import { type KeyLookup, MADE_DEVICES_MAX, MADE_KEYS_MAX } from "../auth/key-store.ts";
import { LINK_CODE_MINUTES } from "../auth/link-codes.ts";
import type { CodeRefusal, SessionLookup } from "../auth/sessions.ts";
import type { ServiceError } from "../model/errors.ts";

/** Each code in `Wherehouse-Error-Code`: its status, what it means and what to do about it. */
export const ERROR_CODES = {
  AUTH_001: { status: 401, meaning: "No key was sent. Send it as `Authorization: Bearer KEY`." },
  AUTH_002: { status: 401, meaning: "The server does not know the key. Check that all of it was copied." },
  AUTH_003: { status: 401, meaning: "The key was revoked. Use another one." },
  AUTH_004: { status: 401, meaning: "The key has expired. Use another one." },
  AUTH_005: { status: 403, meaning: "The key lacks the permission that the message names." },
  AUTH_006: { status: 403, meaning: "The key is bound to a device or user. Use one that is not." },
  AUTH_007: { status: 401, meaning: "The session of the map page is unknown. Sign in again." },
  AUTH_008: { status: 401, meaning: "The session of the map page has ended. Sign in again." },
  AUTH_009: { status: 401, meaning: "The map page sent no session. Sign in." },
  AUTH_010: { status: 403, meaning: "Only the map page may ask this. Use a key below `/api/v1`." },
  AUTH_011: { status: 401, meaning: "The sign-in link is unknown, used or too old. Make another." },
  RATE_001: { status: 429, meaning: "The key's tier allows fewer requests. Obey `Retry-After`." },
  PARAMETER_001: { status: 400, meaning: "A parameter, header or path is invalid. The message says which." },
  PARAMETER_002: { status: 400, meaning: "The time zone is unknown. Send one such as `Europe/London`." },
  PARAMETER_003: { status: 400, meaning: "The user id is empty, blank or ANONYMOUS." },
  BODY_001: { status: 400, meaning: "The body can't be read. The message says why." },
  BODY_002: { status: 400, meaning: "The body ended too early or came too slowly. Send it again." },
  BODY_003: { status: 413, meaning: "The body is too large. Send several smaller ones." },
  BODY_004: { status: 415, meaning: "The media type or encoding is wrong. The message says what to send." },
  NOT_FOUND_001: { status: 404, meaning: "There is nothing at this path. `/docs` lists the paths." },
  NOT_FOUND_002: { status: 404, meaning: "The key's app has no such device, or it has not reported yet." },
  NOT_FOUND_003: { status: 404, meaning: "The quarantine of the app has no such entry. List it again." },
  NOT_FOUND_004: { status: 404, meaning: "The map has no such tile." },
  NOT_FOUND_005: { status: 404, meaning: "A file to copy is gone. Ask for the list of files again." },
  NOT_FOUND_006: { status: 404, meaning: "The page's key made no such key. List them again." },
  NOT_FOUND_007: { status: 404, meaning: "The device has no profile." },
  NOT_FOUND_008: { status: 404, meaning: "The app has no such correction. List them." },
  NOT_FOUND_009: { status: 404, meaning: "The app has no such erasure. List them." },
  NOT_FOUND_010: { status: 404, meaning: "The app has no such geofence or alert. List them." },
  NOT_FOUND_011: {
    status: 404,
    meaning: "The app has no such webhook, or no such event to send. List them.",
  },
  METHOD_001: { status: 405, meaning: "The path does not take this method. `Allow` names those it takes." },
  CONFLICT_001: { status: 409, meaning: "The server is not a node of a cluster." },
  CONFLICT_002: {
    status: 409,
    meaning: "Another node answered. Copy from an address that leads to one node.",
  },
  CONFLICT_003: { status: 409, meaning: "One key has made too many keys. Revoke some of them." },
  CONFLICT_004: {
    status: 409,
    meaning: "The `Idempotency-Key` came with another body before. Use each for one request.",
  },
  CONFLICT_005: {
    status: 409,
    meaning: "Other corrections touch the same records. Undo them first; the answer names them.",
  },
  CONFLICT_006: {
    status: 409,
    meaning: "A correction would put a record where the device has one. Hide that one, or select fewer.",
  },
  CONFLICT_007: {
    status: 409,
    meaning: "A device of the correction shows as another. Undo that correction first; the answer names it.",
  },
  CONFLICT_008: {
    status: 409,
    meaning: "The app has no room for another geofence or alert there. The message names the bound.",
  },
  CONFLICT_009: {
    status: 409,
    meaning: "There are as many webhooks as may be. The message names the bound.",
  },
  SERVER_001: { status: 500, meaning: "The server failed. Send its operator the `X-Request-Id`." },
  SERVER_002: { status: 500, meaning: "The archive lost records of the answer. The operator runs `verify`." },
  UNAVAILABLE_001: { status: 503, meaning: "The server starts, stops, is full or busy. Obey `Retry-After`." },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly meaning: string }>>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The codes as a table of Markdown, for `/docs` and docs/errors.md. */
export function errorCodeTable(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`,
  );
  return ["| code | status | what it means, and what to do |", "|---|---|---|", ...rows].join("\n");
}

export function codeHeader(code: ErrorCode): { readonly "wherehouse-error-code": ErrorCode } {
  return { "wherehouse-error-code": code };
}

/** Refusals of a request because of its key or session, or because of its rate. */
export type AccessError =
  | { readonly kind: "key_missing" }
  | { readonly kind: "key_unknown" }
  | { readonly kind: "key_revoked" }
  | { readonly kind: "key_expired" }
  | { readonly kind: "permission_missing"; readonly permission: string }
  | { readonly kind: "key_bound" }
  | { readonly kind: "rate_exceeded"; readonly retryAfterSeconds: number }
  | { readonly kind: "session_unknown" }
  | { readonly kind: "session_expired" };

export type PageError =
  | { readonly kind: "not_from_page" }
  | { readonly kind: "session_missing" }
  | { readonly kind: "code_refused"; readonly reason: CodeFault }
  | { readonly kind: "key_not_found" }
  | { readonly kind: "too_many_keys" };

type CodeFault = Exclude<CodeRefusal, "unreachable">;

type RouteError =
  | { readonly kind: "no_such_path" }
  | { readonly kind: "wrong_method"; readonly allow: string; readonly method: string };

export type HttpError = ServiceError | AccessError | PageError | RouteError;

export interface ErrorAnswer {
  readonly status: number;
  readonly code: ErrorCode;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Turns every error into a status and a body. A new kind compiles once it has a line here. */
export function answerError(error: HttpError): ErrorAnswer {
  switch (error.kind) {
    case "invalid_parameter":
      return plain("PARAMETER_001", error.message);
    case "invalid_timezone":
      return plain("PARAMETER_002", timezoneMessage(error.supplied));
    case "invalid_user_id":
      return answer("PARAMETER_003", { error: "Invalid user_id", message: error.message });
    case "device_not_found": // Also for devices of other apps, so ids stay private.
      return answer("NOT_FOUND_002", {
        success: false,
        device_id: error.deviceId,
        message: DEVICE_NOT_FOUND,
      });
    case "profile_not_found":
      return plain("NOT_FOUND_007", "this app's device has no profile");
    case "too_many_profiles":
      return plain(
        "PARAMETER_001",
        `the profiles of an app have at most ${error.bytesMax / 2 ** 20} MiB: delete some, or shorten metadata`,
      );
    case "fence_not_found":
    case "alert_not_found":
    case "too_many_watches":
    case "fences_overlap":
      return watchError(error);
    case "webhook_not_found":
    case "event_not_found":
    case "too_many_webhooks":
      return webhookError(error);
    case "erasure_not_found":
      return plain("NOT_FOUND_009", "the app has no such erasure");
    case "correction_not_found":
      return plain("NOT_FOUND_008", "the app has no such correction");
    case "record_exists":
    case "corrected_later":
    case "corrections_in_the_way":
    case "device_assigned":
    case "records_exist":
      return correctionError(error);
    case "idempotency_key_used":
      return plain("CONFLICT_004", "another body was sent with this Idempotency-Key in the last 24 hours");
    case "entry_not_found":
      return plain("NOT_FOUND_003", "the quarantine of this app has no such entry");
    case "tile_not_found":
      return plain("NOT_FOUND_004", error.message);
    case "not_a_node":
    case "another_node":
    case "copied_file_gone":
      return copyError(error.kind);
    case "body_unreadable":
      return plain("BODY_001", error.message);
    case "body_incomplete":
      return plain("BODY_002", error.message);
    case "body_too_large":
      return plain("BODY_003", error.message);
    case "media_type_unsupported":
      return plain("BODY_004", error.message);
    case "archive_damaged":
      return plain(
        "SERVER_002",
        `the archive has lost records of ${error.days.join(", ")}; ${WHAT_OPERATORS_DO}`,
      );
    case "unavailable":
      return plain("UNAVAILABLE_001", error.message, { "retry-after": String(error.retryAfterSeconds) });
    case "no_such_path":
    case "wrong_method":
      return answerRouteError(error);
    default:
      return answerAccessError(error);
  }
}

function copyError(kind: "not_a_node" | "another_node" | "copied_file_gone"): ErrorAnswer {
  switch (kind) {
    case "not_a_node":
      return plain(
        "CONFLICT_001",
        "this server is a single process and not a node of a cluster that another node could join",
      );
    case "another_node":
      return plain(
        "CONFLICT_002",
        "the copy was started on a different node; give every node its own address",
      );
    case "copied_file_gone":
      return plain("NOT_FOUND_005", "the file no longer exists; request the plan again");
  }
}

type WatchError = ServiceError & {
  readonly kind: "fence_not_found" | "alert_not_found" | "too_many_watches" | "fences_overlap";
};

function watchError(error: WatchError): ErrorAnswer {
  switch (error.kind) {
    case "fence_not_found":
      return plain("NOT_FOUND_010", "the app has no such geofence");
    case "alert_not_found":
      return plain("NOT_FOUND_010", "the app has no such alert");
    case "too_many_watches":
      return plain("CONFLICT_008", `an app has at most ${error.what}, with versions that records still need`);
    case "fences_overlap": {
      const { name, latitude, longitude, countMax } = error;
      const fence = name === null ? "the geofence" : `the geofence ${JSON.stringify(name)}`;
      const place = `latitude ${latitude}, longitude ${longitude}`;
      return plain("CONFLICT_008", `${fence} would be number ${countMax + 1} whose box covers ${place}`);
    }
  }
}

type WebhookError = ServiceError & {
  readonly kind: "webhook_not_found" | "event_not_found" | "too_many_webhooks";
};

function webhookError(error: WebhookError): ErrorAnswer {
  switch (error.kind) {
    case "webhook_not_found":
      return plain("NOT_FOUND_011", "the app has no such webhook");
    case "event_not_found":
      return plain("NOT_FOUND_011", "the app has no such event");
    case "too_many_webhooks":
      return plain(
        "CONFLICT_009",
        `${error.owner} has at most ${error.countMax.toLocaleString("en")} webhooks`,
      );
  }
}

function answerRouteError(error: RouteError): ErrorAnswer {
  switch (error.kind) {
    case "no_such_path":
      return plain("NOT_FOUND_001", NOTHING_HERE);
    case "wrong_method":
      return plain("METHOD_001", wrongMethodMessage(error), { allow: error.allow });
  }
}

function answerAccessError(error: AccessError | PageError): ErrorAnswer {
  switch (error.kind) {
    case "key_missing":
      return auth("MISSING_API_KEY", "AUTH_001", "send the key as: Authorization: Bearer <API_KEY>");
    case "key_unknown":
      return auth("INVALID_API_KEY", "AUTH_002", "the API key is not known");
    case "key_revoked":
      return auth("REVOKED_API_KEY", "AUTH_003", "the API key was revoked");
    case "key_expired":
      return auth("EXPIRED_API_KEY", "AUTH_004", "the API key has expired");
    case "permission_missing":
      return auth(
        "INSUFFICIENT_PERMISSIONS",
        "AUTH_005",
        `the API key lacks the permission ${error.permission}`,
      );
    case "key_bound":
      return auth("KEY_BOUND", "AUTH_006", "the API key is bound to a device or user");
    case "rate_exceeded":
      return {
        ...auth("RATE_LIMIT_EXCEEDED", "RATE_001", "too many requests with this API key; see Retry-After"),
        headers: { "retry-after": String(error.retryAfterSeconds) },
      };
    case "session_unknown":
      return auth("INVALID_SESSION", "AUTH_007", "the session is not known; sign in again");
    case "session_expired":
      return auth("EXPIRED_SESSION", "AUTH_008", "the session has ended; sign in again");
    default:
      return answerPageError(error);
  }
}

function answerPageError(error: PageError): ErrorAnswer {
  switch (error.kind) {
    case "session_missing":
      return auth("MISSING_SESSION", "AUTH_009", "sign in first");
    case "code_refused":
      return auth("INVALID_CODE", "AUTH_011", `${CODE_FAULTS[error.reason]}; keys link makes another`);
    case "not_from_page":
      return auth("NOT_FROM_PAGE", "AUTH_010", "only the map page may send this request");
    case "key_not_found":
      return plain("NOT_FOUND_006", "the signed-in key has created no such key");
    case "too_many_keys":
      return plain(
        "CONFLICT_003",
        `a key may have at most ${MADE_KEYS_MAX} live keys that it created, ` +
          `which show at most ${MADE_DEVICES_MAX} devices together; revoke some`,
      );
  }
}

const CODE_FAULTS: Readonly<Record<CodeFault, string>> = {
  unknown: "the link's code is not known",
  used: "the link has been used; it is valid once",
  old: `the link has expired; it is valid for ${LINK_CODE_MINUTES} minutes, and not after a restart of the server`,
};

const WHAT_OPERATORS_DO = "an operator must restore the files or acknowledge the loss";

export const NOTHING_HERE = "there is nothing at this path; see /docs";

export function wrongMethodMessage({ allow, method }: Extract<HttpError, { kind: "wrong_method" }>): string {
  return `this path takes ${allow}, not ${method}`;
}

export const DEVICE_NOT_FOUND = "Device not found or does not belong to your app";

export function timezoneMessage(supplied: string): string {
  return `Invalid timezone: ${supplied}`;
}

function answer(
  code: ErrorCode,
  body: ErrorAnswer["body"],
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer {
  return { status: ERROR_CODES[code].status, code, body, headers };
}

function plain(code: ErrorCode, message: string, headers: Record<string, string> = {}): ErrorAnswer {
  return answer(code, { success: false, message }, headers);
}

function auth(error: string, code: ErrorCode, message: string): ErrorAnswer {
  const { status } = ERROR_CODES[code];
  const headers: Record<string, string> = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return answer(code, { success: false, error, code, message }, headers);
}

type UnknownKey = Exclude<KeyLookup | SessionLookup, { readonly kind: "known" }>;

export function lookupError(kind: UnknownKey["kind"]): AccessError {
  switch (kind) {
    case "unknown":
      return { kind: "key_unknown" };
    case "revoked":
      return { kind: "key_revoked" };
    case "expired":
      return { kind: "key_expired" };
    case "session_unknown":
    case "session_expired":
      return { kind };
  }
}

type CorrectionKind =
  | "record_exists"
  | "corrected_later"
  | "corrections_in_the_way"
  | "device_assigned"
  | "records_exist";

/** Why a correction can't be made or undone beside others. Ids of devices are quoted. */
function correctionError(error: Extract<ServiceError, { kind: CorrectionKind }>): ErrorAnswer {
  if (error.kind === "corrected_later")
    return plain(
      "CONFLICT_005",
      `later corrections touch the same records; undo them first: ${error.ids.join(", ")}`,
    );
  if (error.kind === "corrections_in_the_way")
    return plain(
      "CONFLICT_005",
      `corrections have records that the erasure does not destroy; undo them first: ${error.ids.join(", ")}`,
    );
  const device = JSON.stringify(error.deviceId);
  if (error.kind === "record_exists")
    return plain("CONFLICT_006", `the device ${device} has a record at ${error.timestampMs} already`);
  const toDevice = JSON.stringify(error.toId);
  if (error.kind === "device_assigned") {
    const since = `since correction ${error.correctionId}`;
    const isSame = error.toId === error.deviceId;
    const target = isSame ? `that of the user ${JSON.stringify(error.userId)}` : toDevice;
    return plain("CONFLICT_007", `the device ${device} shows as ${target} ${since}: undo that first`);
  }
  const times = `${error.timestampMs.join(", ")}${error.hasMore ? " and others" : ""}`;
  const both = `both ${device} and ${toDevice} have a record, shown or hidden, at ${times}`;
  return plain("CONFLICT_006", `${both}: hide those of ${device} first`);
}
