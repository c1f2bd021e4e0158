import { FormatError } from "../../../../src/formats/read/format.ts";
import type { PushReader } from "../../../../src/formats/read/push-reader.ts";
import { BatchQueue } from "../../../../src/import/reading/batch-queue.ts";
import { IMPORT_START } from "../../../../src/import/reading/import-batch.ts";
import { createCsvReports } from "../../../../src/import/reports/csv.ts";
import { createNdjsonReports } from "../../../../src/import/reports/ndjson.ts";
import type { UserId } from "../../../../src/model/ids.ts";
import type { AcceptedTimes } from "../../../../src/model/report.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";

/** What one of our own readers makes of a file. */
export interface ReadReports {
  /** Null where no row was good. At most one: the files of tests are small. */
  readonly batch: ReportBatch | null;
  /** By row, the line it came from. */
  readonly lines: readonly number[];
  readonly rejected: readonly { readonly line: number; readonly message: string }[];
  readonly ignored: readonly string[];
  readonly fault: string | null;
}

export interface ReportsSetting {
  readonly times: AcceptedTimes;
  readonly userId?: string | null;
  readonly shiftMs?: number;
}

/** A reader and the queue that it fills. */
export function openReports(format: "csv" | "ndjson", { times, userId = null, shiftMs = 0 }: ReportsSetting) {
  const queue = new BatchQueue();
  queue.begin(0, { source: 0, label: "file", placeUnit: "line" }, IMPORT_START);
  const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const rules = { deviceId: null, userId: userId as UserId | null, range };
  const options = { queue, rules, moment: () => ({ times, shiftMs }) };
  const ignored: string[] = [];
  const reader: PushReader =
    format === "csv"
      ? createCsvReports(options, (names) => ignored.push(...names))
      : createNdjsonReports(options);
  return { queue, reader, ignored };
}

export function readReports(
  format: "csv" | "ndjson",
  pieces: Iterable<Uint8Array>,
  setting: ReportsSetting,
): ReadReports {
  const { queue, reader, ignored } = openReports(format, setting);
  const fault = faultOf(() => {
    for (const piece of pieces) reader.push(piece);
    reader.end();
  });
  queue.flush();
  const read = queue.take();
  const { batch = null, places = new Float64Array(), skips = [] } = read ?? {};
  return {
    batch: batch?.count === 0 ? null : batch,
    lines: [...places.subarray(0, batch?.count ?? 0)],
    rejected: skips.map(({ place, message }) => ({ line: place, message: message ?? "" })),
    ignored,
    fault,
  };
}

/** Why a reading ends early; null if it doesn't. */
export function faultOf(read: () => void): string | null {
  try {
    read();
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
  return null;
}
