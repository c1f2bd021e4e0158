import type { DeviceId } from "../../model/ids.ts";
import { type AcceptedTimes, BEFORE_RETENTION, IN_FUTURE } from "../../model/report.ts";
import type { ReportBatchBuilder } from "../../model/report-batch.ts";
import type { BatchQueue } from "../reading/batch-queue.ts";
import { type ImportRules, isWanted, type Moment } from "../reading/import-rules.ts";

/*
 * Reads files in our own formats, row by row, into batches.
 */

export interface ReportReaderOptions {
  readonly queue: BatchQueue;
  readonly rules: ImportRules;
  moment(): Moment;
}

/** Adds a report to a batch; returns what is wrong with it, or null. */
type AddRow = (builder: ReportBatchBuilder, times: AcceptedTimes) => string | null;

/** Adds rows of a file to the queue's batches, with the shift and the device that the operator set. */
export class ReportRows {
  readonly #options: ReportReaderOptions;
  #builder: ReportBatchBuilder | null = null;
  #view: ReportBatchBuilder | null = null;
  #fileTimes: AcceptedTimes = { oldestMs: 0, newestMs: 0 };

  constructor(options: ReportReaderOptions) {
    this.#options = options;
  }

  /** The batch of the next row if it is another than before; else null. */
  nextBatch(): ReportBatchBuilder | null {
    const { queue, rules, moment } = this.#options;
    const { builder } = queue.open;
    if (builder === this.#builder) return null;
    const { times, shiftMs } = moment();
    this.#builder = builder;
    this.#view = ruledBuilder(builder, rules, shiftMs);
    // If the wanted range begins later than the retention, older times are out of range.
    const oldestMs =
      rules.range.startMs >= times.oldestMs ? Number.MIN_SAFE_INTEGER : times.oldestMs - shiftMs;
    this.#fileTimes = { oldestMs, newestMs: times.newestMs - shiftMs };
    return this.#view;
  }

  add(line: number, addRow: AddRow): void {
    const { queue } = this.#options;
    const { builder, places } = queue.open;
    const row = builder.count;
    const message = addRow(this.#view!, this.#fileTimes);
    if (message !== null) queue.skip(reasonOf(message), line, message);
    else if (builder.count === row) queue.skip("out_of_range", line, null);
    else places[row] = line;
  }
}

function reasonOf(message: string) {
  if (message.endsWith(BEFORE_RETENTION)) return "too_old";
  return message === IN_FUTURE ? "future" : "rejected";
}

/** A view of `builder` that shifts and renames rows as the rules say, and drops those out of range. */
function ruledBuilder(builder: ReportBatchBuilder, rules: ImportRules, shiftMs: number): ReportBatchBuilder {
  const { deviceId, range } = rules;
  const takesAll = range.startMs === Number.NEGATIVE_INFINITY && range.endMs === Number.POSITIVE_INFINITY;
  if (shiftMs === 0 && takesAll && deviceId === null) return builder;
  const deviceText = textOf(builder, deviceId);
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
    add(device, timestampMs) {
      if (!isWanted(rules, timestampMs + shiftMs)) return;
      builder.add(deviceText ?? device, timestampMs + shiftMs);
    },
    build: () => builder.build(),
  };
}

function textOf(builder: ReportBatchBuilder, deviceId: DeviceId | null): number | null {
  return deviceId === null ? null : builder.text(deviceId);
}
