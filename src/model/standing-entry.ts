import { Buffer } from "node:buffer";
import { padded, type Views } from "../lib/frames/views.ts";
import { parseMembers, refuseStrangers } from "../lib/text/versioned-json.ts";
import {
  CORRECTION_KIND,
  type CorrectionEntry,
  decodeCorrectionEntry,
  encodeCorrectionEntry,
} from "./correction-entry.ts";
import { type DeviceProfile, parseDeviceProfile, profileMembers } from "./device-profile.ts";
import { decodeErasureEntry, ERASURE_KIND, type ErasureEntry, encodeErasureEntry } from "./erasure-entry.ts";
import { type AppId, type DeviceId, parseAppId } from "./ids.ts";
import {
  decodeQuarantineEntry,
  encodeQuarantineEntry,
  QUARANTINE_KIND,
  type QuarantineEntry,
} from "./quarantine-entry.ts";
import { deviceIdFault } from "./report.ts";
import {
  decodeEventsEntry,
  EVENTS_KIND,
  type EventsEntry,
  encodeEventsEntry,
} from "./watches/events-entry.ts";
import {
  decodeWatchClockEntry,
  encodeWatchClockEntry,
  WATCH_CLOCK_KIND,
  type WatchClockEntry,
} from "./watches/watch-clock-entry.ts";
import { decodeWatchEntry, encodeWatchEntry, WATCH_KIND, type WatchEntry } from "./watches/watch-entry.ts";
import {
  DELIVERIES_KIND,
  type DeliveriesEntry,
  decodeDeliveriesEntry,
  encodeDeliveriesEntry,
} from "./webhooks/deliveries-entry.ts";
import {
  decodeWebhookEntry,
  encodeWebhookEntry,
  WEBHOOK_KIND,
  type WebhookEntry,
} from "./webhooks/webhook-entry.ts";

/*
 * Entries of the log other than reports. Each seal writes what they amount to into a file, as such entries, so the log
 * can drop them. A profile stands until another replaces it, a correction (correction-entry.ts) until it is undone; of
 * the quarantine (quarantine-entry.ts) the file has what the files of its messages don't tell; of a fence or an alert
 * (watch-entry.ts) an entry for each version; of the clock of timed events (watch-clock-entry.ts) and of a webhook
 * (webhook-entry.ts) one entry. An erasure (erasure-entry.ts) stays in the log until it is finished, and is in no such
 * file; nor are the events and deliveries of a cluster (events-entry.ts, deliveries-entry.ts), which each node has in
 * its database of events.
 *
 * The profile of a device, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 2
 *    1  u8   bytes of the app id
 *    2  u16  bytes of the device id
 *    4  u32  bytes of the profile; 0 if it is deleted
 *    8  app id, device id and profile (JSON)
 */
export const DEVICE_PROFILE_KIND = 2;

export type StandingEntry =
  | DeviceProfileEntry
  | CorrectionEntry
  | QuarantineEntry
  | ErasureEntry
  | WatchEntry
  | WatchClockEntry
  | WebhookEntry
  | SharedEntry;

/** What the nodes of a cluster share by the log alone. */
export type SharedEntry = EventsEntry | DeliveriesEntry;

/** A device gets a profile, or loses the one that it has. */
export interface DeviceProfileEntry {
  readonly kind: "device_profile";
  readonly appId: AppId;
  readonly deviceId: DeviceId;
  readonly profile: DeviceProfile | null;
}

const HEAD_BYTES = 8;

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeStandingEntry(entry: StandingEntry, headroomBytes: number): Uint8Array<ArrayBuffer> {
  switch (entry.kind) {
    case "device_profile":
      return encodeProfileEntry(entry, headroomBytes);
    case "correction":
      return encodeCorrectionEntry(entry, headroomBytes);
    case "erasure":
      return encodeErasureEntry(entry, headroomBytes);
    case "watch":
      return encodeWatchEntry(entry, headroomBytes);
    case "watch_clock":
      return encodeWatchClockEntry(entry, headroomBytes);
    case "webhook":
      return encodeWebhookEntry(entry, headroomBytes);
    case "events":
      return encodeEventsEntry(entry, headroomBytes);
    case "deliveries":
      return encodeDeliveriesEntry(entry, headroomBytes);
    default:
      return encodeQuarantineEntry(entry, headroomBytes);
  }
}

function encodeProfileEntry(
  { appId, deviceId, profile }: DeviceProfileEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const id = Buffer.from(deviceId);
  const json = Buffer.from(profile === null ? "" : JSON.stringify(profileMembers(profile)));
  const contentAt = headroomBytes + HEAD_BYTES;
  const encoded = new Uint8Array(padded(contentAt + appId.length + id.length + json.length));
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = DEVICE_PROFILE_KIND;
  bytes[headroomBytes + 1] = bytes.write(appId, contentAt, "latin1");
  bytes.writeUInt16LE(id.length, headroomBytes + 2);
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.set(id, contentAt + appId.length);
  bytes.set(json, contentAt + appId.length + id.length);
  return encoded;
}

/** The greatest kind that any program up to this one wrote. */
export const NEWEST_KIND = DELIVERIES_KIND;

/** Whether entries of this kind are standing entries. */
export function isStandingKind(kind: number | undefined): boolean {
  return (
    kind === DEVICE_PROFILE_KIND ||
    kind === QUARANTINE_KIND ||
    kind === CORRECTION_KIND ||
    kind === ERASURE_KIND ||
    kind === WATCH_KIND ||
    kind === WATCH_CLOCK_KIND ||
    kind === WEBHOOK_KIND ||
    kind === EVENTS_KIND ||
    kind === DELIVERIES_KIND
  );
}

/**
 * The entry of one of these kinds from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member that a newer version added.
 */
export function decodeStandingEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): StandingEntry | null {
  switch (views.bytes[start]) {
    case QUARANTINE_KIND:
      return decodeQuarantineEntry(views, start, end);
    case CORRECTION_KIND:
      return decodeCorrectionEntry(views, start, end, path);
    case ERASURE_KIND:
      return decodeErasureEntry(views, start, end, path);
    case WATCH_KIND:
      return decodeWatchEntry(views, start, end, path);
    case WATCH_CLOCK_KIND:
      return decodeWatchClockEntry(views, start, end);
    case WEBHOOK_KIND:
      return decodeWebhookEntry(views, start, end, path);
    case EVENTS_KIND:
      return decodeEventsEntry(views, start, end, path);
    case DELIVERIES_KIND:
      return decodeDeliveriesEntry(views, start, end, path);
    default:
      return decodeProfileEntry(views, start, end, path);
  }
}

function decodeProfileEntry(
  { bytes }: Views,
  start: number,
  end: number,
  path: string,
): DeviceProfileEntry | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const idAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonAt = idAt + bytes.readUInt16LE(start + 2);
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  if (padded(jsonEnd) !== end) return null;
  const appId = parseAppId(bytes.toString("latin1", start + HEAD_BYTES, idAt));
  const deviceId = bytes.toString("utf8", idAt, jsonAt);
  if (appId === null || deviceIdFault(deviceId) !== null) return null;
  const common = { kind: "device_profile", appId, deviceId: deviceId as DeviceId } as const;
  if (jsonAt === jsonEnd) return { ...common, profile: null };
  const profile = decodeProfile(bytes.toString("utf8", jsonAt, jsonEnd), path);
  return profile === null ? null : { ...common, profile };
}

const KNOWN_MEMBERS: readonly string[] = ["name", "color", "icon", "tags", "metadata"];

function decodeProfile(text: string, path: string): DeviceProfile | null {
  const members = parseMembers(text);
  if (members === null) return null;
  refuseStrangers("device profile", path, members, KNOWN_MEMBERS);
  const profile = parseDeviceProfile(members);
  return profile.ok ? profile.value : null;
}
