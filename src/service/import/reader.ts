import type { TextPosition } from "../../lib/text/text-position.ts";
import type { UserId } from "../../model/ids.ts";
import type { AcceptedTimes } from "../../model/report.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";

/** Reads reports from a file's text, whatever its format, into batches. */
export interface ReportReader {
  push(piece: Uint8Array): void;
  /** The text has ended. */
  end(): void;
  /** Adds rows to the batch until it is full, which is true, or more text is needed. */
  fill(open: OpenBatch, times: AcceptedTimes): boolean;
  /** Where the next row begins. */
  readonly position: TextPosition;
  /** Why the rest of the text can't be read; null where it can. */
  readonly fault: string | null;
}

export interface ReportReaderOptions {
  /** The user of reports that name none; null leaves them without. */
  readonly userId: UserId | null;
  /** Added to every timestamp. */
  readonly shiftMs: number;
  /** Where to go on; null reads from the start. */
  readonly from: TextPosition | null;
}

export interface RejectedRow {
  readonly line: number;
  readonly message: string;
}

/** A batch that rows are added to. */
export interface OpenBatch {
  readonly builder: ReportBatchBuilder;
  /** By row of the batch, the line it came from. */
  readonly lines: Uint32Array;
  readonly rejected: RejectedRow[];
}

export function createOpenBatch(): OpenBatch {
  return {
    builder: createReportBatchBuilder(BATCH_REPORTS_MAX),
    lines: new Uint32Array(BATCH_REPORTS_MAX),
    rejected: [],
  };
}

/** Rejected rows count too, so that a file of nothing else is read in bounded memory. */
export function isFull({ builder, rejected }: OpenBatch): boolean {
  return builder.count + rejected.length >= BATCH_REPORTS_MAX;
}

/** No report is longer than this; what is, has lost a quote or a line end. */
export const ROW_BYTES_MAX = 1024 * 1024;

export function tooLong(line: number): string {
  return `line ${line} goes on for more than ${ROW_BYTES_MAX / 1024 / 1024} MiB`;
}

/** A view of `builder` whose rows are moved in time. Their checks see the times of the file. */
export function shiftedBuilder(builder: ReportBatchBuilder, shiftMs: number): ReportBatchBuilder {
  if (shiftMs === 0) return builder;
  return {
    numbers: builder.numbers,
    profile: builder.profile,
    state: builder.state,
    get count() {
      return builder.count;
    },
    find: (value) => builder.find(value),
    text: (value) => builder.text(value),
    asciiText: (bytes, start, end) => builder.asciiText(bytes, start, end),
    textAt: (index) => builder.textAt(index),
    begin: () => builder.begin(),
    add: (device, timestampMs) => builder.add(device, timestampMs + shiftMs),
    build: () => builder.build(),
  };
}

/** The accepted times as the file tells them, before the shift. */
export function unshiftedTimes(times: AcceptedTimes, shiftMs: number): AcceptedTimes {
  return { oldestMs: times.oldestMs - shiftMs, newestMs: times.newestMs - shiftMs };
}
