import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS, type StoredField } from "../model/location-fields.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { EntryHead } from "./entry-head.ts";
import { decodeIndexColumn } from "./index-column.ts";
import { decodeNumberColumn } from "./number-column.ts";
import type { TextColumnReader } from "./text-column.ts";
import type { Views } from "./views.ts";

/** Column numbers in a run of bytes: those of number columns, then of profiles, then of states, each rising. */
export interface ColumnNames {
  readonly bytes: Uint8Array;
  readonly at: number;
}

export const NUMBER_COLUMNS = columnNumbersOf(NUMBER_FIELDS);
export const PROFILE_COLUMNS = columnNumbersOf(PROFILE_FIELDS);
export const STATE_COLUMNS = columnNumbersOf(STATE_FIELDS);

function columnNumbersOf(fields: readonly StoredField[]): Uint8Array {
  return Uint8Array.from(fields, ({ columnNumber }) => columnNumber);
}

/**
 * The texts and columns of an entry, 8-aligned from `at` to `end`: texts, device (indexes), timestamp (numbers), a
 * number column for each that is named, profiles (indexes), profile of each report (indexes), and the same for
 * states. Columns that the entry does not name are not carried, those of retired fields are left out. Null where the
 * bytes are none of that.
 */
export function readColumns(
  source: Views,
  at: number,
  end: number,
  head: EntryHead,
  names: ColumnNames,
  textReader: TextColumnReader,
): ReportBatch | null {
  const { count, textCount, textBytes, profileCount, stateCount } = head;
  const { numberColumns, profileFields, stateFields } = head;
  const texts = new Array<string>(textCount).fill("");
  const reader = new ColumnReader(source, end, count);
  reader.at = textReader.read(source, at, end, textBytes, texts);
  const device = reader.indexes(count, textCount);
  const timestampMs = reader.numbers();
  const numbers = readNumbers(reader, names, numberColumns, count);
  const profilesAt = names.at + numberColumns;
  const profiles = reader.indexes(profileCount * profileFields, textCount);
  const profile = reader.indexes(count, profileCount);
  const states = reader.indexes(stateCount * stateFields, textCount);
  const state = reader.indexes(count, stateCount);
  if (reader.at !== end) return null;
  return {
    count,
    texts,
    device,
    timestampMs,
    numbers,
    profiles: ownTuples(profiles, profileCount, names.bytes, profilesAt, profileFields, PROFILE_COLUMNS),
    profile,
    states: ownTuples(
      states,
      stateCount,
      names.bytes,
      profilesAt + profileFields,
      stateFields,
      STATE_COLUMNS,
    ),
    state,
  };
}

/** Our number columns, out of the named ones. */
function readNumbers(
  reader: ColumnReader,
  { bytes, at }: ColumnNames,
  named: number,
  count: number,
): Float64Array[] {
  const numbers: Float64Array[] = [];
  let i = 0;
  for (let c = 0; c < NUMBER_COLUMNS.length; c++) {
    for (; i < named && bytes[at + i]! < NUMBER_COLUMNS[c]!; i++) reader.numbers();
    const isNamed = i < named && bytes[at + i] === NUMBER_COLUMNS[c];
    numbers.push(isNamed ? reader.numbers() : new Float64Array(count).fill(Number.NaN));
    if (isNamed) i++;
  }
  for (; i < named; i++) reader.numbers();
  return numbers;
}

/** Tuples of our fields out of tuples of the named ones. */
function ownTuples(
  tuples: Uint32Array,
  tupleCount: number,
  names: Uint8Array,
  at: number,
  named: number,
  own: Uint8Array,
): Uint32Array {
  let isOwn = named === own.length;
  for (let i = 0; isOwn && i < named; i++) isOwn = names[at + i] === own[i];
  if (isOwn) return tuples;
  const members = Array.from(own, (column) => names.subarray(at, at + named).indexOf(column));
  const result = new Uint32Array(tupleCount * own.length);
  for (let tuple = 0; tuple < tupleCount; tuple++) {
    members.forEach((member, i) => {
      if (member >= 0) result[tuple * own.length + i] = tuples[tuple * named + member]!;
    });
  }
  return result;
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
