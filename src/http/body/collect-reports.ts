import { type AcceptedTimes, addReport, type RejectedReport } from "../../model/report.ts";
import {
  createReportBatchBuilder,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";

/** The good reports of a body, and what is wrong with the others. */
export interface ReadReports {
  /** At least one, which is empty where no report is good. */
  readonly batches: readonly ReportBatch[];
  readonly rejected: readonly RejectedReport[];
}

/**
 * Each batch is an entry of the log and taken into memory in one piece: some 15 ms where every text of a thousand
 * reports is new and long.
 */
export const ENTRY_REPORTS_MAX = 1000;

/** Checks a body's reports one by one, in their order. */
export class CollectedReports implements ReadReports {
  readonly batches: ReportBatch[] = [];
  readonly rejected: RejectedReport[] = [];
  readonly #times: AcceptedTimes;
  #builder: ReportBatchBuilder | null = null;
  #count = 0;

  constructor(times: AcceptedTimes) {
    this.#times = times;
  }

  /** Reports so far, good or not. */
  get count(): number {
    return this.#count;
  }

  /** Takes in what may be a report; `following` more are known to come. */
  add(report: unknown, following: number): void {
    this.#builder ??= createReportBatchBuilder(Math.min(ENTRY_REPORTS_MAX, 1 + following));
    const builder = this.#builder;
    const fault = addReport(report, this.#times, builder);
    if (fault !== null) {
      const deviceId = (report as { device_id?: unknown } | null)?.device_id;
      this.reject(fault, isShowable(deviceId) ? deviceId : null);
      return;
    }
    this.#count++;
    if (builder.count === ENTRY_REPORTS_MAX) this.#endBatch(builder);
  }

  reject(message: string, deviceId: string | null = null): void {
    const index = this.#count++;
    this.rejected.push({ index, message, ...(deviceId === null ? {} : { deviceId }) });
  }

  /** No more reports follow. */
  end(): this {
    const isEmpty = this.batches.length === 0;
    if (this.#builder !== null || isEmpty) this.#endBatch(this.#builder ?? createReportBatchBuilder(0));
    return this;
  }

  #endBatch(builder: ReportBatchBuilder): void {
    this.batches.push(builder.build());
    this.#builder = null;
  }
}

const DEVICE_ID_SHOWN_MAX = 256;

function isShowable(deviceId: unknown): deviceId is string {
  return typeof deviceId === "string" && deviceId.length <= DEVICE_ID_SHOWN_MAX;
}
