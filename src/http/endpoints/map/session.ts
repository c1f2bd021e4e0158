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

export const SESSION_PATH = "/map/session";

export const beginSession = pageEndpoint("POST", SESSION_PATH, (services, responder) => async (request) => {
  const read = await readShortObject(request);
  const signIn = read.ok ? await keyFor(read.value, askingPage(request) === "share", services) : read;
  if (!signIn.ok) return responder.failure(request, signIn.error);
  const key = signIn.value;
  const session = await services.sessions.begin(key.id);
  if (!session.ok) return responder.failure(request, NO_SECRET);
  const { cookieName, text, untilMs } = session.value;
  const lifeMs = untilMs - services.clock.nowMs();
  const cookie = sessionCookie(request, cookieName, text, lifeMs);
  return responder.object(request, 200, present(key, untilMs), { "set-cookie": cookie });
});

/** Null if there is no session. Not a failure, which browsers would log in their console on every first visit. */
export const showSession = pageEndpoint("GET", SESSION_PATH, ({ sessions }, responder) => (request) => {
  const lookup = sessionLookup(sessions, request)?.();
  const session = lookup?.kind === "known" ? present(lookup.key, lookup.untilMs) : null;
  return responder.object(request, 200, { session });
});

/** Deletes the cookie; a copy of it stays valid until its end, or its key's. */
export const endSession = pageEndpoint("DELETE", SESSION_PATH, ({ sessions }, responder) => (request) => {
  const { cookieName } = sessions;
  const cookie = cookieName === null ? null : sessionCookie(request, cookieName, "", 0);
  return responder.object(request, 200, { success: true }, cookie === null ? {} : { "set-cookie": cookie });
});

/**
 * The key to sign in as, which must show something. Links may come from anyone, so a link signs in only a share link's
 * key: a key that may write could make a victim connect phones to a stranger's app. Share keys sign in only on the page
 * of share links, and other keys never do there.
 */
async function keyFor(
  { key, code, share }: Readonly<Record<string, unknown>>,
  isForShare: boolean,
  { keys, sessions }: Services,
): Promise<Result<KeyRecord, HttpError>> {
  if ([key, code, share].filter((text) => typeof text === "string").length !== 1) return fail(NOT_ONE);
  if (isForShare !== (typeof share === "string")) return fail(NOT_HERE);
  const lookup =
    typeof code === "string" ? await sessions.useCode(code) : ok(keys.find(String(key ?? share)));
  if (!lookup.ok)
    return fail(
      lookup.error === "unreachable" ? CANNOT_CHECK : { kind: "code_refused", reason: lookup.error },
    );
  const signedIn = lookup.value;
  if (signedIn.kind !== "known") return fail(lookupError(signedIn.kind));
  if (typeof share === "string" && signedIn.key.view === null)
    return fail({ kind: "permission_missing", permission: "view" });
  return showsSomething(signedIn.key)
    ? ok(signedIn.key)
    : fail({ kind: "permission_missing", permission: "read" });
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
  message: "a share link signs in on the page that it opens; keys and codes sign in on the map",
};

const NO_SECRET: ServiceError = {
  kind: "unavailable",
  message: "sign-in is not possible now; the server's log says why",
  retryAfterSeconds: 5,
};

const CANNOT_CHECK: ServiceError = {
  kind: "unavailable",
  message: "cannot check whether this link was used: the cluster is unreachable; try again shortly",
  retryAfterSeconds: 5,
};
