import { crc32 } from "node:zlib";
import type { AppId } from "../../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createEntryEncoder } from "../../../src/wal/entry/entry.ts";
import { padded } from "../../../src/wal/entry/views.ts";
import { encodeSegmentV1Head } from "../../../src/wal/segment/segment-v1.ts";

/** Segments as 0.1 wrote them, which no program does any more. */

const FIELD_COUNTS = [NUMBER_FIELDS.length, PROFILE_FIELDS.length, STATE_FIELDS.length];
const COLUMNS = FIELD_COUNTS.reduce((sum, count) => sum + count);
const ENTRY_HEAD_BYTES = 24;

/** A frame with an entry of version 1. The batch must carry all number fields. */
export function frameV1(sequence: number, appId: AppId, batch: ReportBatch): Uint8Array {
  const entry = createEntryEncoder().encode(appId, batch, 0);
  const namesAt = ENTRY_HEAD_BYTES + appId.length;
  const rest = entry.subarray(padded(namesAt + COLUMNS)); // All that the versions differ in is the names.
  const payload = new Uint8Array(padded(namesAt) + rest.length);
  payload.set(entry.subarray(0, namesAt));
  payload.set(rest, padded(namesAt));
  return sealedV1(sequence, payload);
}

export function sealedV1(sequence: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(24 + payload.length);
  const header = new DataView(frame.buffer);
  header.setUint32(0, 0xfaf9f8f7, true);
  header.setBigUint64(8, BigInt(sequence), true);
  header.setUint32(16, payload.length, true);
  frame.set(payload, 24);
  header.setUint32(4, crc32(frame.subarray(8)), true);
  return frame;
}

export function segmentV1(number: number, frames: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat([encodeSegmentV1Head(number), ...frames]));
}
