import { crc32 } from "node:zlib";
import { padded } from "../../../src/lib/frames/views.ts";
import type { AppId } from "../../../src/model/ids.ts";
import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createEntryEncoder } from "../../../src/wal/entry/entry.ts";
import { encodeSegmentV1Head } from "../../../src/wal/segment/segment-v1.ts";

/** Segments as 0.1 wrote them, which no program does any more. */

/** The last that 0.1 knew; fields that came later are no part of what it wrote. */
const COLUMN_NUMBER_MAX = 25;
const ENTRY_HEAD_BYTES = 24;

const isKnown = ({ columnNumber }: StoredField) => columnNumber <= COLUMN_NUMBER_MAX;
const KNOWN_COUNTS = [NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS].map(
  (fields) => fields.filter(isKnown).length,
);

/** A frame with an entry of version 1. The batch must carry all number fields. */
export function frameV1(sequence: number, appId: AppId, batch: ReportBatch): Uint8Array {
  const known = {
    ...batch,
    numbers: batch.numbers.map((column, c) =>
      isKnown(NUMBER_FIELDS[c]!) ? column : column.map(() => Number.NaN),
    ),
    profiles: knownOf(batch.profiles, PROFILE_FIELDS),
    states: knownOf(batch.states, STATE_FIELDS),
  };
  const entry = createEntryEncoder().encode(appId, known, 0);
  const namesAt = ENTRY_HEAD_BYTES + appId.length;
  const [numberCount = 0, profileFields = 0, stateFields = 0] = KNOWN_COUNTS;
  const names = numberCount + PROFILE_FIELDS.length + STATE_FIELDS.length;
  const rest = entry.subarray(padded(namesAt + names)); // All that the versions differ in is the names.
  const payload = new Uint8Array(padded(namesAt) + rest.length);
  payload.set(entry.subarray(0, namesAt));
  payload.set(rest, padded(namesAt));
  const head = new DataView(payload.buffer);
  head.setUint32(12, known.profiles.length / profileFields, true);
  head.setUint32(16, known.states.length / stateFields, true);
  payload.set(KNOWN_COUNTS, 20);
  return sealedV1(sequence, payload);
}

/** Tuples without the members that came later. */
function knownOf(tuples: Uint32Array, fields: readonly StoredField[]): Uint32Array {
  return tuples.filter((_, index) => isKnown(fields[index % fields.length]!));
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
