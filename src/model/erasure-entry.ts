import { decodeNamedMembers, encodeNamedMembers } from "../lib/frames/named-members.ts";
import type { Views } from "../lib/frames/views.ts";
import { isObject } from "../lib/is-object.ts";
import { refuseStrangers } from "../lib/text/versioned-json.ts";
import { batchOfMembers, type RecordMembers } from "./correction.ts";
import type { Erasure } from "./erasure.ts";
import { type AppId, type DeviceId, parseAppId, type UserId } from "./ids.ts";
import { deviceIdFault, userIdFault } from "./report.ts";

/** The kind of the entry of an erasure, whose members its app owns (`lib/frames/named-members.ts`). */
export const ERASURE_KIND = 6;

/** Destroys what earlier entries hold of its subject. It stays in the log until the files are rewritten. */
export interface ErasureEntry {
  readonly kind: "erasure";
  readonly appId: AppId;
  /** The number of the app's correction or erasure before it; if it names another, `newest` may be out of date. */
  readonly previous: number;
  readonly erasure: Erasure;
  /** The newest archived record that remains of each device that loses its newest one but has others. */
  readonly newest: readonly NewestOfDevice[];
  /** Ids of the corrections that go with what a user reported; those of devices go with these. */
  readonly corrections: readonly string[];
}

export interface NewestOfDevice {
  readonly deviceId: DeviceId;
  readonly record: RecordMembers;
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeErasureEntry(
  { appId, previous, erasure, newest, corrections }: ErasureEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const { appId: _, range, ...members } = erasure;
  const [start, end] = [range.startMs, range.endMs].map((ms) => (Number.isFinite(ms) ? ms : null));
  const all = { ...members, start, end, previous, newest, corrections };
  return encodeNamedMembers(ERASURE_KIND, appId, all, headroomBytes);
}

const KNOWN_MEMBERS: readonly string[] = [
  ...["id", "deviceIds", "userId", "start", "end", "block", "createdMs", "createdBy", "continues"],
  ...["previous", "newest", "corrections"],
];

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member that a newer version added.
 */
export function decodeErasureEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): ErasureEntry | null {
  const named = decodeNamedMembers(views, start, end);
  const appId = named === null ? null : parseAppId(named.owner);
  if (named === null || appId === null) return null;
  const { members } = named;
  refuseStrangers("erasure", path, members, KNOWN_MEMBERS);
  const { id, deviceIds, userId, block, createdMs, createdBy, continues } = members;
  const { previous, newest, corrections } = members;
  if (typeof id !== "string" || typeof block !== "boolean") return null;
  if (typeof continues !== "boolean") return null;
  if (typeof createdMs !== "number" || typeof createdBy !== "string") return null;
  if (!Array.isArray(deviceIds) || !deviceIds.every(isDeviceId)) return null;
  if (userId !== null && (typeof userId !== "string" || userIdFault(userId) !== null)) return null;
  if (userId === null && deviceIds.length === 0) return null;
  const startMs = boundOf(members.start, Number.NEGATIVE_INFINITY);
  const endMs = boundOf(members.end, Number.POSITIVE_INFINITY);
  if (startMs === null || endMs === null) return null;
  if (typeof previous !== "number") return null;
  if (!Array.isArray(newest) || !newest.every(isNewest)) return null;
  if (!Array.isArray(corrections) || !corrections.every((each) => typeof each === "string")) return null;
  const range = { startMs, endMs };
  const common = { id, block, createdMs, createdBy, continues, appId, range };
  return {
    ...{ kind: "erasure", appId, previous },
    erasure: { ...common, deviceIds, userId: userId as UserId | null },
    newest: newest.map(({ deviceId, record }) => ({ deviceId, record })),
    corrections,
  };
}

function isDeviceId(value: unknown): value is DeviceId {
  return typeof value === "string" && deviceIdFault(value) === null;
}

/** An instant, or the bound for none; null if it is neither. */
function boundOf(value: unknown, none: number): number | null {
  if (value === null) return none;
  return Number.isSafeInteger(value) ? (value as number) : null;
}

function isNewest(value: unknown): value is NewestOfDevice {
  if (!isObject(value) || !isDeviceId(value.deviceId) || !isObject(value.record)) return false;
  return batchOfMembers(value.deviceId, value.record) !== null;
}
