import type { Buffer } from "node:buffer";
import { grown } from "../lib/tables/columns.ts";
import { TextSet } from "../lib/tables/text-set.ts";
import { createTupleSet } from "../lib/tables/tuple-set.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";

/**
 * Reports of one app in columns: request parsers create batches, the log writes them and memory reads them, with no
 * object per report. Row `i` is report `i` in order of arrival.
 *
 * Texts are stored once per batch and named by their index in `texts`. Index 0 means "not carried" (`texts[0]` is a
 * placeholder; an empty text that was sent has its own index). Booleans are the texts `true` and `false`. In a number
 * column NaN means "not carried".
 */
export interface ReportBatch {
  readonly count: number;
  readonly texts: readonly string[];
  /** By row, the text of its device id. */
  readonly device: Uint32Array;
  readonly timestampMs: Float64Array;
  readonly numbers: readonly Float64Array[];
  /** Distinct profiles, `PROFILE_FIELDS.length` text indexes each, and by row which of them. */
  readonly profiles: Uint32Array;
  readonly profile: Uint32Array;
  /** Distinct states, `STATE_FIELDS.length` text indexes each, and by row which of them. */
  readonly states: Uint32Array;
  readonly state: Uint32Array;
}

/** Rows that move from memory to the archive, each instant of a device once. */
export interface RowBatch extends ReportBatch {
  /**
   * The fixes of rows that have several to be laid over the archive's record, in order. The fixes of one row are
   * adjacent and carry only fix fields; the row itself has their combination, for use if the archive has no record.
   * Null if no row has several.
   */
  readonly fixes: ReportBatch | null;
}

export const NOT_CARRIED = 0;

/** The rows from `from` on; columns share their memory. */
export function sliceReports(batch: ReportBatch, from: number): ReportBatch {
  if (from === 0) return batch;
  return {
    ...batch,
    count: batch.count - from,
    device: batch.device.subarray(from),
    timestampMs: batch.timestampMs.subarray(from),
    numbers: batch.numbers.map((column) => column.subarray(from)),
    profile: batch.profile.subarray(from),
    state: batch.state.subarray(from),
  };
}

/** The largest batch: one request, or one step of an import. */
export const BATCH_REPORTS_MAX = 10_000;

/** Texts that the reports of a batch usually share. Each report adds its own id and usually a user. */
const TEXTS_USUAL = 24;

/** Collects the reports of one batch. Call `add` for each row after filling the scratch fields. */
export interface ReportBatchBuilder {
  /** The row being filled; every member is overwritten by `begin`. */
  readonly numbers: Float64Array;
  readonly profile: Uint32Array;
  readonly state: Uint32Array;
  /** The batch's index of a text that it has already, or `NOT_CARRIED`. */
  /** The index of a text in the batch, or `NOT_CARRIED` if it is new. */
  find(value: string): number;
  /** The index of a text in the batch; adds it if it is new. */
  text(value: string): number;
  /** Like `text`, for a text in bytes, all below 0x80. */
  asciiText(bytes: Buffer, start: number, end: number): number;
  textAt(index: number): string;
  begin(): void;
  /** Appends the scratch row under this device and time. */
  add(deviceText: number, timestampMs: number): void;
  readonly count: number;
  build(): ReportBatch;
}

export function createReportBatchBuilder(rowsExpected: number): ReportBatchBuilder {
  let capacity = Math.max(1, Math.min(rowsExpected, BATCH_REPORTS_MAX));
  let count = 0;
  const texts = new TextSet(TEXTS_USUAL + 2 * capacity);
  let device = new Uint32Array(capacity);
  let timestampMs = new Float64Array(capacity);
  const columns = NUMBER_FIELDS.map(() => new Float64Array(capacity));
  let profileOfRow = new Uint32Array(capacity);
  let stateOfRow = new Uint32Array(capacity);
  const profiles = createTupleSet(PROFILE_FIELDS.length);
  const states = createTupleSet(STATE_FIELDS.length);
  const numbers = new Float64Array(NUMBER_FIELDS.length);
  const profile = new Uint32Array(PROFILE_FIELDS.length);
  const state = new Uint32Array(STATE_FIELDS.length);

  function grow(): void {
    capacity *= 2;
    device = grown(device);
    timestampMs = grown(timestampMs);
    profileOfRow = grown(profileOfRow);
    stateOfRow = grown(stateOfRow);
    for (let c = 0; c < columns.length; c++) columns[c] = grown(columns[c]!);
  }

  return {
    numbers,
    profile,
    state,
    get count() {
      return count;
    },
    find: (value) => texts.find(value),
    text: (value) => texts.add(value),
    asciiText: (bytes, start, end) => texts.addAscii(bytes, start, end),
    textAt: (index) => texts.texts[index]!,
    begin() {
      // Loops, because `fill` takes longer for so short arrays.
      for (let c = 0; c < numbers.length; c++) numbers[c] = Number.NaN;
      for (let m = 0; m < profile.length; m++) profile[m] = NOT_CARRIED;
      for (let m = 0; m < state.length; m++) state[m] = NOT_CARRIED;
    },
    add(deviceText, atMs) {
      if (count === capacity) grow();
      device[count] = deviceText;
      timestampMs[count] = atMs;
      for (let c = 0; c < columns.length; c++) columns[c]![count] = numbers[c]!;
      profileOfRow[count] = profiles.add(profile);
      stateOfRow[count] = states.add(state);
      count++;
    },
    build: () => ({
      count,
      texts: texts.texts,
      device: filled(device, count),
      timestampMs: filled(timestampMs, count),
      numbers: columns.map((column) => filled(column, count)),
      profiles: profiles.tuples(),
      profile: filled(profileOfRow, count),
      states: states.tuples(),
      state: filled(stateOfRow, count),
    }),
  };
}

/** The first `count` rows. Copied, because Bun takes longer to create a view of a short column. */
function filled<Column extends Uint32Array | Float64Array>(column: Column, count: number): Column {
  return column.length === count ? column : (column.slice(0, count) as Column);
}
