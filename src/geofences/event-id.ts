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

/** Sorts behind the ids of all earlier events, and before those of this instant and later ones. */
export function firstEventId(timestampMs: number): string {
  writeRecordIdTime(timeView, 0, Math.min(Math.max(Math.ceil(timestampMs), 0), TIME_MS_MAX));
  return String.fromCharCode(...time);
}

function timedId(timestampMs: number, identity: string): string {
  return firstEventId(timestampMs) + crockfordDigest(createHash("sha256").update(identity).digest());
}

/** The greatest time of an id, which has 48 bits for it. */
const TIME_MS_MAX = 2 ** 48 - 1;

const time = new Uint8Array(RECORD_ID_TIME_CHARACTERS);
const timeView = new DataView(time.buffer);
