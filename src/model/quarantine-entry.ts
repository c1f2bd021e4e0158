import { Buffer } from "node:buffer";
import { padded, type Views } from "../lib/frames/views.ts";
import { isObject } from "../lib/is-object.ts";
import { parseMembers } from "../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "./ids.ts";

/*
 * Entries of the log that change the quarantine, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 5 (4 had deletions without sequences)
 *    1  u8   change: 1 for a piece, 2 for a deletion, 3 for arrivals
 *    2  u16  zero
 *    4  u32  bytes of the JSON
 *    8  u32  bytes of the piece
 *   12  u32  zero
 *   16  JSON, piece
 *
 * A message is stored as one file, whose content comes in pieces. A piece contains data from clients, but its bounds
 * come only from our own length fields.
 */
export const QUARANTINE_KIND = 5;

export type QuarantineEntry = RefusedPiece | RefusedDeletion | RefusedArrivals;

/** A piece of a message's file. The last one completes the message; an incomplete one has no effect. */
export interface RefusedPiece {
  readonly kind: "refused_piece";
  readonly appId: AppId;
  /** The message's id, in hexadecimal. */
  readonly id: string;
  /** The node that sends it. A node sends the pieces of one message at a time, in order. */
  readonly source: string;
  /** Which message of the source it is; random, and equal for all its pieces. */
  readonly number: number;
  readonly start: number;
  readonly totalBytes: number;
  readonly bytes: Uint8Array;
}

/** Messages leave the quarantine. */
export interface RefusedDeletion {
  readonly kind: "refused_deletion";
  readonly appId: AppId;
  readonly messages: readonly MessageReference[];
}

/** Names a message's file. */
export interface MessageReference {
  readonly id: string;
  /** The entry of the log that completed the message. */
  readonly sequence: number;
}

/** Messages of the quarantine came again. */
export interface RefusedArrivals {
  readonly kind: "refused_arrivals";
  readonly appId: AppId;
  readonly arrivals: readonly Arrival[];
}

export interface Arrival {
  readonly id: string;
  readonly count: number;
  readonly lastArrivedMs: number;
}

const CHANGES = { refused_piece: 1, refused_deletion: 2, refused_arrivals: 3 } as const;
const HEAD_BYTES = 16;

/** The most bytes of an entry besides its piece: head, ids, numbers and padding. */
export const PIECE_OVERHEAD_BYTES = 512;
/** The most bytes of an entry with a piece. */
export const PIECE_ENTRY_BYTES_MAX = 1024 * 1024;
/** Messages or arrivals in an entry: at most 100 KB, which is decoded within a millisecond. */
export const ENTRY_IDS_MAX = 1000;
/** A body has at most 16 MiB; the other fields of a message are small. */
const TOTAL_BYTES_MAX = 32 * 1024 * 1024;
const SOURCE = /^[\w-]{0,64}$/;
const ID = /^[0-9a-f]{32}$/;

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeQuarantineEntry(
  entry: QuarantineEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const { kind, ...members } = entry;
  const piece = "bytes" in members ? members.bytes : NO_BYTES;
  const json = Buffer.from(JSON.stringify({ ...members, bytes: undefined }));
  const jsonAt = headroomBytes + HEAD_BYTES;
  const encoded = new Uint8Array(padded(jsonAt + json.length + piece.length));
  const view = new DataView(encoded.buffer, headroomBytes);
  view.setUint8(0, QUARANTINE_KIND);
  view.setUint8(1, CHANGES[kind]);
  view.setUint32(4, json.length, true);
  view.setUint32(8, piece.length, true);
  encoded.set(json, jsonAt);
  encoded.set(piece, jsonAt + json.length);
  return encoded;
}

const NO_BYTES = new Uint8Array();

/** The entry from `start` to `end`, both 8-aligned, with a copy of its piece; null if the bytes are not valid. */
export function decodeQuarantineEntry(
  { bytes, u32 }: Views,
  start: number,
  end: number,
): QuarantineEntry | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES;
  const pieceAt = jsonAt + u32[(start + 4) >> 2]!;
  const pieceEnd = pieceAt + u32[(start + 8) >> 2]!;
  if (padded(pieceEnd) !== end) return null;
  const members = parseMembers(bytes.toString("utf8", jsonAt, pieceAt));
  const appId = typeof members?.appId === "string" ? parseAppId(members.appId) : null;
  if (members === null || appId === null) return null;
  switch (bytes[start + 1]) {
    case CHANGES.refused_piece:
      return pieceOf(appId, members, new Uint8Array(bytes.subarray(pieceAt, pieceEnd)));
    case CHANGES.refused_deletion: {
      const { messages } = members;
      if (!Array.isArray(messages) || !messages.every(isReference)) return null;
      return { kind: "refused_deletion", appId, messages };
    }
    case CHANGES.refused_arrivals: {
      const { arrivals } = members;
      if (!Array.isArray(arrivals) || !arrivals.every(isArrival)) return null;
      return { kind: "refused_arrivals", appId, arrivals };
    }
    default:
      return null;
  }
}

function pieceOf(
  appId: AppId,
  { id, source, number, start, totalBytes }: Readonly<Record<string, unknown>>,
  bytes: Uint8Array,
): RefusedPiece | null {
  if (!isId(id) || typeof source !== "string" || !SOURCE.test(source)) return null;
  if (!isCount(number) || !isCount(start) || !isCount(totalBytes) || totalBytes > TOTAL_BYTES_MAX)
    return null;
  if (bytes.length === 0 || start + bytes.length > totalBytes) return null;
  return { kind: "refused_piece", appId, id, source, number, start, totalBytes, bytes };
}

function isReference(value: unknown): value is MessageReference {
  return isObject(value) && isId(value.id) && isCount(value.sequence);
}

function isArrival(value: unknown): value is Arrival {
  return isObject(value) && isId(value.id) && isCount(value.count) && Number.isFinite(value.lastArrivedMs);
}

function isId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
