import { createHash } from "node:crypto";
import type { DeviceId } from "../model/ids.ts";
import { crockfordDigest, RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../model/record-id.ts";
import type { EventKind, Watch } from "./watch.ts";

/*
 * Ids in ULID form, like those of records: the time, then the hash of what else identifies an event or a visit. So an
 * event that is decided again has the same id. Only device ids may contain any character but NUL.
 */

export function eventId(
  { appId, id }: Watch,
  version: number,
  deviceId: DeviceId,
  timestampMs: number,
  kind: EventKind,
): string {
  return timedId(timestampMs, `${appId}\0${id}\0${version}\0${deviceId}\0${kind}`);
}

/** The id of a visit that began at this time. It goes on while versions change. */
export function visitId({ appId, id }: Watch, deviceId: DeviceId, startMs: number): string {
  return timedId(startMs, `${appId}\0${id}\0${deviceId}`);
}

function timedId(timestampMs: number, identity: string): string {
  writeRecordIdTime(time, 0, timestampMs);
  return String.fromCharCode(...time) + crockfordDigest(createHash("sha256").update(identity).digest());
}

const time = new Uint8Array(RECORD_ID_TIME_CHARACTERS);
