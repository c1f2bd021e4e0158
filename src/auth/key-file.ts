import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import type { Binding } from "../model/binding.ts";
import { type AppId, parseAppId } from "../model/ids.ts";
import { deviceIdFault, userIdFault } from "../model/report.ts";
import { parseTierName, type TierName } from "./tiers.ts";
import { parseViewSpec, type ViewSpec } from "./view.ts";

/**
 * What a key may do: query (`read`), report (`write`), change profiles of devices (`edit`), change geofences and alerts
 * (`manage`), read `/metrics` and copy a whole node to another (`operate`), or query what a share link shows (`view`).
 * A key with `view` has no other permission.
 */
export type Permission = "read" | "write" | "edit" | "manage" | "erase" | "operate" | "view";

export const PERMISSIONS: readonly Permission[] = [
  "read",
  "write",
  "edit",
  "manage",
  "erase",
  "operate",
  "view",
];

function parsePermission(text: string): Permission | null {
  return PERMISSIONS.find((permission) => permission === text) ?? null;
}

/** The stored part of a key: everything but its text. Times are Unix ms. */
export interface KeyRecord extends Binding {
  /** `k_` and 8 base62 characters. People and logs name the key by it. */
  readonly id: string;
  readonly appId: AppId;
  readonly permissions: readonly Permission[];
  /** What a key with the permission `view` shows; null for others. */
  readonly view: ViewSpec | null;
  readonly tier: TierName;
  readonly label: string;
  /** The key whose session on the map page created this one, and whose end ends it; null if the CLI created it. */
  readonly makerId: string | null;
  readonly createdMs: number;
  /** The last characters of the key's text. They let the owner recognize the key. */
  readonly lastFour: string;
  /** The key has expired from this time on; null if it never expires. */
  readonly expiresMs: number | null;
  readonly revokedMs: number | null;
  readonly sha256: string;
}

/** The program never touches a file of another version: it might ignore a limit of a key that it doesn't know. */
const FORMAT_VERSION = 4;

export const LABEL_CHARACTERS_MAX = 128;

const KEY_ID = /^k_[0-9A-Za-z]{8}$/;

const LABEL = new RegExp(`^[^\\x00-\\x1f\\x7f-\\x9f]{0,${LABEL_CHARACTERS_MAX}}$`, "u");

/** The label, or null if it is too long or has control characters, which would disturb a terminal. */
export function parseLabel(text: string): string | null {
  return LABEL.test(text) ? text : null;
}

export function encodeKeyFile(keys: readonly KeyRecord[]): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ version: FORMAT_VERSION, keys }, null, 2)}\n`);
}

/** The file's keys, or an error text that names the entry. */
export function parseKeyFile(bytes: Uint8Array): Result<readonly KeyRecord[], string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { keys } = content.value;
  if (!Array.isArray(keys)) return fail("its list of keys is missing");

  const records: KeyRecord[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of keys.entries()) {
    const record = parseRecord(entry);
    if (!record.ok) return fail(`key number ${index + 1} has no valid ${record.error}`);
    const { id, sha256 } = record.value;
    if (seen.has(id) || seen.has(sha256)) return fail(`key number ${index + 1} ("${id}") is there twice`);
    seen.add(id).add(sha256);
    records.push(record.value);
  }
  return ok(records);
}

/** The record, or the name of the first invalid member. */
function parseRecord(entry: unknown): Result<KeyRecord, keyof KeyRecord> {
  const fields = isObject(entry) ? entry : {};
  const id = matching(fields.id, KEY_ID);
  if (id === null) return fail("id");
  const appId = typeof fields.appId === "string" ? parseAppId(fields.appId) : null;
  if (appId === null) return fail("appId");
  const permissions = parsePermissions(fields.permissions);
  if (permissions === null) return fail("permissions");
  const view = parseView(fields.view, permissions);
  if (!view.ok) return fail("view");
  const tier = typeof fields.tier === "string" ? parseTierName(fields.tier) : null;
  if (tier === null) return fail("tier");
  const label = typeof fields.label === "string" ? parseLabel(fields.label) : null;
  if (label === null) return fail("label");
  const binding = parseBinding(fields);
  if (!binding.ok) return binding;
  const makerId = parseMaker(fields.makerId);
  if (!makerId.ok) return makerId;
  const { createdMs, expiresMs, revokedMs } = fields;
  if (!isTime(createdMs)) return fail("createdMs");
  const lastFour = matching(fields.lastFour, /^[0-9A-Za-z]{4}$/);
  if (lastFour === null) return fail("lastFour");
  if (expiresMs !== null && !isTime(expiresMs)) return fail("expiresMs");
  if (expiresMs === null && view.value !== null) return fail("expiresMs");
  if (revokedMs !== null && !isTime(revokedMs)) return fail("revokedMs");
  const sha256 = matching(fields.sha256, /^[0-9a-f]{64}$/);
  if (sha256 === null) return fail("sha256");
  const times = { createdMs, expiresMs, revokedMs };
  const may = { permissions, view: view.value, tier };
  return ok({
    id,
    appId,
    ...may,
    label,
    ...binding.value,
    makerId: makerId.value,
    ...times,
    lastFour,
    sha256,
  });
}

function parseBinding({ deviceId, userId }: Record<string, unknown>): Result<Binding, keyof Binding> {
  if (!isIdentifierOrNull(deviceId, deviceIdFault)) return fail("deviceId");
  if (!isIdentifierOrNull(userId, userIdFault)) return fail("userId");
  return ok({ deviceId, userId });
}

function parseView(value: unknown, permissions: readonly Permission[]): Result<ViewSpec | null, null> {
  if (!permissions.includes("view")) return value === null ? ok(null) : fail(null);
  const view = parseViewSpec(value);
  return view === null ? fail(null) : ok(view);
}

function parseMaker(value: unknown): Result<string | null, "makerId"> {
  const id = matching(value, KEY_ID);
  return id === null && value !== null ? fail("makerId") : ok(id);
}

function isIdentifierOrNull(
  value: unknown,
  faultOf: (text: string) => string | null,
): value is string | null {
  return value === null || (typeof value === "string" && faultOf(value) === null);
}

/** At least one permission, each at most once, `view` by itself; null otherwise. */
function parsePermissions(value: unknown): readonly Permission[] | null {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size !== value.length) return null;
  const permissions = value.map((item) => (typeof item === "string" ? parsePermission(item) : null));
  if (permissions.includes("view") && permissions.length > 1) return null;
  return permissions.every((permission) => permission !== null) ? permissions : null;
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function matching(value: unknown, pattern: RegExp): string | null {
  return typeof value === "string" && pattern.test(value) ? value : null;
}
