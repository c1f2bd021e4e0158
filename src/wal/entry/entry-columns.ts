import { decodeIndexColumn } from "../../lib/frames/index-column.ts";
import { decodeNumberColumn } from "../../lib/frames/number-column.ts";
import { padded, type Views } from "../../lib/frames/views.ts";
import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { EntryHead } from "./entry-head.ts";
import type { TextColumnReader } from "./text-column.ts";

export const NUMBER_COLUMNS = columnNumbersOf(NUMBER_FIELDS);
export const PROFILE_COLUMNS = columnNumbersOf(PROFILE_FIELDS);
export const STATE_COLUMNS = columnNumbersOf(STATE_FIELDS);

/** Columns of profiles, then of states. */
export const TUPLE_COLUMNS = Uint8Array.of(...PROFILE_COLUMNS, ...STATE_COLUMNS);

function columnNumbersOf(fields: readonly StoredField[]): Uint8Array {
  return Uint8Array.from(fields, ({ columnNumber }) => columnNumber);
}

/**
 * The position after the names of an entry's columns, which follow the head: one column number each, ascending per
 * kind.
 */
export function namesEnd({ end, numberColumns, profileFields, stateFields }: EntryHead): number {
  return end + numberColumns + profileFields + stateFields;
}

/**
 * Reads the texts and columns of an entry, 8-aligned from the end of their names to `end`: texts, device (indexes),
 * timestamp (numbers), each named number column, profiles (indexes), profile of each report (indexes), and the same for
 * states. Columns that the entry does not name count as not carried; those of retired fields are skipped. Null if the
 * bytes are not valid.
 */
export function readColumns(
  source: Views,
  end: number,
  head: EntryHead,
  textReader: TextColumnReader,
): ReportBatch | null {
  const { count, textCount, textBytes, profileCount, stateCount } = head;
  const { numberColumns, profileFields, stateFields } = head;
  const texts = new Array<string>(textCount).fill("");
  const reader = new ColumnReader(source, end, count);
  reader.at = textReader.read(source, padded(namesEnd(head)), end, textBytes, texts);
  const device = reader.indexes(count, textCount);
  const timestampMs = reader.numbers();
  const numbers = readNumbers(reader, source.bytes, head);
  const profiles = reader.indexes(profileCount * profileFields, textCount);
  const profile = reader.indexes(count, profileCount);
  const states = reader.indexes(stateCount * stateFields, textCount);
  const state = reader.indexes(count, stateCount);
  if (reader.at !== end) return null;
  const batch = { count, texts, device, timestampMs, numbers, profiles, profile, states, state };
  if (hasOwnTuples(source.bytes, head)) return batch;
  const profilesAt = head.end + numberColumns;
  const statesAt = profilesAt + profileFields;
  return {
    ...batch,
    profiles: ownTuples(profiles, profileCount, source.bytes.subarray(profilesAt, statesAt), PROFILE_COLUMNS),
    states: ownTuples(
      states,
      stateCount,
      source.bytes.subarray(statesAt, statesAt + stateFields),
      STATE_COLUMNS,
    ),
  };
}

/** Whether profiles and states have exactly the fields of this version, as in nearly all entries. */
export function hasOwnTuples(
  bytes: Uint8Array,
  { end, numberColumns, profileFields, stateFields }: EntryHead,
): boolean {
  if (profileFields !== PROFILE_COLUMNS.length || stateFields !== STATE_COLUMNS.length) return false;
  const from = end + numberColumns;
  for (let i = 0; i < TUPLE_COLUMNS.length; i++) if (bytes[from + i] !== TUPLE_COLUMNS[i]) return false;
  return true;
}

/** The number columns of this version, out of the named ones. */
function readNumbers(
  reader: ColumnReader,
  bytes: Uint8Array,
  { end: at, numberColumns: named, count }: EntryHead,
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

/** Tuples with the fields of this version, out of tuples with the named ones. */
function ownTuples(tuples: Uint32Array, tupleCount: number, named: Uint8Array, own: Uint8Array): Uint32Array {
  const members = Array.from(own, (column) => named.indexOf(column));
  const result = new Uint32Array(tupleCount * own.length);
  for (let tuple = 0; tuple < tupleCount; tuple++) {
    members.forEach((member, i) => {
      if (member >= 0) result[tuple * own.length + i] = tuples[tuple * named.length + member]!;
    });
  }
  return result;
}

/**
 * Reads columns one after the other. After an invalid one, `at` stays -1 and all others are empty. Each column has a
 * buffer of its own: for entries of one report, sharing one buffer would take Bun twice as long (and save Deno two
 * thirds, which allocates buffers slowly).
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
