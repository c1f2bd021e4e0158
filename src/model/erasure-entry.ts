import { Buffer } from "node:buffer";
import { padded, type Views } from "../lib/frames/views.ts";
import { isObject } from "../lib/is-object.ts";
import { FormatVersionError } from "../lib/text/versioned-json.ts";
import { batchOfMembers, type RecordMembers } from "./correction.ts";
import type { Erasure } from "./erasure.ts";
import { type AppId, type DeviceId, parseAppId, type UserId } from "./ids.ts";
import { deviceIdFault, userIdFault } from "./report.ts";

/*
 * The entry of an erasure, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 6
 *    1  u8   bytes of the app id
 *    2  u16  zero
 *    4  u32  bytes of the members
 *    8  app id, members (JSON)
 */
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

const HEAD_BYTES = 8;

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeErasureEntry(
  { appId, previous, erasure, newest, corrections }: ErasureEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const { appId: _, range, ...members } = erasure;
  const [start, end] = [range.startMs, range.endMs].map((ms) => (Number.isFinite(ms) ? ms : null));
  const json = Buffer.from(JSON.stringify({ ...members, start, end, previous, newest, corrections }));
  const contentAt = headroomBytes + HEAD_BYTES;
  const encoded = new Uint8Array(padded(contentAt + appId.length + json.length));
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = ERASURE_KIND;
  bytes[headroomBytes + 1] = bytes.write(appId, contentAt, "latin1");
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.set(json, contentAt + appId.length);
  return encoded;
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
  { bytes }: Views,
  start: number,
  end: number,
  path: string,
): ErasureEntry | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  if (padded(jsonEnd) !== end) return null;
  const appId = parseAppId(bytes.toString("latin1", start + HEAD_BYTES, jsonAt));
  const members = parseMembers(bytes.toString("utf8", jsonAt, jsonEnd));
  if (appId === null || members === null) return null;
  const stranger = Object.keys(members).find((name) => !KNOWN_MEMBERS.includes(name));
  if (stranger !== undefined)
    throw new FormatVersionError("erasure", path, "known members", `member "${stranger}"`);
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

function parseMembers(text: string): Record<string, unknown> | null {
  try {
    const members: unknown = JSON.parse(text);
    return isObject(members) ? members : null;
  } catch {
    return null;
  }
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
