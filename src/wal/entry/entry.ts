import { assert } from "../../lib/assert.ts";
import { encodeIndexColumn, indexColumnBytesMax } from "../../lib/frames/index-column.ts";
import { encodeNumberColumn, numberColumnBytesMax } from "../../lib/frames/number-column.ts";
import { pad, padded, type Views, viewsOf } from "../../lib/frames/views.ts";
import { messageOf } from "../../lib/message-of.ts";
import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import type { AppId } from "../../model/ids.ts";
import { RETIRED_COLUMN_NUMBERS } from "../../model/location-fields.ts";
import { BATCH_REPORTS_MAX, type ReportBatch } from "../../model/report-batch.ts";
import {
  decodeStandingEntry,
  encodeStandingEntry,
  isStandingKind,
  NEWEST_KIND,
  type StandingEntry,
} from "../../model/standing-entry.ts";
import {
  hasOwnTuples,
  NUMBER_COLUMNS,
  namesEnd,
  PROFILE_COLUMNS,
  readColumns,
  STATE_COLUMNS,
  TUPLE_COLUMNS,
} from "./entry-columns.ts";
import {
  ENTRY_HEAD_BYTES,
  type EntryHead,
  REPORTS_KIND,
  readEntryHead,
  TEXTS_MAX,
  writeEntryHead,
} from "./entry-head.ts";
import { encodeTextColumn, type TextColumnReader, textColumnBytesMax } from "./text-column.ts";

/** An entry of the log, with its sequence. */
export type LogEntry = Sequenced<NewEntry>;

/** An entry that is not in the log yet. */
export type NewEntry = ReportsEntry | StandingEntry;

/** A batch of reports of one app. */
export interface ReportsEntry {
  readonly kind: "reports";
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

/** Sequences start at 1. Numbers may be skipped, but none is used twice. */
export type Sequenced<Entry> = Entry & { readonly sequence: number };

/** How many reports an entry has. */
export function reportsIn(entry: NewEntry): number {
  return entry.kind === "reports" ? entry.batch.count : 0;
}

/*
 * An entry of reports, without its sequence, which is in its frame; standing-entry.ts has the other kinds:
 *
 *    0  head and app id (entry-head.ts)
 *       column numbers, one byte each: of number columns, of profile fields, of state fields; zeros up to 8
 *       texts and columns (entry-columns.ts)
 *
 * Columns are identified by number, so their fields may move within the table. Number columns that no report carries
 * are omitted.
 */

/** Larger entries get a buffer of their own. Common ones, with 1,000 reports, take about 50 KB. */
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024;
const SCRATCH_BYTES_INITIAL = 64 * 1024;

const NAMES_BYTES_MAX = padded(NUMBER_COLUMNS.length + TUPLE_COLUMNS.length);

export interface EntryEncoder {
  /** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
  encode(appId: AppId, batch: ReportBatch, headroomBytes: number): Uint8Array<ArrayBuffer>;
  /** Like `encode()`, for an entry of any kind. */
  encodeEntry(entry: NewEntry, headroomBytes: number): Uint8Array<ArrayBuffer>;
}

export function createEntryEncoder(): EntryEncoder {
  let scratch = viewsOf(new Uint8Array(SCRATCH_BYTES_INITIAL));

  function viewsFor(bytes: number): Views {
    if (bytes <= scratch.bytes.length) return scratch;
    const views = viewsOf(new Uint8Array(padded(bytes)));
    if (bytes <= SCRATCH_BYTES_MAX) scratch = views;
    return views;
  }

  function encode(appId: AppId, batch: ReportBatch, headroomBytes: number): Uint8Array<ArrayBuffer> {
    const views = viewsFor(headroomBytes + entryBytesMax(appId, batch));
    const end = writeEntry(views, headroomBytes, appId, batch);
    const encoded = new Uint8Array(end);
    encoded.set(views.bytes.subarray(0, end));
    return encoded;
  }

  return {
    encode,
    encodeEntry(entry, headroomBytes) {
      if (entry.kind !== "reports") return encodeStandingEntry(entry, headroomBytes);
      return encode(entry.appId, entry.batch, headroomBytes);
    },
  };
}

function entryBytesMax(appId: AppId, batch: ReportBatch): number {
  const { count, texts, numbers, profiles, states } = batch;
  const tuples = indexColumnBytesMax(profiles.length) + indexColumnBytesMax(states.length);
  const columns = (numbers.length + 1) * numberColumnBytesMax(count) + 3 * indexColumnBytesMax(count);
  const head = ENTRY_HEAD_BYTES + padded(appId.length) + NAMES_BYTES_MAX;
  return head + textColumnBytesMax(texts) + tuples + columns;
}

function writeEntry(target: Views, at: number, appId: AppId, batch: ReportBatch): number {
  const { count, texts, numbers, profiles, states } = batch;
  const profileCount = profiles.length / PROFILE_COLUMNS.length;
  const stateCount = states.length / STATE_COLUMNS.length;
  assert(
    Math.max(count, profileCount, stateCount) <= BATCH_REPORTS_MAX,
    "a batch is within the limits of reports and tuples",
  );
  assert(texts.length <= TEXTS_MAX, "a batch is within the limit of texts");
  assert(numbers.length === NUMBER_COLUMNS.length, "a batch has a column for each number field");

  const { bytes } = target;
  const namesAt = at + ENTRY_HEAD_BYTES + appId.length; // An app id is ASCII.
  let name = namesAt;
  for (let c = 0; c < numbers.length; c++) if (isCarried(numbers[c]!)) bytes[name++] = NUMBER_COLUMNS[c]!;
  const numberColumns = name - namesAt;
  for (let i = 0; i < TUPLE_COLUMNS.length; i++) bytes[name++] = TUPLE_COLUMNS[i]!; // Faster than `set` for so few.
  const afterNames = pad(target, name);
  const [afterTexts, textBytes] = encodeTextColumn(target, afterNames, texts);
  writeEntryHead(target, at, {
    count,
    textCount: texts.length,
    textBytes,
    profileCount,
    stateCount,
    numberColumns,
    profileFields: PROFILE_COLUMNS.length,
    stateFields: STATE_COLUMNS.length,
    appId,
  });

  let position = encodeIndexColumn(target, afterTexts, batch.device);
  position = encodeNumberColumn(target, position, batch.timestampMs);
  for (let i = 0, c = 0; i < numberColumns; c++) {
    if (bytes[namesAt + i] !== NUMBER_COLUMNS[c]) continue;
    position = encodeNumberColumn(target, position, numbers[c]!);
    i++;
  }
  position = encodeIndexColumn(target, position, profiles);
  position = encodeIndexColumn(target, position, batch.profile);
  position = encodeIndexColumn(target, position, states);
  return encodeIndexColumn(target, position, batch.state);
}

function isCarried(column: Float64Array): boolean {
  for (let row = 0; row < column.length; row++) if (!Number.isNaN(column[row])) return true;
  return false;
}

export interface EntryDecoder {
  /**
   * The entry from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a `FormatVersionError` if
   * its kind, or a column that it names, was added by a newer version.
   */
  decode(source: Views, start: number, end: number, sequence: number): LogEntry | null;
}

/** `path` is named in the error. */
export function createEntryDecoder(texts: TextColumnReader, path: string): EntryDecoder {
  return {
    decode(source, start, end, sequence) {
      if (start === end) return null;
      const kind = source.bytes[start]!;
      if (kind === REPORTS_KIND) return decodeReports(source, start, end, sequence);
      if (kind === 0) return null; // No kind.
      if (!isStandingKind(kind)) throw unknownKind(kind, path);
      const entry = decodeStandingEntry(source, start, end, path);
      return entry === null ? null : { ...entry, sequence };
    },
  };

  function decodeReports(source: Views, start: number, end: number, sequence: number): LogEntry | null {
    const head = readEntryHead(source, start, end);
    if (head === null) return null;
    if (namesEnd(head) > end || !areNames(source.bytes, head, path)) return null;
    const batch = readColumns(source, end, head, texts);
    return batch === null ? null : { kind: "reports", sequence, appId: head.appId, batch };
  }
}

function unknownKind(kind: number, path: string): FormatVersionError {
  return FormatVersionError.ofKind("log segment", path, NEWEST_KIND, kind);
}

const KNOWN_NUMBER_COLUMNS = knownColumns(NUMBER_COLUMNS);
const KNOWN_PROFILE_COLUMNS = knownColumns(PROFILE_COLUMNS);
const KNOWN_STATE_COLUMNS = knownColumns(STATE_COLUMNS);

function knownColumns(columns: Uint8Array): Uint8Array {
  const known = new Uint8Array(256);
  for (const column of [...columns, ...RETIRED_COLUMN_NUMBERS]) known[column] = 1;
  return known;
}

function areNames(bytes: Uint8Array, head: EntryHead, path: string): boolean {
  const profilesAt = head.end + head.numberColumns;
  if (!areKnown(bytes, head.end, profilesAt, KNOWN_NUMBER_COLUMNS, path)) return false;
  if (hasOwnTuples(bytes, head)) return true;
  const statesAt = profilesAt + head.profileFields;
  return (
    areKnown(bytes, profilesAt, statesAt, KNOWN_PROFILE_COLUMNS, path) &&
    areKnown(bytes, statesAt, statesAt + head.stateFields, KNOWN_STATE_COLUMNS, path)
  );
}

/** Whether column numbers ascend. Throws if one belongs to no field, present or retired. */
function areKnown(bytes: Uint8Array, from: number, to: number, known: Uint8Array, path: string): boolean {
  for (let at = from; at < to; at++) {
    if (at > from && bytes[at]! <= bytes[at - 1]!) return false;
    if (known[bytes[at]!] === 0)
      throw new FormatVersionError("log segment", path, "known columns", `column ${bytes[at]}`);
  }
  return true;
}

/** An intact entry that memory fails to apply: a bug, in this entry or in the code that applies any. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  readonly sequence: number;

  constructor(entry: LogEntry, cause: unknown) {
    const { sequence, appId, kind } = entry;
    const content = `app "${appId}", ${kind === "reports" ? `reports: ${entry.batch.count}` : kind.replaceAll("_", " ")}`;
    super(`Cannot apply entry ${sequence} of the log (${content}) to memory: ${messageOf(cause)}`, {
      cause,
    });
    this.sequence = sequence;
  }
}

/** Calls `apply` with the entry. Throws an `EntryError` if it throws. */
export function applyEntry<Outcome>(entry: LogEntry, apply: (entry: LogEntry) => Outcome): Outcome {
  try {
    return apply(entry);
  } catch (cause) {
    throw new EntryError(entry, cause);
  }
}
