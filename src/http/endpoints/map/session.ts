import type { KeyRecord } from "../../../auth/key-file.ts";
import { showsSomething } from "../../../auth/link-codes.ts";
import type { ViewSpec } from "../../../auth/view.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { readShortObject } from "../../body/short-body.ts";
import { pageEndpoint } from "../../endpoint.ts";
import { type HttpError, lookupError } from "../../errors.ts";
import { sessionCookie, sessionLookup } from "../../page/session-cookie.ts";
import { askingPage } from "../../request.ts";
import type { Services } from "../../services.ts";

/* Signing in on the map page, and out. */

export const SESSION_PATH = "/map/session";

export const beginSession = pageEndpoint("POST", SESSION_PATH, (services, responder) => async (request) => {
  const read = await readShortObject(request);
  const found = read.ok ? await keyFor(read.value, askingPage(request) === "share", services) : read;
  if (!found.ok) return responder.failure(request, found.error);
  const key = found.value;
  const begun = await services.sessions.begin(key.id);
  if (!begun.ok) return responder.failure(request, NO_SECRET);
  const { cookieName, text, untilMs } = begun.value;
  const lifeMs = untilMs - services.clock.nowMs();
  const cookie = sessionCookie(request, cookieName, text, lifeMs);
  return responder.object(request, 200, present(key, untilMs), { "set-cookie": cookie });
});

/** Null where nobody is: no failure, which browsers would show in their console whenever somebody first comes. */
export const showSession = pageEndpoint("GET", SESSION_PATH, ({ sessions }, responder) => (request) => {
  const found = sessionLookup(sessions, request)?.();
  const session = found?.kind === "known" ? present(found.key, found.untilMs) : null;
  return responder.object(request, 200, { session });
});

/** The cookie goes; a copy that somebody has made lasts until its end, or its key's. */
export const endSession = pageEndpoint("DELETE", SESSION_PATH, ({ sessions }, responder) => (request) => {
  const { cookieName } = sessions;
  const cookie = cookieName === null ? null : sessionCookie(request, cookieName, "", 0);
  return responder.object(request, 200, { success: true }, cookie === null ? {} : { "set-cookie": cookie });
});

/**
 * The key that somebody signs in as: one that shows something. Behind a link, which anybody may have sent, that is a
 * share link's key alone: one that may write would have who follows it connect their phones to a stranger's app. It
 * signs in on the page of share links, and nothing else does there.
 */
async function keyFor(
  { key, code, share }: Readonly<Record<string, unknown>>,
  isForShare: boolean,
  { keys, sessions }: Services,
): Promise<Result<KeyRecord, HttpError>> {
  if ([key, code, share].filter((text) => typeof text === "string").length !== 1) return fail(NOT_ONE);
  if (isForShare !== (typeof share === "string")) return fail(NOT_HERE);
  const used = typeof code === "string" ? await sessions.useCode(code) : ok(keys.find(String(key ?? share)));
  if (!used.ok)
    return fail(used.error === "unreachable" ? NOBODY_KNOWS : { kind: "code_refused", reason: used.error });
  const found = used.value;
  if (found.kind !== "known") return fail(lookupError(found.kind));
  if (typeof share === "string" && found.key.view === null)
    return fail({ kind: "permission_missing", permission: "view" });
  return showsSomething(found.key) ? ok(found.key) : fail({ kind: "permission_missing", permission: "read" });
}

function present(key: KeyRecord, untilMs: number) {
  return {
    app_id: key.appId,
    key_id: key.id,
    permissions: key.permissions,
    device_id: key.deviceId,
    user_id: key.userId,
    view: key.view === null ? null : presentView(key.view),
    expires: key.expiresMs,
    signed_in_until: untilMs,
  };
}

export function presentView({ deviceIds, notBeforeMs, precisionMeters }: ViewSpec) {
  return { device_ids: deviceIds, not_before: notBeforeMs, precision_meters: precisionMeters };
}

const NOT_ONE: ServiceError = {
  kind: "invalid_parameter",
  message: 'the body must be {"key":"wh_..."}, {"code":"c1..."} or {"share":"wh_..."}',
};

const NOT_HERE: ServiceError = {
  kind: "invalid_parameter",
  message: "a share link signs in on the page that it leads to, and a key or a code on the map",
};

const NO_SECRET: ServiceError = {
  kind: "unavailable",
  message: "nobody can sign in now; the server's log says why",
  retryAfterSeconds: 5,
};

const NOBODY_KNOWS: ServiceError = {
  kind: "unavailable",
  message:
    "whether the link was used nobody can say now, since the servers of the cluster can't be asked: try it again",
  retryAfterSeconds: 5,
};
