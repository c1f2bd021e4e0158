import type { TextPosition } from "../../lib/text/text-position.ts";
import type { UserId } from "../../model/ids.ts";
import type { AcceptedTimes } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { createCsvReports } from "./csv.ts";
import { type ImportFormat, type ImportInput, InputError, readText } from "./input.ts";
import { createNdjsonReports } from "./ndjson.ts";
import { createOpenBatch, type OpenBatch, type RejectedRow, type ReportReader } from "./reader.ts";

/** The next reports of a file. */
export interface ImportBatch {
  readonly batch: ReportBatch;
  /** By row of the batch, the line it came from. */
  readonly lines: Uint32Array;
  /** Rows among these that were not taken. */
  readonly rejected: readonly RejectedRow[];
  /** Where the file goes on after this batch. */
  readonly end: TextPosition;
}

export interface ReadBatchesOptions {
  readonly input: ImportInput;
  readonly format: ImportFormat;
  readonly userId: UserId | null;
  readonly shiftMs: number;
  /** Where to go on; null reads from the start. */
  readonly from: TextPosition | null;
  /** Which times are accepted; asked for every batch, since imports take long. */
  acceptedTimes(): AcceptedTimes;
  /** How many bytes of the file, compressed as it is, are read. */
  onRead(bytesRead: number): void;
  onIgnoredColumns(names: readonly string[]): void;
}

/** A file's reports in batches. Throws an `InputError` where the rest of the file can't be read. */
export async function* readBatches(options: ReadBatchesOptions): AsyncGenerator<ImportBatch> {
  const { input, format, acceptedTimes, onRead, onIgnoredColumns } = options;
  const reader =
    format === "csv" ? createCsvReports(options, onIgnoredColumns) : createNdjsonReports(options);
  let open = createOpenBatch();
  let failure: InputError | null = null;

  try {
    for await (const piece of readText(input, onRead)) {
      reader.push(piece);
      while (reader.fill(open, acceptedTimes())) {
        yield batchOf(open, reader);
        open = createOpenBatch();
      }
      if (reader.fault !== null) throw new InputError(reader.fault);
    }
    reader.end();
    while (reader.fill(open, acceptedTimes())) {
      yield batchOf(open, reader);
      open = createOpenBatch();
    }
    if (reader.fault !== null) throw new InputError(reader.fault);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    failure = error; // What was read before it is good.
  }
  if (open.builder.count + open.rejected.length > 0) yield batchOf(open, reader);
  if (failure !== null) throw failure;
}

function batchOf({ builder, lines, rejected }: OpenBatch, { position }: ReportReader): ImportBatch {
  return { batch: builder.build(), lines, rejected, end: position };
}
