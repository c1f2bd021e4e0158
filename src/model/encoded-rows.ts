import { Buffer } from "node:buffer";
import { decodeIndexColumn, encodeIndexColumn, indexColumnBytesMax } from "../lib/frames/index-column.ts";
import { decodeNumberColumn, encodeNumberColumn, numberColumnBytesMax } from "../lib/frames/number-column.ts";
import { padded, type Views, viewsOf } from "../lib/frames/views.ts";
import { isObject } from "../lib/is-object.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS, type StoredField } from "./location-fields.ts";
import type { ReportBatch } from "./report-batch.ts";

/*
 * The rows of a batch within an entry of a correction, 8-aligned:
 *
 *    0  u32  bytes of the members
 *    4  u32  rows
 *    8  members (JSON): texts, column numbers of number fields, of profile fields and of state fields; zeros up to 8
 *       columns: device (indexes), timestamp (numbers), each number field, profiles (indexes), profile of each row
 *       (indexes), and the same for states
 *
 * Fields that a program does not know are skipped, and those that are missing count as not carried.
 */
const HEAD_BYTES = 8;

const NUMBER_COLUMNS = NUMBER_FIELDS.map(({ columnNumber }) => columnNumber);
const PROFILE_COLUMNS = columnsOf(PROFILE_FIELDS);
const STATE_COLUMNS = columnsOf(STATE_FIELDS);

function columnsOf(fields: readonly StoredField[]): number[] {
  return fields.map(({ columnNumber }) => columnNumber);
}

interface Members {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  readonly profileFields: readonly number[];
  readonly profiles: number;
  readonly stateFields: readonly number[];
  readonly states: number;
}

export function encodeRows(batch: ReportBatch): Uint8Array {
  const { count, texts, numbers, profiles, states } = batch;
  const carried = numbers.flatMap((column, field) => (column.every(Number.isNaN) ? [] : [field]));
  const members: Members = {
    texts: texts.slice(1),
    numbers: carried.map((field) => NUMBER_COLUMNS[field]!),
    profileFields: PROFILE_COLUMNS,
    profiles: profiles.length / PROFILE_FIELDS.length,
    stateFields: STATE_COLUMNS,
    states: states.length / STATE_FIELDS.length,
  };
  const json = Buffer.from(JSON.stringify(members));
  const indexes = [batch.device, profiles, batch.profile, states, batch.state];
  const columnBytes = indexes.reduce((sum, { length }) => sum + indexColumnBytesMax(length), 0);
  const columnsAt = padded(HEAD_BYTES + json.length);
  const views = viewsOf(
    new Uint8Array(columnsAt + columnBytes + (carried.length + 1) * numberColumnBytesMax(count)),
  );
  views.bytes.writeUInt32LE(json.length, 0);
  views.bytes.writeUInt32LE(count, 4);
  views.bytes.set(json, HEAD_BYTES);
  let at = encodeIndexColumn(views, columnsAt, batch.device);
  at = encodeNumberColumn(views, at, batch.timestampMs);
  for (const field of carried) at = encodeNumberColumn(views, at, numbers[field]!);
  at = encodeIndexColumn(views, at, profiles);
  at = encodeIndexColumn(views, at, batch.profile);
  at = encodeIndexColumn(views, at, states);
  at = encodeIndexColumn(views, at, batch.state);
  return views.bytes.subarray(0, at);
}

/** The rows from `start` to `end`, at most `rowsMax` of them; null if the bytes are not valid. */
export function decodeRows(source: Views, start: number, end: number, rowsMax: number): ReportBatch | null {
  if (start + HEAD_BYTES > end) return null;
  const jsonEnd = start + HEAD_BYTES + source.bytes.readUInt32LE(start);
  const count = source.bytes.readUInt32LE(start + 4);
  if (jsonEnd > end || count > rowsMax) return null;
  const members = parseMembers(source.bytes.toString("utf8", start + HEAD_BYTES, jsonEnd));
  if (members === null || Math.max(members.profiles, members.states) > count) return null;
  const texts = ["", ...members.texts];
  let at = padded(jsonEnd);
  const indexes = (length: number, limit: number) => {
    const column = new Uint32Array(length);
    if (at >= 0) at = decodeIndexColumn(source, at, end, limit, column);
    return column;
  };
  const numbers = () => {
    const column = new Float64Array(count);
    if (at >= 0) at = decodeNumberColumn(source, at, end, column);
    return column;
  };
  const device = indexes(count, texts.length);
  const timestampMs = numbers();
  const byColumn = new Map(members.numbers.map((column) => [column, numbers()]));
  const { profileFields, stateFields } = members;
  const profiles = indexes(members.profiles * profileFields.length, texts.length);
  const profile = indexes(count, members.profiles);
  const states = indexes(members.states * stateFields.length, texts.length);
  const state = indexes(count, members.states);
  if (at !== end) return null;
  return {
    ...{ count, texts, device, timestampMs, profile, state },
    numbers: NUMBER_COLUMNS.map((column) => byColumn.get(column) ?? new Float64Array(count).fill(Number.NaN)),
    profiles: ownTuples(profiles, profileFields, PROFILE_COLUMNS),
    states: ownTuples(states, stateFields, STATE_COLUMNS),
  };
}

/** Tuples with the fields of this program, out of tuples with the named ones. */
function ownTuples(tuples: Uint32Array, named: readonly number[], own: readonly number[]): Uint32Array {
  const places = own.map((column) => named.indexOf(column));
  const result = new Uint32Array((tuples.length / named.length) * own.length);
  for (let i = 0; i < result.length; i++) {
    const place = places[i % own.length]!;
    if (place >= 0) result[i] = tuples[Math.floor(i / own.length) * named.length + place]!;
  }
  return result;
}

function parseMembers(text: string): Members | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { texts, numbers, profileFields, profiles, stateFields, states } = value;
  const areTexts = Array.isArray(texts) && texts.every((each) => typeof each === "string");
  const areLists = isColumnList(numbers) && [profileFields, stateFields].every(hasColumns);
  const areCounts = [profiles, states].every((number) => Number.isInteger(number) && Number(number) >= 0);
  return areTexts && areLists && areCounts ? (value as unknown as Members) : null;
}

function isColumnList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length < 256 && value.every(Number.isInteger);
}

function hasColumns(value: unknown): boolean {
  return isColumnList(value) && value.length > 0;
}
