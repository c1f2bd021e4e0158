import { type KeyRecord, LABEL_CHARACTERS_MAX, parseLabel } from "../../../auth/key-file.ts";
import type { MakingError, NewKey, UnknownKeyError } from "../../../auth/key-store.ts";
import { type MadeKeyPlan, type MakingRefusal, planMadeKey } from "../../../auth/made-keys.ts";
import { PRECISION_METERS, parseViewSpec, VIEW_DEVICES_MAX } from "../../../auth/view.ts";
import { adviceFor } from "../../../clients/setup.ts";
import { SETUP_NAMES, SETUPS, type SetupName } from "../../../clients/setups.ts";
import type { SharedFileError } from "../../../directory/shared-file.ts";
import { fail, ok, type Result } from "../../../lib/result.ts";
import { parseServerUrl } from "../../../lib/text/links.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { deviceIdFault } from "../../../model/report.ts";
import { readShortObject } from "../../body/short-body.ts";
import { sessionEndpoint } from "../../endpoint.ts";
import type { HttpError } from "../../errors.ts";
import { textSegment } from "../../parameters/path-parameter.ts";
import { pathnameOf } from "../../request.ts";
import { presentRequests } from "../devices/last-requests.ts";
import { presentView } from "./session.ts";

const KEYS_PATH = "/map/keys";

export const listKeys = sessionEndpoint("GET", KEYS_PATH, ({ madeKeys }) => (call, { key }) => {
  return call.object({ keys: madeKeys.listOf(key).map(present) }, 200);
});

export const makeKey = sessionEndpoint(
  "POST",
  KEYS_PATH,
  ({ madeKeys, clock }) =>
    async (call, { key: maker }) => {
      const read = await readShortObject(call.request);
      const request = read.ok ? parseKeyRequest(read.value, clock.nowMs()) : read;
      if (!request.ok) return call.fail(request.error);
      const { plan, target } = request.value;
      const spec = planMadeKey(maker, plan);
      const created = spec.ok ? await madeKeys.make(maker, spec.value) : spec;
      if (!created.ok) return call.fail(errorOf(created.error));
      const { key, text } = created.value;
      const setup = target === null ? {} : { setup: setupOf(created.value, target) };
      return call.object({ key: present(key), text, ...setup }, 200);
    },
);

/** Any segment: an invalid id is simply not found. */
const keyId = textSegment("The key's id.", "k_0Hq3aZ9k");

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

/**
 * The requests of the device that a phone's key is bound to, while the page waits for its first report. Before that the
 * list is empty, instead of the 404 of `last-requests`, which browsers would log in their console on every poll.
 */
export const keyRequests = sessionEndpoint(
  "GET",
  `${KEYS_PATH}/:keyId/requests`,
  ({ madeKeys, doctor }) =>
    (call, { key: maker }) => {
      const id = keyIdOf(call.request);
      const deviceId = madeKeys.listOf(maker).find((key) => key.id === id)?.deviceId;
      if (deviceId == null) return call.fail({ kind: "key_not_found" });
      return call.object(
        { requests: presentRequests(doctor.lastRequests(maker.appId, deviceId) ?? []) },
        200,
      );
    },
  { keyId },
);

function keyIdOf(request: Request): string {
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

/** What to type into the phone's app, and the text of the QR code that does it. */
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
        message: "expires must not be after the end of the signed-in key",
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
          ? "this server can't reach its cluster, so the change may or may not have happened; check before you try again"
          : "keys can't be changed while this server can't reach its cluster; try again shortly",
        retryAfterSeconds: 5,
      };
    case "key_not_found":
      return { kind: "key_not_found" };
    default:
      return error;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

interface KeyRequest {
  readonly plan: MadeKeyPlan;
  /** The app that will report with it; null for a share link. */
  readonly target: PhoneTarget | null;
}

interface PhoneTarget {
  readonly client: SetupName;
  /** The server's address from the phone's network. */
  readonly serverUrl: string;
}

/** The request of a body, or its first invalid member. */
function parseKeyRequest(members: JsonObject, nowMs: number): Result<KeyRequest, ServiceError> {
  const { kind } = members;
  if (kind === "phone") return parsePhone(members);
  return kind === "share" ? parseShare(members, nowMs) : wrong('kind must be "phone" or "share"');
}

function parsePhone({ client: name, device_id, url, label }: JsonObject): Result<KeyRequest, ServiceError> {
  const client = SETUP_NAMES.find((each) => each === name);
  if (client === undefined) return wrong(`client must be one of ${SETUP_NAMES.join(", ")}`);
  if (typeof device_id !== "string") return wrong("device_id is required");
  const fault = deviceIdFault(device_id);
  if (fault !== null) return wrong(fault);
  const serverUrl = typeof url === "string" ? parseServerUrl(url) : null;
  if (serverUrl === null) return wrong("url must be this server's address from the phone's network");
  const labelled = label === undefined ? client : parseText(label);
  if (labelled === null) return wrong(LABEL_FAULT);
  const plan = { kind: "phone", label: labelled, deviceId: device_id } as const;
  return ok({ plan, target: { client, serverUrl } });
}

function parseShare(members: JsonObject, nowMs: number): Result<KeyRequest, ServiceError> {
  const { device_ids, not_before, precision_meters, expires, label = "" } = members;
  const view = parseViewSpec({
    deviceIds: Array.isArray(device_ids) ? [...new Set(device_ids)] : null,
    notBeforeMs: not_before,
    precisionMeters: precision_meters,
  });
  if (view === null) return wrong(VIEW_FAULT);
  if (typeof expires !== "number" || !Number.isSafeInteger(expires)) return wrong("expires must be Unix ms");
  if (expires <= nowMs) return wrong("expires must be in the future");
  if (view.notBeforeMs >= expires) return wrong("not_before must be before expires");
  const labelled = parseText(label);
  if (labelled === null) return wrong(LABEL_FAULT);
  return ok({ plan: { kind: "share", label: labelled, view, expiresMs: expires }, target: null });
}

function parseText(label: unknown): string | null {
  return typeof label === "string" ? parseLabel(label) : null;
}

const LABEL_FAULT = `label must be a text of at most ${LABEL_CHARACTERS_MAX} characters on one line`;
const VIEW_FAULT =
  `device_ids must be 1 to ${VIEW_DEVICES_MAX} ids, not_before Unix ms, ` +
  `and precision_meters null or a number from ${PRECISION_METERS.minimum} to ${PRECISION_METERS.maximum}`;

function wrong(message: string) {
  return fail<ServiceError>({ kind: "invalid_parameter", message });
}
