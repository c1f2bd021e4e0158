import type { KeyRecord } from "../../../auth/key-file.ts";
import type { MakingError, NewKey, UnknownKeyError } from "../../../auth/key-store.ts";
import { type MakingRefusal, planMadeKey } from "../../../auth/made-keys.ts";
import { adviceFor } from "../../../clients/setup.ts";
import { SETUPS } from "../../../clients/setups.ts";
import type { SharedFileError } from "../../../directory/shared-file.ts";
import { ok } from "../../../lib/result.ts";
import { readShortObject } from "../../body/short-body.ts";
import { sessionEndpoint } from "../../endpoint.ts";
import type { HttpError } from "../../errors.ts";
import { type PhoneTarget, parseAskedKey } from "../../page/asked-key.ts";
import type { PathParameter } from "../../parameters/path-parameter.ts";
import { pathnameOf } from "../../pathname.ts";
import { presentView } from "./session.ts";

/* Keys that are made on the map page, for phones and as share links, by the key that is signed in there. */

export const KEYS_PATH = "/map/keys";

export const listKeys = sessionEndpoint("GET", KEYS_PATH, ({ madeKeys }) => (call, { key }) => {
  return call.object({ keys: madeKeys.listOf(key).map(present) }, 200);
});

export const makeKey = sessionEndpoint(
  "POST",
  KEYS_PATH,
  ({ madeKeys, clock }) =>
    async (call, { key: maker }) => {
      const read = await readShortObject(call.request);
      const asked = read.ok ? parseAskedKey(read.value, clock.nowMs()) : read;
      if (!asked.ok) return call.fail(asked.error);
      const { plan, target } = asked.value;
      const planned = planMadeKey(maker, plan);
      const made = planned.ok ? await madeKeys.make(maker, planned.value) : planned;
      if (!made.ok) return call.fail(errorOf(made.error));
      const { key, text } = made.value;
      const setup = target === null ? {} : { setup: setupOf(made.value, target) };
      return call.object({ key: present(key), text, ...setup }, 200);
    },
);

/** Any segment: ids that no key has are found nowhere. */
export const keyId: PathParameter<string> = {
  description: "The key's id.",
  schema: { type: "string" },
  example: "k_0Hq3aZ9k",
  refusesEmpty: false,
  refusal: null,
  parse: (text) => ok(text),
};

export const revokeKey = sessionEndpoint(
  "DELETE",
  `${KEYS_PATH}/:keyId`,
  ({ madeKeys }) =>
    async (call, { key: maker }) => {
      const revoked = await madeKeys.revoke(maker, keyIdOf(call.request));
      return revoked.ok
        ? call.object({ key: present(revoked.value) }, 200)
        : call.fail(errorOf(revoked.error));
    },
  { keyId },
);

export function keyIdOf(request: Request): string {
  const [, , , id = ""] = pathnameOf(request.url).split("/");
  return id;
}

function present(key: KeyRecord) {
  return {
    id: key.id,
    kind: key.view === null ? "phone" : "share",
    label: key.label,
    device_id: key.deviceId,
    view: key.view === null ? null : presentView(key.view),
    created: key.createdMs,
    expires: key.expiresMs,
    revoked: key.revokedMs,
  };
}

/** What to type into the phone's app, and the text of the code that does it. */
function setupOf({ key, text }: NewKey, { client, serverUrl }: PhoneTarget) {
  const { deviceId, userId } = key;
  const request = { serverUrl, key: text, deviceId, userId };
  const setup = SETUPS[client](request);
  const { app, place, fields, paste, link } = setup;
  const code = { qr: link?.url ?? null, qr_opens_app: link?.opensApp ?? false };
  return { app, place, fields, paste, ...code, notes: [...setup.notes, ...adviceFor(setup, request)] };
}

function errorOf(error: SharedFileError | MakingError | MakingRefusal | UnknownKeyError): HttpError {
  switch (error.kind) {
    case "maker_ended":
      return { kind: "key_revoked" };
    case "file_full":
      return { kind: "too_many_keys" };
    case "key_outlived":
      return {
        kind: "invalid_parameter",
        message: "expires must not be after the end of the key that is signed in",
      };
    case "file_damaged":
    case "file_busy":
      return {
        kind: "unavailable",
        message: "keys can't be changed now; try again shortly",
        retryAfterSeconds: 5,
      };
    case "cluster_unreachable":
      return {
        kind: "unavailable",
        message: error.mayBeWritten
          ? "this server can't reach its cluster, and keys may be changed or not; look before you try again"
          : "keys can't be changed while this server can't reach its cluster; try again shortly",
        retryAfterSeconds: 5,
      };
    case "key_not_found":
      return { kind: "key_not_found" };
    default:
      return error;
  }
}
