import { LABEL_CHARACTERS_MAX, parseLabel } from "../../auth/key-file.ts";
import type { MadeKeyPlan } from "../../auth/made-keys.ts";
import { PRECISION_METERS, parseViewSpec, VIEW_DEVICES_MAX } from "../../auth/view.ts";
import { SETUP_NAMES, type SetupName } from "../../clients/setups.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { parseServerUrl } from "../../lib/text/server-url.ts";
import type { ServiceError } from "../../model/errors.ts";
import { deviceIdFault } from "../../model/report.ts";

type Members = Readonly<Record<string, unknown>>;

/** What the map page asks for when it wants a key. */
export interface AskedKey {
  readonly plan: MadeKeyPlan;
  /** The app that reports with it; null for a share link. */
  readonly target: PhoneTarget | null;
}

export interface PhoneTarget {
  readonly client: SetupName;
  /** The server as the phone reaches it. */
  readonly serverUrl: string;
}

/** What a body asks for, or the first member that is wrong. */
export function parseAskedKey(members: Members, nowMs: number): Result<AskedKey, ServiceError> {
  const { kind } = members;
  if (kind === "phone") return parsePhone(members);
  return kind === "share" ? parseShare(members, nowMs) : wrong('kind must be "phone" or "share"');
}

function parsePhone({ client: name, device_id, url, label }: Members): Result<AskedKey, ServiceError> {
  const client = SETUP_NAMES.find((each) => each === name);
  if (client === undefined) return wrong(`client must be one of ${SETUP_NAMES.join(", ")}`);
  if (typeof device_id !== "string") return wrong("device_id is required");
  const fault = deviceIdFault(device_id);
  if (fault !== null) return wrong(fault);
  const serverUrl = typeof url === "string" ? parseServerUrl(url) : null;
  if (serverUrl === null) return wrong("url must be the address of this server as the phone reaches it");
  const labelled = label === undefined ? client : parseText(label);
  if (labelled === null) return wrong(LABEL_FAULT);
  const plan = { kind: "phone", label: labelled, deviceId: device_id } as const;
  return ok({ plan, target: { client, serverUrl } });
}

function parseShare(members: Members, nowMs: number): Result<AskedKey, ServiceError> {
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
