import { Buffer } from "node:buffer";
import { padded, type Views } from "../lib/frames/views.ts";
import { isObject } from "../lib/is-object.ts";
import { FormatVersionError, parseMembers } from "../lib/text/versioned-json.ts";
import {
  batchOfMembers,
  CORRECTION_ACTIONS,
  type Correction,
  type CorrectionAction,
  type CorrectionTarget,
  type RecordMembers,
} from "./correction.ts";
import { decodeRows, encodeRows } from "./encoded-rows.ts";
import { type AppId, type DeviceId, parseAppId } from "./ids.ts";
import { deviceIdFault } from "./report.ts";
import type { ReportBatch } from "./report-batch.ts";

/*
 * The entry of a correction, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 3                         16  u64  number of the app's correction before it
 *    1  u8   bytes of the app id             24  u32  index of this piece
 *    2  u8   change: 1 piece, 2 undo,        28  u32  pieces
 *            3 number (in files only),       32  app id, members (JSON); zeros up to 8
 *            4 piece with rows, 5 assign         timestamps, f64
 *    3  u8   zero                                rows (encoded-rows.ts)
 *    4  u32  bytes of the members
 *    8  u32  timestamps
 *   12  u32  bytes of the rows
 *
 * A correction is made of pieces of at most `PIECE_RECORDS_MAX` records, of which the last makes it valid.
 */
export const CORRECTION_KIND = 3;
export const PIECE_RECORDS_MAX = 1000;

const HEAD_BYTES = 32;
const PIECE = 1;
const UNDO = 2;
const NUMBER = 3;
const PIECE_WITH_ROWS = 4;
const ASSIGN = 5;

/** A correction, in pieces, or its undoing. It has the whole effect, so applying it reads and decides nothing. */
export interface CorrectionEntry {
  readonly kind: "correction";
  readonly appId: AppId;
  /** The number of the app's correction before this one. An entry that names another has no effect. */
  readonly previous: number;
  readonly change: CorrectionPiece | Assignment | Undo | NumberOnly;
}

export interface CorrectionPiece {
  readonly type: "piece";
  readonly id: string;
  readonly piece: number;
  readonly pieces: number;
  /** The records that go out of sight, sorted. */
  readonly timestampMs: Float64Array;
  /** What answers show of them instead, in full and in the same order; null for nothing. */
  readonly rows: ReportBatch | null;
  /** In a seal's file, reports up to this entry of the log are merged into the rows; 0 in the log. */
  readonly rowsUpTo: number;
  /** What the last piece has, and no other. */
  readonly last: LastMembers | null;
}

export interface LastMembers extends NewestAfter {
  readonly correction: Correction;
}

/**
 * The newest record after a correction or its undoing, if that is archived and may not be known: of the correction's
 * device, and of the device that its records are assigned to.
 */
export interface NewestAfter {
  readonly newest: RecordMembers | null;
  readonly newestOfTarget: RecordMembers | null;
}

/** From now on all that a device reports, and has reported, shows as another's, until it is undone. */
export interface Assignment {
  readonly type: "assign";
  readonly id: string;
  readonly correction: Correction;
}

export interface Undo extends NewestAfter {
  readonly type: "undo";
  readonly id: string;
}

/** In a seal's file: the number of the app's last correction is `previous`. */
export interface NumberOnly {
  readonly type: "number";
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeCorrectionEntry(
  { appId, previous, change }: CorrectionEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const isPiece = change.type === "piece";
  const times = isPiece ? change.timestampMs : new Float64Array(0);
  const rows = isPiece && change.rows !== null ? encodeRows(change.rows) : new Uint8Array(0);
  const json = Buffer.from(change.type === "number" ? "" : JSON.stringify(membersOfChange(change)));
  const contentAt = headroomBytes + HEAD_BYTES;
  const timesAt = padded(contentAt + appId.length + json.length);
  const encoded = new Uint8Array(timesAt + times.byteLength + rows.length);
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = CORRECTION_KIND;
  bytes[headroomBytes + 1] = bytes.write(appId, contentAt, "latin1");
  bytes[headroomBytes + 2] = codeOf(change);
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.writeUInt32LE(times.length, headroomBytes + 8);
  bytes.writeUInt32LE(rows.length, headroomBytes + 12);
  bytes.writeBigUInt64LE(BigInt(previous), headroomBytes + 16);
  bytes.writeUInt32LE(isPiece ? change.piece : 0, headroomBytes + 24);
  bytes.writeUInt32LE(isPiece ? change.pieces : 0, headroomBytes + 28);
  bytes.set(json, contentAt + appId.length);
  new Float64Array(encoded.buffer, timesAt, times.length).set(times);
  encoded.set(rows, timesAt + times.byteLength);
  return encoded;
}

function codeOf(change: CorrectionEntry["change"]): number {
  if (change.type === "number") return NUMBER;
  if (change.type === "undo") return UNDO;
  if (change.type === "assign") return ASSIGN;
  return change.rows === null ? PIECE : PIECE_WITH_ROWS;
}

function membersOfChange(change: CorrectionPiece | Assignment | Undo) {
  const { id } = change;
  if (change.type === "assign") return { id, correction: change.correction };
  if (change.type === "undo") return { id, newest: change.newest, newestOfTarget: change.newestOfTarget };
  const rowsUpTo = change.rows === null ? undefined : change.rowsUpTo;
  return { id, rowsUpTo, ...change.last };
}

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it is a change that a newer version added.
 */
export function decodeCorrectionEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): CorrectionEntry | null {
  const { bytes } = views;
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  const count = bytes.readUInt32LE(start + 8);
  const timesAt = padded(jsonEnd);
  const rowsAt = timesAt + 8 * count;
  if (count > PIECE_RECORDS_MAX || rowsAt + bytes.readUInt32LE(start + 12) !== end) return null;
  const appId = parseAppId(bytes.toString("latin1", start + HEAD_BYTES, jsonAt));
  const previous = Number(bytes.readBigUInt64LE(start + 16));
  if (appId === null || !Number.isSafeInteger(previous)) return null;
  const common = { kind: "correction", appId, previous } as const;
  const code = bytes[start + 2]!;
  if (code === 0) return null;
  if (code > ASSIGN) throw new FormatVersionError("correction", path, "known changes", `change ${code}`);
  if (code === NUMBER) return { ...common, change: { type: "number" } };
  const members = parseMembers(bytes.toString("utf8", jsonAt, jsonEnd));
  if (members === null || typeof members.id !== "string") return null;
  const { id } = members;
  const { newest = null, newestOfTarget = null } = members;
  if (!isRecordOrNull(newest) || !isRecordOrNull(newestOfTarget)) return null;
  const after = { newest, newestOfTarget };
  if (code === UNDO) return { ...common, change: { type: "undo", id, ...after } };
  if (code === ASSIGN) {
    const correction = parseCorrection(members.correction, path);
    if (correction === null || correction.target === null) return null;
    return { ...common, change: { type: "assign", id, correction } };
  }
  const timestampMs = views.f64.slice(timesAt / 8, rowsAt / 8);
  const piece = bytes.readUInt32LE(start + 24);
  const pieces = bytes.readUInt32LE(start + 28);
  if (piece >= pieces || !isAscending(timestampMs)) return null;
  const rows = code === PIECE_WITH_ROWS ? decodeRows(views, rowsAt, end, PIECE_RECORDS_MAX) : null;
  if (code === PIECE_WITH_ROWS ? rows?.count !== count : rowsAt !== end) return null;
  const rowsUpTo = Number(members.rowsUpTo ?? 0);
  const part = { type: "piece", id, piece, pieces, timestampMs, rows, rowsUpTo } as const;
  if (piece < pieces - 1) return { ...common, change: { ...part, last: null } };
  const correction = parseCorrection(members.correction, path);
  if (correction === null) return null;
  const isValid = (deviceId: DeviceId, record: RecordMembers | null) =>
    record === null || batchOfMembers(deviceId, record) !== null;
  if (!isValid(correction.deviceId, newest)) return null;
  if (!isValid(correction.target?.deviceId ?? correction.deviceId, newestOfTarget)) return null;
  return { ...common, change: { ...part, last: { correction, ...after } } };
}

function isRecordOrNull(value: unknown): value is RecordMembers | null {
  return value === null || isObject(value);
}

function isPosition(value: unknown): value is CorrectionTarget["position"] {
  return isObject(value) && typeof value.latitude === "number" && typeof value.longitude === "number";
}

function isAscending(timestampMs: Float64Array): boolean {
  return timestampMs.every(
    (time, i) => Number.isSafeInteger(time) && (i === 0 || timestampMs[i - 1]! < time),
  );
}

function parseCorrection(value: unknown, path: string): Correction | null {
  if (!isObject(value)) return null;
  const { id, action, deviceId, selection, note, createdMs, createdBy, records, firstMs, lastMs } = value;
  if (typeof action === "string" && !CORRECTION_ACTIONS.includes(action as CorrectionAction))
    throw new FormatVersionError("correction", path, "known actions", `action "${action}"`);
  const areTexts = [id, action, deviceId, createdBy].every((text) => typeof text === "string");
  const areNumbers = [createdMs, records, firstMs, lastMs].every((number) => typeof number === "number");
  if (!areTexts || !areNumbers || !isObject(selection)) return null;
  if (deviceIdFault(deviceId as string) !== null || (note !== null && typeof note !== "string")) return null;
  const { target = null } = value;
  if (target !== null && !isTarget(target)) return null;
  return { ...(value as unknown as Correction), deviceId: deviceId as DeviceId, target };
}

function isTarget(value: unknown): value is CorrectionTarget {
  if (!isObject(value)) return false;
  const { deviceId, byMs, position, userId } = value;
  if (typeof deviceId !== "string" || deviceIdFault(deviceId) !== null || typeof byMs !== "number")
    return false;
  return (position === null || isPosition(position)) && (userId === null || typeof userId === "string");
}
