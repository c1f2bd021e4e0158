import { MADE_DEVICES_MAX, MADE_KEYS_MAX } from "../auth/key-store.ts";
import { LINK_CODE_MINUTES } from "../auth/sessions/link-code.ts";
import type { CodeRefusal } from "../auth/sessions/sessions.ts";
import type { ServiceError } from "../model/errors.ts";

/** Refusals of the door itself: who is asking, how often, and with what key. */
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

/** Refusals of what the map page asks for itself, beside those of the door. */
export type PageError =
  | { readonly kind: "not_from_page" }
  | { readonly kind: "session_missing" }
  | { readonly kind: "code_refused"; readonly reason: CodeFault }
  | { readonly kind: "key_not_found" }
  | { readonly kind: "too_many_keys" };

type CodeFault = Exclude<CodeRefusal, "unreachable">;

export type HttpError = ServiceError | AccessError | PageError;

export interface ErrorAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where every failure becomes a status and a body: a new kind compiles once it has a line here. */
export function answerError(error: HttpError): ErrorAnswer {
  switch (error.kind) {
    case "invalid_parameter":
      return plain(400, error.message);
    case "invalid_timezone":
      return plain(400, timezoneMessage(error.supplied));
    case "invalid_user_id":
      return { status: 400, body: { error: "Invalid user_id", message: error.message }, headers: {} };
    case "device_not_found": // Also for devices of other apps, so ids stay private.
      return {
        status: 404,
        body: { success: false, device_id: error.deviceId, message: DEVICE_NOT_FOUND },
        headers: {},
      };
    case "entry_not_found":
      return plain(404, "there is no such entry in the quarantine of this app");
    case "tile_not_found":
      return plain(404, error.message);
    case "not_a_node":
      return plain(409, "this server is a single process, and no node of a cluster that another could join");
    case "another_node":
      return plain(
        409,
        "this is another node than the one whose copy was begun: ask each by an address of its own",
      );
    case "copied_file_gone":
      return plain(404, "there is no such file any more; ask again for what there is");
    case "body_unreadable":
    case "body_incomplete":
      return plain(400, error.message);
    case "body_too_large":
      return plain(413, error.message);
    case "media_type_unsupported":
      return plain(415, error.message);
    case "archive_damaged":
      return plain(500, `the archive has lost records of ${error.days.join(", ")}; ${WHAT_OPERATORS_DO}`);
    case "unavailable":
      return plain(503, error.message, { "retry-after": String(error.retryAfterSeconds) });
    case "key_missing":
      return auth(401, "MISSING_API_KEY", "AUTH_001", "send the key as: Authorization: Bearer <API_KEY>");
    case "key_unknown":
      return auth(401, "INVALID_API_KEY", "AUTH_002", "the API key is not known here");
    case "key_revoked":
      return auth(401, "REVOKED_API_KEY", "AUTH_003", "the API key was revoked");
    case "key_expired":
      return auth(401, "EXPIRED_API_KEY", "AUTH_004", "the API key has expired");
    case "permission_missing":
      return auth(
        403,
        "INSUFFICIENT_PERMISSIONS",
        "AUTH_005",
        `the API key lacks the permission ${error.permission}`,
      );
    case "key_bound":
      return auth(403, "KEY_BOUND", "AUTH_006", "the API key is bound to a device or user");
    case "rate_exceeded":
      return {
        ...auth(
          429,
          "RATE_LIMIT_EXCEEDED",
          "RATE_001",
          "too many requests with this API key; see Retry-After",
        ),
        headers: { "retry-after": String(error.retryAfterSeconds) },
      };
    case "session_unknown":
      return auth(401, "INVALID_SESSION", "AUTH_007", "the session is not known here; sign in again");
    case "session_expired":
      return auth(401, "EXPIRED_SESSION", "AUTH_008", "the session has ended; sign in again");
    default:
      return answerPageError(error);
  }
}

function answerPageError(error: PageError): ErrorAnswer {
  switch (error.kind) {
    case "session_missing":
      return auth(401, "MISSING_SESSION", "AUTH_009", "sign in first");
    case "code_refused":
      return auth(401, "INVALID_CODE", "AUTH_011", `${CODE_FAULTS[error.reason]}; keys link makes another`);
    case "not_from_page":
      return auth(
        403,
        "NOT_FROM_PAGE",
        "AUTH_010",
        "this is for the map page alone, which asks it by itself",
      );
    case "key_not_found":
      return plain(404, "there is no such key among those that were made with the key that is signed in");
    case "too_many_keys":
      return plain(
        409,
        `at most ${MADE_KEYS_MAX} keys that were made with one may live at once, ` +
          `and show ${MADE_DEVICES_MAX} devices in all; revoke some`,
      );
  }
}

const CODE_FAULTS: Readonly<Record<CodeFault, string>> = {
  unknown: "the link's code is not known here",
  used: "the link has been used, and is good once",
  old: `the link is good for ${LINK_CODE_MINUTES} minutes, and not after a restart of the server`,
};

const WHAT_OPERATORS_DO = "an operator must restore the files or acknowledge the loss";

export const DEVICE_NOT_FOUND = "Device not found or does not belong to your app";

export function timezoneMessage(supplied: string): string {
  return `Invalid timezone: ${supplied}`;
}

function plain(status: number, message: string, headers: Record<string, string> = {}): ErrorAnswer {
  return { status, body: { success: false, message }, headers };
}

function auth(status: 401 | 403 | 429, error: string, code: string, message: string): ErrorAnswer {
  const headers: Record<string, string> = status === 401 ? { "www-authenticate": "Bearer" } : {};
  return { status, body: { success: false, error, code, message }, headers };
}
