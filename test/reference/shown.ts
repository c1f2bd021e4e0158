import { createHash } from "node:crypto";
import { localTime } from "./local-time.ts";
import type { ReferenceRecord } from "./records.ts";

/**
 * What answers look like, written from the interface specification (§2 to §4) and the contract (§1 to §3) as plain
 * objects whose members are in the order of the wire. Nothing here is shared with `src/http`.
 */

/** Every member a record may have, in the order of the wire. */
const MEMBERS = [
  "device_id",
  "app_id",
  "appId",
  "id",
  "timestamp",
  "latitude",
  "longitude",
  "horizontal_accuracy",
  "vertical_accuracy",
  "altitude",
  "speed",
  "bearing",
  "battery_level",
  "user_id",
  "tz_offset",
  "brand",
  "model",
  "os",
  "os_version",
  "sdk_version",
  "app_version_name",
  "app_version_code",
  "type",
  "battery_status",
  "network_status",
  "location_permission",
  "is_mock",
  "tracking_mode",
];

/** The contract's table, §1. */
const EVERYWHERE = [
  ...[
    "device_id",
    "timestamp",
    "latitude",
    "longitude",
    "horizontal_accuracy",
    "altitude",
    "speed",
    "bearing",
  ],
  ...["type", "battery_level", "battery_status", "user_id"],
];
const CIRCUMSTANCES = [
  ...["vertical_accuracy", "network_status", "location_permission", "is_mock", "tracking_mode", "tz_offset"],
];
const MAKE = ["brand", "model", "os", "os_version"];
const VERSIONS = ["sdk_version", "app_version_name", "app_version_code"];
const SHOWN = {
  current: [...EVERYWHERE, ...CIRCUMSTANCES, "app_id"],
  deviceCurrent: [...EVERYWHERE, ...CIRCUMSTANCES, "app_id", "id"],
  userHistory: [...EVERYWHERE, ...CIRCUMSTANCES, ...MAKE, "appId", "id"],
  deviceHistory: [...EVERYWHERE, ...CIRCUMSTANCES, ...MAKE, ...VERSIONS, "appId", "id"],
  appHistory: [...EVERYWHERE, "appId", "id"],
} as const;

export type ShownIn = keyof typeof SHOWN;

/** A record as one kind of answer shows it; what its sender left out stays out. */
export function shownRecord(record: ReferenceRecord, kind: ShownIn, appId: string, zone: string | null) {
  const all: Record<string, unknown> = {
    ...record,
    app_id: appId,
    appId,
    id: recordId(appId, record.device_id, record.timestamp),
  };
  const shown = MEMBERS.filter((name) => SHOWN[kind].includes(name as never) && all[name] !== undefined);
  const members = Object.fromEntries(shown.map((name) => [name, all[name]]));
  return zone === null ? members : { ...members, local_time: localTime(zone, record.timestamp) };
}

/** A device in a user's list, §2.2. */
export function shownDevice(record: ReferenceRecord) {
  const { device_id, timestamp, latitude, longitude } = record;
  const { battery_level, battery_status, network_status, model, os_version } = record;
  return {
    device_id,
    last_seen: timestamp,
    last_location: { latitude, longitude, timestamp },
    ...withoutMissing({ battery_level, battery_status, network_status, model, os_version }),
  };
}

function withoutMissing(members: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const hashes = new Map<string, string>();

/** A ULID: 48 bits of time, 80 of the hash of app and device, five bits a character. */
function recordId(appId: string, deviceId: string, timestampMs: number): string {
  const device = `${appId}\0${deviceId}`;
  const hash = hashes.get(device) ?? createHash("sha256").update(device).digest("hex");
  hashes.set(device, hash);
  let rest = (BigInt(timestampMs) << 80n) | BigInt(`0x${hash.slice(0, 20)}`);
  let text = "";
  for (let i = 0; i < 26; i++, rest >>= 5n)
    text = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[Number(rest & 31n)]! + text;
  return text;
}
