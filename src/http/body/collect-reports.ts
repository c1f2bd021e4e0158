import { type AcceptedTimes, addReport, type RejectedReport } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { ReportBatches } from "../../model/report-batches.ts";

/** The good reports of a body, and what is wrong with the others. */
export interface ReadReports {
  /** At least one, which is empty where no report is good. */
  readonly batches: readonly ReportBatch[];
  readonly rejected: readonly RejectedReport[];
}

/** Checks a body's reports one by one, in their order. */
export class CollectedReports implements ReadReports {
  readonly rejected: RejectedReport[] = [];
  readonly #times: AcceptedTimes;
  readonly #taken = new ReportBatches();
  #count = 0;

  constructor(times: AcceptedTimes) {
    this.#times = times;
  }

  /** Reports so far, good or not. */
  get count(): number {
    return this.#count;
  }

  get batches(): readonly ReportBatch[] {
    return this.#taken.batches;
  }

  /** Takes in what may be a report; `following` more are known to come. */
  add(report: unknown, following: number): void {
    const fault = addReport(report, this.#times, this.#taken.builder(following));
    if (fault !== null) {
      const deviceId = (report as { device_id?: unknown } | null)?.device_id;
      this.reject(fault, isShowable(deviceId) ? deviceId : null);
      return;
    }
    this.#count++;
  }

  reject(message: string, deviceId: string | null = null): void {
    const index = this.#count++;
    this.rejected.push({ index, message, ...(deviceId === null ? {} : { deviceId }) });
  }

  /** No more reports follow. */
  end(): this {
    this.#taken.end();
    return this;
  }
}

const DEVICE_ID_SHOWN_MAX = 256;

function isShowable(deviceId: unknown): deviceId is string {
  return typeof deviceId === "string" && deviceId.length <= DEVICE_ID_SHOWN_MAX;
}
