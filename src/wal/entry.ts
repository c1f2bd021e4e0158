import { assert } from "../lib/assert.ts";
import { parseAppId } from "../model/app-id.ts";
import type { AppId } from "../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { BATCH_REPORTS_MAX, type ReportBatch } from "../model/report-batch.ts";
import { decodeIndexColumn, encodeIndexColumn, indexColumnBytesMax } from "./index-column.ts";
import { decodeNumberColumn, encodeNumberColumn, numberColumnBytesMax } from "./number-column.ts";
import { createTextColumnReader, encodeTextColumn, textColumnBytesMax } from "./text-column.ts";
import { pad, padded, type Views, viewsOf } from "./views.ts";

/** A batch of reports of one app, at its place in the log. */
export interface LogEntry {
  /** Entries count from 1; numbers can be left out, and none is given twice. */
  readonly sequence: number;
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

/*
 * An entry without its sequence, which its frame carries. Every part is 8-aligned:
 *
 *    0  u32  reports                         20  u8  number columns
 *    4  u32  texts, less the placeholder     21  u8  fields of a profile
 *    8  u32  bytes of all texts              22  u8  fields of a state
 *   12  u32  distinct profiles               23  u8  bytes of the app id
 *   16  u32  distinct states
 *   24  app id, padded with zeros to 8
 *       texts
 *       device (indexes), timestamp (numbers), then one number column a field
 *       profiles (indexes), profile of each report (indexes), and the same for states
 *
 * Fields are only ever appended to the table. The counts let a later program read the entry and take the
 * fields it lacks as not carried; an earlier one refuses the whole segment by its header.
 */
const HEADER_BYTES = 24;

/** All texts of the largest batch fit several times; decoding allocates no more than this on anyone's word. */
const TEXTS_MAX = 64 * BATCH_REPORTS_MAX;

/** Larger entries than this use a buffer of their own. Common ones, 1,000 reports, take about 50 KB. */
const SCRATCH_BYTES_MAX = 4 * 1024 * 1024;
const SCRATCH_BYTES_INITIAL = 64 * 1024;

export interface EntryEncoder {
  /** The entry after `headroomBytes` left for the caller, a multiple of 8. */
  encode(appId: AppId, batch: ReportBatch, headroomBytes: number): Uint8Array<ArrayBuffer>;
}

export function createEntryEncoder(): EntryEncoder {
  let scratch = viewsOf(new Uint8Array(SCRATCH_BYTES_INITIAL));

  function viewsFor(bytes: number): Views {
    if (bytes <= scratch.bytes.length) return scratch;
    const views = viewsOf(new Uint8Array(padded(bytes)));
    if (bytes <= SCRATCH_BYTES_MAX) scratch = views;
    return views;
  }

  return {
    encode(appId, batch, headroomBytes) {
      const views = viewsFor(headroomBytes + entryBytesMax(appId, batch));
      const end = writeEntry(views, headroomBytes, appId, batch);
      const encoded = new Uint8Array(end);
      encoded.set(views.bytes.subarray(0, end));
      return encoded;
    },
  };
}

function entryBytesMax(appId: AppId, batch: ReportBatch): number {
  const { count, texts, numbers, profiles, states } = batch;
  const tuples = indexColumnBytesMax(profiles.length) + indexColumnBytesMax(states.length);
  const columns = (numbers.length + 1) * numberColumnBytesMax(count) + 3 * indexColumnBytesMax(count);
  return HEADER_BYTES + padded(appId.length) + textColumnBytesMax(texts) + tuples + columns;
}

function writeEntry(target: Views, at: number, appId: AppId, batch: ReportBatch): number {
  const { count, texts, numbers, profiles, states } = batch;
  const tuplesMax = Math.max(profiles.length / PROFILE_FIELDS.length, states.length / STATE_FIELDS.length);
  assert(
    Math.max(count, tuplesMax) <= BATCH_REPORTS_MAX,
    "a batch has no more reports and tuples than can be",
  );
  assert(texts.length <= TEXTS_MAX, "a batch has no more texts than its reports could name");
  assert(numbers.length === NUMBER_FIELDS.length, "a batch has a column for each number field");
  const afterId = at + HEADER_BYTES + target.bytes.write(appId, at + HEADER_BYTES);
  const [afterTexts, textBytes] = encodeTextColumn(target, pad(target, afterId), texts);

  const header = at >> 2;
  target.u32[header] = count;
  target.u32[header + 1] = texts.length - 1;
  target.u32[header + 2] = textBytes;
  target.u32[header + 3] = profiles.length / PROFILE_FIELDS.length;
  target.u32[header + 4] = states.length / STATE_FIELDS.length;
  target.bytes[at + 20] = NUMBER_FIELDS.length;
  target.bytes[at + 21] = PROFILE_FIELDS.length;
  target.bytes[at + 22] = STATE_FIELDS.length;
  target.bytes[at + 23] = afterId - at - HEADER_BYTES;

  let position = encodeIndexColumn(target, afterTexts, batch.device);
  position = encodeNumberColumn(target, position, batch.timestampMs);
  for (const column of numbers) position = encodeNumberColumn(target, position, column);
  position = encodeIndexColumn(target, position, profiles);
  position = encodeIndexColumn(target, position, batch.profile);
  position = encodeIndexColumn(target, position, states);
  return encodeIndexColumn(target, position, batch.state);
}

export interface EntryDecoder {
  /** The entry that fills `start` to `end`, both 8-aligned; null where the bytes are none. */
  decode(source: Views, start: number, end: number, sequence: number): LogEntry | null;
}

export function createEntryDecoder(): EntryDecoder {
  const textReader = createTextColumnReader();
  return {
    decode(source, start, end, sequence) {
      if (start + HEADER_BYTES > end || end > source.bytes.length) return null;
      const { bytes, u32 } = source;
      const header = start >> 2;
      const count = u32[header]!;
      const textCount = u32[header + 1]! + 1;
      const profileCount = u32[header + 3]!;
      const stateCount = u32[header + 4]!;
      const numberColumns = bytes[start + 20]!;
      const profileFields = bytes[start + 21]!;
      const stateFields = bytes[start + 22]!;
      if (numberColumns > NUMBER_FIELDS.length || profileFields > PROFILE_FIELDS.length) return null;
      if (stateFields > STATE_FIELDS.length || textCount > TEXTS_MAX) return null;
      if (Math.max(count, profileCount, stateCount) > BATCH_REPORTS_MAX) return null;

      const idStart = start + HEADER_BYTES;
      const idEnd = idStart + bytes[start + 23]!;
      if (idEnd > end) return null;
      const appId = parseAppId(bytes.toString("latin1", idStart, idEnd));
      if (appId === null) return null;

      const texts = new Array<string>(textCount).fill("");
      const reader = new ColumnReader(source, end, count);
      reader.at = textReader.read(source, padded(idEnd), end, u32[header + 2]!, texts);
      const batch: ReportBatch = {
        count,
        texts,
        device: reader.indexes(count, textCount),
        timestampMs: reader.numbers(),
        numbers: NUMBER_FIELDS.map((_, c) => (c < numberColumns ? reader.numbers() : notCarried(count))),
        profiles: widened(
          reader.indexes(profileCount * profileFields, textCount),
          profileCount,
          PROFILE_FIELDS,
        ),
        profile: reader.indexes(count, profileCount),
        states: widened(reader.indexes(stateCount * stateFields, textCount), stateCount, STATE_FIELDS),
        state: reader.indexes(count, stateCount),
      };
      return reader.at === end ? { sequence, appId, batch } : null;
    },
  };
}

/**
 * Reads columns one after the other. Once one is wrong, `at` stays -1 and the rest come back empty. Each has a
 * buffer of its own: for entries of one report, parts of a shared one would take Bun twice as long (and save
 * Deno two thirds, which allocates buffers slowly).
 */
class ColumnReader {
  at = 0;
  readonly #source: Views;
  readonly #end: number;
  readonly #count: number;

  constructor(source: Views, end: number, count: number) {
    this.#source = source;
    this.#end = end;
    this.#count = count;
  }

  numbers(): Float64Array {
    const column = new Float64Array(this.#count);
    if (this.at >= 0) this.at = decodeNumberColumn(this.#source, this.at, this.#end, column);
    return column;
  }

  indexes(count: number, limit: number): Uint32Array {
    const column = new Uint32Array(count);
    if (this.at >= 0) this.at = decodeIndexColumn(this.#source, this.at, this.#end, limit, column);
    return column;
  }
}

function notCarried(count: number): Float64Array {
  return new Float64Array(count).fill(Number.NaN);
}

/** Tuples of an earlier program, whose fields were fewer, with the missing ones not carried. */
function widened(tuples: Uint32Array, tupleCount: number, fields: readonly unknown[]): Uint32Array {
  if (tuples.length === tupleCount * fields.length) return tuples;
  const width = tuples.length / tupleCount;
  const wide = new Uint32Array(tupleCount * fields.length);
  for (let t = 0; t < tupleCount; t++) {
    wide.set(tuples.subarray(t * width, (t + 1) * width), t * fields.length);
  }
  return wide;
}
